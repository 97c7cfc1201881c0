import { z } from "zod";
import { ok } from "../../platform/http/response/answers.ts";
import { envelopeOf } from "../../platform/http/request/bodies.ts";
import { entityIdentifier, scopeIdentifier } from "../../platform/document/fields.ts";
import { ngPage, ngPageQuery, ngPageShape, ngWindow } from "../../platform/http/response/pages.ts";
import { maybeProjectQuery } from "../../platform/http/request/queries.ts";
import { route, type Route } from "../../platform/http/routes.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import type { Adopt } from "./adopt.ts";
import type { ListOwned, PrincipalRef } from "./list.ts";

const PATH = "/pipeline/api/ownership";
const MAX_ADOPTED = 100;
const MAX_SIZE = 100;

const TYPES = ["TRIGGER", "PIPELINE", "INPUT_SET"] as const;

const listQuery = maybeProjectQuery.extend({
  principalType: z.enum(["USER", "SERVICE_ACCOUNT"], { error: "must be USER or SERVICE_ACCOUNT" }),
  principalIdentifier: z.string({ error: "is required" }).min(1, "is required").max(128),
  ...ngPageQuery(50, MAX_SIZE).shape,
});

const ownedShape = z.strictObject({
  type: z.enum(TYPES).describe("INPUT_SET stands for overlays, too."),
  orgIdentifier: z.string(),
  projectIdentifier: z.string(),
  pipelineIdentifier: z.string(),
  identifier: z.string(),
  name: z.string(),
  version: z.int(),
});

const listShape = z.strictObject({
  resources: ngPageShape(ownedShape),
  hidden: z.int().describe("How many more there are that the caller may not see."),
});

const adoptBody = z.strictObject({
  resources: z
    .array(
      z.strictObject({
        type: z.enum(TYPES),
        orgIdentifier: scopeIdentifier,
        projectIdentifier: scopeIdentifier,
        pipelineIdentifier: entityIdentifier,
        identifier: entityIdentifier.nullish().describe("Of the trigger or the input set; a pipeline needs none."),
      }),
    )
    .min(1)
    .max(MAX_ADOPTED),
});

const refOf = (query: z.output<typeof listQuery>): PrincipalRef => {
  const { principalType: type, principalIdentifier: identifier } = query;
  if (type === "USER") return { type, identifier };
  const { orgIdentifier = null, projectIdentifier = null } = query;
  return { type, identifier, orgIdentifier, projectIdentifier };
};

export const ownershipRoutes = (operations: {
  readonly listOwned: ListOwned;
  readonly adopt: Adopt;
}): readonly Route[] => [
  route({
    method: "GET",
    path: PATH,
    operation: "ownership.list",
    doc: {
      summary: "List what triggers run for a person or a service account",
      description:
        "Triggers, newest versions of pipelines that have triggers, and their input sets. They stop when the account is deactivated, deleted, or loses a permission that they need.",
      queryExample: { principalType: "USER", principalIdentifier: "AZd1zdrgfVS0rQjXgRaGpw" },
      answer: enveloped(listShape),
    },
    access: { permission: "core_user_view" },
    query: listQuery,
    handle: async (call) => {
      const found = await operations.listOwned(call.actor, refOf(call.query), ngWindow(call.query));
      return ok(call, { resources: await ngPage(found, (row) => row), hidden: await found.hidden() });
    },
  }),
  route({
    method: "POST",
    path: `${PATH}/adopt`,
    operation: "ownership.adopt",
    doc: {
      summary: "Take over triggers, pipelines and input sets",
      description:
        "The caller becomes the owner of the triggers and the author of the others: of all that are named, or of none. Each needs what saving it unchanged needs.",
      body: {
        schema: adoptBody,
        example: {
          resources: [
            {
              type: "TRIGGER",
              orgIdentifier: "default",
              projectIdentifier: "shop",
              pipelineIdentifier: "deploy",
              identifier: "hook",
            },
          ],
        },
      },
      answer: enveloped(z.literal(true)),
    },
    access: { permission: "core_pipeline_edit" },
    query: z.object({}),
    handle: async (call) => {
      const { resources } = envelopeOf(call, adoptBody);
      await operations.adopt(
        call.actor,
        resources.map(({ identifier, ...one }) => ({ ...one, identifier: identifier ?? "" })),
      );
      return ok(call, true);
    },
  }),
];
