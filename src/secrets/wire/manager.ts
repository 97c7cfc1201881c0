/** Our secret manager ↔ the shape of REST, which is our own. */
import { z } from "zod";
import { isReserved, SCOPE_IDENTIFIER } from "../../core/identifier.ts";
import { description, displayName, tags } from "../../platform/document/fields.ts";
import { epochMs, stringMap } from "../../platform/http/response/shapes.ts";
import { toWire } from "../../core/ids.ts";
import type { NewManager, SecretManager } from "../managers/manager.ts";
import { KIND_NAMES, KINDS } from "../managers/kinds/kinds.ts";
import { scopeOf, scopeToWire, usageScopeBody, usageScopeShape } from "./usage-scope.ts";

const common = {
  identifier: z
    .string()
    .regex(SCOPE_IDENTIFIER, "must begin with a letter or _ and hold letters, digits, _ and $ only, 128 at most")
    .refine((text) => !isReserved(text), { error: "is a reserved word" }),
  name: displayName,
  description,
  tags,
  usageScope: usageScopeBody
    .nullish()
    .describe("All of the account when it is left out; with null no run may use its secrets."),
};

export const managerBody = z.discriminatedUnion("type", [
  z.strictObject({ ...common, type: z.literal(KINDS.platform.type), spec: KINDS.platform.spec.optional() }),
  z.strictObject({ ...common, type: z.literal(KINDS.command.type), spec: KINDS.command.spec }),
]);

const kindOf = (type: string): SecretManager["kind"] =>
  KIND_NAMES.find((name) => KINDS[name].type === type) ?? "platform";

export const managerOf = ({ type, spec, usageScope, ...body }: z.output<typeof managerBody>): NewManager => ({
  ...body,
  kind: kindOf(type),
  spec: spec ?? {},
  usageScope: usageScope === undefined ? undefined : scopeIn(usageScope),
});

/** A scope without entries is null. */
const scopeIn = (scope: z.output<typeof usageScopeBody> | null): SecretManager["usageScope"] =>
  scope === null || scope.appEnvScopes.length === 0 ? null : scopeOf(scope);

export const managerResponse = (manager: SecretManager) => ({
  secretManager: {
    id: toWire(manager.id),
    identifier: manager.identifier,
    name: manager.name,
    description: manager.description,
    tags: manager.tags,
    type: KINDS[manager.kind].type,
    spec: manager.spec as Record<string, unknown>,
    usageScope: scopeToWire(manager.usageScope),
  },
  createdAt: manager.createdAt,
  lastModifiedAt: manager.updatedAt,
});

export const managerShape = z.strictObject({
  secretManager: z.strictObject({
    id: z.string(),
    identifier: z.string(),
    name: z.string(),
    description: z.string(),
    tags: stringMap,
    type: z.enum(KIND_NAMES.map((name) => KINDS[name].type)),
    spec: z.record(z.string(), z.unknown()),
    usageScope: usageScopeShape.nullable(),
  }),
  createdAt: epochMs,
  lastModifiedAt: epochMs,
});
