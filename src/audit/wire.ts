/** Maps entries of the audit trail to `AuditEventDTO` and filters back. */
import { z } from "zod";
import { writeYaml } from "../platform/document/write.ts";
import { BEYOND_DATES, LAST_MOMENT } from "../platform/document/moments.ts";
import { fromWire, toWire } from "../core/ids.ts";
import { epochMs, wireId } from "../platform/http/response/shapes.ts";
import type { Difference, FieldChange } from "./difference/difference.ts";
import { actionOf, type AuditEntry, type AuditFilter } from "./entry.ts";

const name = z.string().min(1).max(256);
const some = <T extends z.ZodType>(item: T) => z.array(item).max(100).nullish();
/** Fields of the public filter that are not supported. */
const unsupported = z.never().optional();

const PRINCIPALS = {
  USER: "user",
  SERVICE_ACCOUNT: "service_account",
  TRIGGER: "trigger",
  DELEGATE: "delegate",
  SYSTEM: "system",
  ANONYMOUS: "anonymous",
} as const;
type Principal = keyof typeof PRINCIPALS;
const principalTypes = Object.keys(PRINCIPALS) as [Principal, ...Principal[]];

export const auditBody = z.strictObject({
  filterType: z.literal("Audit").nullish(),
  scopes: some(
    z.strictObject({
      accountIdentifier: name.nullish(),
      orgIdentifier: name.nullish(),
      projectIdentifier: name.nullish(),
    }),
  ),
  resources: some(z.strictObject({ type: name, identifier: name.nullish() })),
  actions: some(name),
  principals: some(z.strictObject({ type: z.enum(principalTypes), identifier: name })),
  outcomes: some(z.enum(["SUCCESS", "REFUSED"])),
  searchTerm: z.string().max(256).nullish(),
  startTime: z.int().min(0).max(LAST_MOMENT, BEYOND_DATES).nullish(),
  endTime: z.int().min(0).max(LAST_MOMENT, BEYOND_DATES).nullish(),
  modules: unsupported,
  environments: unsupported,
  staticFilter: unsupported,
});

/** An empty list does not filter, as an omitted one. */
const given = <T, U>(list: readonly T[] | null | undefined, map: (item: T) => U): readonly U[] | undefined =>
  list && list.length > 0 ? list.map((item) => map(item)) : undefined;

export const filterOf = (body: z.output<typeof auditBody>): AuditFilter => ({
  searchTerm: body.searchTerm ?? undefined,
  from: body.startTime ?? undefined,
  to: body.endTime ?? undefined,
  scopes: given(body.scopes, (scope) => ({
    org: scope.orgIdentifier ?? null,
    project: scope.projectIdentifier ?? null,
  })),
  resources: given(body.resources, ({ type, identifier }) => ({ type, id: identifier ?? null })),
  actions: given(body.actions, (action) => action),
  outcomes: given(body.outcomes, (outcome) => (outcome === "REFUSED" ? "refused" : "success")),
  actors: given(body.principals, ({ type, identifier }) => ({
    kind: PRINCIPALS[type],
    id: fromWire(identifier) ?? null,
    name: identifier,
  })),
});

export const auditEvent = (entry: AuditEntry) => ({
  auditId: toWire(entry.id),
  insertId: toWire(entry.id),
  resourceScope: {
    accountIdentifier: toWire(entry.accountId),
    orgIdentifier: entry.orgIdentifier,
    projectIdentifier: entry.projectIdentifier,
  },
  httpRequestInfo: entry.request && { requestMethod: entry.request.method, requestPath: entry.request.path },
  requestMetadata: entry.request && {
    clientIP: entry.request.remoteAddress,
    correlationId: entry.request.correlationId,
  },
  timestamp: entry.at,
  authenticationInfo: {
    principal: {
      type: entry.actorKind.toUpperCase(),
      identifier: entry.actorId && toWire(entry.actorId),
    },
    labels: { username: entry.actorName, email: entry.actorEmail },
  },
  module: null,
  resource: { type: entry.resourceType, identifier: entry.resourceId, labels: null },
  action: actionOf(entry),
  auditEventData: eventData(entry),
  yamlDiffRecord: entry.difference && yamlSidesOf(entry.difference),
});

function eventData({ outcome, difference, code, status, permission, attempts }: AuditEntry) {
  if (outcome === "refused") return { type: "REFUSAL" as const, code, status, permission, attempts };
  if (!difference) return null;
  return { type: "CHANGES" as const, changes: difference.changes, cut: difference.cut ?? false };
}

/**
 * Both sides of the changed fields as YAML. Of a text with several lines the changed ones, each run after its line
 * number.
 */
export const yamlSidesOf = ({ changes }: Difference) => ({
  oldYaml: oneSide(changes, "before", "-"),
  newYaml: oneSide(changes, "after", "+"),
});

function oneSide(changes: readonly FieldChange[], side: "before" | "after", sign: "-" | "+"): string {
  const parts = changes.flatMap((change) => {
    const { field, lines } = change;
    if (!lines) return side in change ? [writeYaml({ [field]: change[side] })] : [];
    const own = lines.flatMap((line) => {
      if (line.startsWith("@@")) return [`# line ${new RegExp(`\\${sign}(\\d+)`).exec(line)?.[1] ?? ""}`];
      return line.startsWith(sign) ? [line.slice(1)] : [];
    });
    return own.some((line) => !line.startsWith("# line ")) ? [writeYaml({ [field]: `${own.join("\n")}\n` })] : [];
  });
  return parts.join("");
}

export const auditEventShape = z.strictObject({
  auditId: wireId,
  insertId: wireId,
  resourceScope: z.strictObject({
    accountIdentifier: wireId,
    orgIdentifier: z.string().nullable(),
    projectIdentifier: z.string().nullable(),
  }),
  httpRequestInfo: z.strictObject({ requestMethod: z.string(), requestPath: z.string() }).nullable(),
  requestMetadata: z.strictObject({ clientIP: z.string(), correlationId: z.string() }).nullable(),
  timestamp: epochMs,
  authenticationInfo: z.strictObject({
    principal: z.strictObject({ type: z.enum(principalTypes), identifier: wireId.nullable() }),
    labels: z.strictObject({ username: z.string(), email: z.string().nullable() }),
  }),
  module: z.null(),
  resource: z.strictObject({ type: z.string(), identifier: z.string(), labels: z.null() }),
  action: z.string(),
  auditEventData: z
    .discriminatedUnion("type", [
      z.strictObject({
        type: z.literal("REFUSAL"),
        code: z.string().nullable(),
        status: z.int().nullable(),
        permission: z.string().nullable(),
        attempts: z.int(),
      }),
      z.strictObject({
        type: z.literal("CHANGES"),
        changes: z.array(
          z.strictObject({
            field: z.string(),
            before: z.unknown().optional(),
            after: z.unknown().optional(),
            lines: z.array(z.string()).optional(),
          }),
        ),
        cut: z.boolean(),
      }),
    ])
    .nullable(),
  yamlDiffRecord: z.strictObject({ oldYaml: z.string(), newYaml: z.string() }).nullable(),
});
