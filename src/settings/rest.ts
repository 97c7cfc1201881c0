/** Routes of settings. */
import { z } from "zod";
import { ok } from "../platform/http/response/answers.ts";
import { envelopeOf } from "../platform/http/request/bodies.ts";
import { maybeProjectQuery } from "../platform/http/request/queries.ts";
import { route, type Route } from "../platform/http/routes.ts";
import { enveloped, epochMs } from "../platform/http/response/shapes.ts";
import type { GetSetting, ListSettings } from "./get.ts";
import type { EffectiveSetting, SettingScope } from "./setting.ts";
import type { SettingOutcome, UpdateSettings } from "./update.ts";

type Operations = { readonly list: ListSettings; readonly get: GetSetting; readonly update: UpdateSettings };

/** Categories with settings, and categories that clients may request and that have none. */
const CATEGORIES = ["CORE", "PMS"] as const;
const ALL_CATEGORIES = [...CATEGORIES, "CD", "CI", "CV", "CF", "CE", "NOTIFICATION", "TEMPLATESERVICE"] as const;

const changesWith = <Value extends z.ZodType>(value: Value) =>
  z
    .array(
      z.strictObject({
        identifier: z.string().min(1).max(128),
        value: value.optional(),
        allowOverrides: z.boolean().nullish(),
        updateType: z.enum(["UPDATE", "RESTORE"]),
      }),
    )
    .max(100);
/** The operation checks the type of each value, so that a wrong one affects only its entry. */
const changes = changesWith(z.unknown());
const documentedChanges = changesWith(z.union([z.string(), z.number(), z.boolean(), z.null()]));

const settingShape = z.strictObject({
  identifier: z.string(),
  name: z.string(),
  orgIdentifier: z.string().nullable(),
  projectIdentifier: z.string().nullable(),
  category: z.enum(CATEGORIES),
  groupIdentifier: z.string(),
  valueType: z.enum(["String", "Number", "Boolean"]),
  allowedValues: z.array(z.string()).nullable(),
  allowOverrides: z.boolean(),
  value: z.string(),
  defaultValue: z.string(),
  settingSource: z.enum(["DEFAULT", "ACCOUNT", "ORG", "PROJECT"]),
  isSettingEditable: z.boolean(),
  allowedScopes: z.array(z.enum(["account", "organization", "project"])),
});

const wire = (scope: SettingScope, { definition, ...now }: EffectiveSetting): z.output<typeof settingShape> => ({
  identifier: definition.identifier,
  name: definition.name,
  orgIdentifier: scope.orgIdentifier,
  projectIdentifier: scope.projectIdentifier,
  category: definition.category,
  groupIdentifier: definition.group,
  valueType: definition.type,
  allowedValues: definition.allowedValues ? [...definition.allowedValues] : null,
  allowOverrides: now.allowOverrides,
  value: now.value,
  defaultValue: definition.defaultValue,
  settingSource: now.source,
  isSettingEditable: now.editable,
  allowedScopes: [...definition.levels],
});

const outcome = (scope: SettingScope, one: SettingOutcome) =>
  "error" in one
    ? {
        identifier: one.identifier,
        setting: null,
        lastModifiedAt: null,
        updateStatus: false,
        errorMessage: `${one.identifier} ${one.error}.`,
      }
    : {
        identifier: one.identifier,
        setting: wire(scope, one.setting),
        lastModifiedAt: one.setting.updatedAt,
        updateStatus: true,
        errorMessage: null,
      };

const outcomeShape = z.strictObject({
  identifier: z.string(),
  setting: settingShape.nullable(),
  lastModifiedAt: epochMs.nullable(),
  updateStatus: z.boolean(),
  errorMessage: z.string().nullable(),
});

const scopeOf = (query: z.output<typeof maybeProjectQuery>): SettingScope => ({
  orgIdentifier: query.orgIdentifier ?? null,
  projectIdentifier: query.projectIdentifier ?? null,
});

const categoryFault = ({ input }: { readonly input?: unknown }): string =>
  `${input === undefined ? "is required: one of" : "takes one of"} ${ALL_CATEGORIES.join(", ")}`;

const listQuery = maybeProjectQuery.extend({
  category: z.enum(ALL_CATEGORIES, { error: categoryFault }),
  group: z.string().optional(),
  includeParentScopes: z.enum(["true", "false"], { error: "is true or false" }).default("false"),
});

export const settingRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "PUT",
    path: "/ng/api/settings",
    operation: "setting.update",
    access: { permission: "core_setting_edit" },
    query: maybeProjectQuery,
    doc: {
      summary: "Update settings",
      description: "Each entry has a result of its own: one that is refused changes nothing and holds up no other.",
      body: {
        schema: documentedChanges,
        example: [
          {
            identifier: "scim_jwt_token_key_field",
            value: "preferred_username",
            allowOverrides: false,
            updateType: "UPDATE",
          },
        ],
      },
      answer: enveloped(z.array(outcomeShape)),
    },
    handle: async (call) => {
      const asked = envelopeOf(call, changes).map((one) => ({
        ...one,
        value: one.value,
        allowOverrides: one.allowOverrides ?? false,
      }));
      const scope = scopeOf(call.query);
      const outcomes = await operations.update(call.actor, scope, asked);
      return ok(
        call,
        outcomes.map((one) => outcome(scope, one)),
      );
    },
  }),
  route({
    method: "GET",
    path: "/ng/api/settings",
    operation: "setting.list",
    access: { permission: "core_setting_view" },
    query: listQuery,
    doc: {
      summary: "List the settings of a category as they count at a scope",
      queryExample: { category: "CORE" },
      answer: enveloped(z.array(z.strictObject({ setting: settingShape, lastModifiedAt: epochMs.nullable() }))),
    },
    handle: async (call) => {
      const { category, group, includeParentScopes, ...query } = call.query;
      const scope = scopeOf(query);
      const filter = { category, group, includeParentScopes: includeParentScopes === "true" };
      const found = await operations.list(call.actor, scope, filter);
      return ok(
        call,
        found.map((one) => ({ setting: wire(scope, one), lastModifiedAt: one.updatedAt })),
      );
    },
  }),
  route({
    method: "GET",
    path: "/ng/api/settings/:identifier",
    operation: "setting.get",
    access: { permission: "core_setting_view" },
    query: maybeProjectQuery,
    doc: {
      summary: "Read what a setting is at a scope",
      params: { identifier: "scim_jwt_token_key_field" },
      answer: enveloped(z.strictObject({ valueType: z.enum(["String", "Number", "Boolean"]), value: z.string() })),
    },
    handle: async (call) => {
      const found = await operations.get(call.actor, scopeOf(call.query), call.params["identifier"] ?? "");
      return ok(call, { valueType: found.definition.type, value: found.value });
    },
  }),
];
