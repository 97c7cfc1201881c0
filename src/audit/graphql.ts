/** `audits`: the trail as change sets, newest first. */
import { toWire, type Uuid } from "../core/ids.ts";
import {
  listOf,
  listType,
  window,
  type Builder,
  type InterfaceNodeRef,
  type NodeRef,
} from "../platform/graphql/builder.ts";
import type { FieldChange } from "./difference/difference.ts";
import { actionOf, type AuditEntry, type AuditFilter } from "./entry.ts";
import type { ListAudits } from "./read/list.ts";

type Operations = { readonly list: ListAudits; readonly now: () => number };
/** The source of the type `User` of the identity slice. */
type Person = {
  readonly id: Uuid;
  readonly name: string;
  readonly email: string;
  readonly mustChangePassword?: boolean;
};

/** `types.User` is the type of an entry's author. */
export function addAuditTypes(builder: Builder, types: { User: NodeRef<Person> }, operations: Operations): void {
  const ChangeSet = changeSetType(builder);
  addKinds(builder, ChangeSet, types.User);
  const List = listType(builder, "ChangeSetConnection", ChangeSet);
  const Filter = filterType(builder);
  builder.queryField("audits", (t) =>
    t.field({
      type: List,
      args: {
        filters: t.arg({ type: [Filter], required: { list: false, items: false } }),
        limit: t.arg.int(),
        offset: t.arg.int(),
      },
      extensions: { permission: "core_audit_view" },
      resolve: async (_root, { filters, ...args }, { actor }) =>
        listOf(await operations.list(actor, filterOf(filters ?? [], operations.now()), window(args))),
    }),
  );
}

function changeSetType(builder: Builder): InterfaceNodeRef<AuditEntry> {
  const Request = builder.objectRef<AuditedRequest>("AuditRequest").implement({
    description: "The request that made the change, or was refused. The path is without its query.",
    fields: (t) => ({
      url: t.exposeString("path"),
      resourcePath: t.exposeString("path"),
      requestMethod: t.exposeString("method"),
      remoteIpAddress: t.exposeString("remoteAddress"),
      responseStatusCode: t.int({
        description: "200, and of a refusal the status of its code; GraphQL answers 200 to both.",
        resolve: ({ status }) => status ?? 200,
      }),
    }),
  });
  const Field = builder.objectRef<FieldChange>("ChangedField").implement({
    description: "One field that is not what it was. Secrets are left out.",
    fields: (t) => ({
      field: t.exposeString("field", { description: "The path, as in `spec.auth.type`." }),
      before: t.string({
        description: "A text as it was, anything else as JSON.",
        resolve: ({ before }) => shown(before),
      }),
      after: t.string({ description: "A text as it is, anything else as JSON.", resolve: ({ after }) => shown(after) }),
      lines: t.stringList({
        description: "Of a text of several lines the changed ones, as `diff -U0` shows them.",
        resolve: ({ lines }) => lines ?? null,
      }),
    }),
  });
  const Change = builder.objectRef<AuditEntry>("ChangeDetails").implement({
    fields: (t) => ({
      appId: t.string({ description: "Always null.", resolve: () => null }),
      appName: t.string({ description: "Always null.", resolve: () => null }),
      resourceId: t.exposeString("resourceId"),
      resourceName: t.string({ description: "Always null: names change.", resolve: () => null }),
      resourceType: t.exposeString("resourceType"),
      operationType: t.string({ resolve: (entry) => actionOf(entry) }),
      createdAt: t.expose("at", { type: "Long" }),
      failure: t.boolean({
        description: "True for what was refused.",
        resolve: ({ outcome }) => outcome === "refused",
      }),
      code: t.exposeString("code", { nullable: true, description: "Why it was refused: a code of docs/errors.md." }),
      permission: t.exposeString("permission", { nullable: true, description: "The permission that was missing." }),
      attempts: t.exposeInt("attempts", { description: "For how many attempts of one kind the entry stands." }),
      fields: t.field({
        type: [Field],
        description: "What was changed; null where there is nothing to compare.",
        resolve: ({ difference }) => difference && [...difference.changes],
      }),
    }),
  });
  return builder.interfaceRef<AuditEntry>("ChangeSet").implement({
    resolveType: ({ actorKind }) => (actorKind === "user" ? "UserChangeSet" : "GenericChangeSet"),
    fields: (t) => ({
      id: t.string({ resolve: ({ id }) => toWire(id) }),
      triggeredAt: t.expose("at", { type: "Long" }),
      request: t.field({ type: Request, resolve: ({ request, status }) => request && { ...request, status } }),
      changes: t.field({ type: [Change], resolve: (entry) => [entry] }),
    }),
  });
}

/**
 * Change sets of API keys and Git exist for documents that select them: a key acts as its user, and nothing comes from
 * Git.
 */
function addKinds(builder: Builder, ChangeSet: InterfaceNodeRef<AuditEntry>, User: NodeRef<Person>): void {
  const interfaces = [ChangeSet];
  builder.objectRef<AuditEntry>("UserChangeSet").implement({
    interfaces,
    fields: (t) => ({
      triggeredBy: t.field({ type: User, resolve: (entry) => personOf(entry) }),
    }),
  });
  builder.objectRef<AuditEntry>("GenericChangeSet").implement({ interfaces });
  builder.objectRef<AuditEntry>("ApiKeyChangeSet").implement({
    interfaces,
    fields: (t) => ({ apiKeyId: t.string({ resolve: () => null }) }),
  });
  builder.objectRef<AuditEntry>("GitChangeSet").implement({
    interfaces,
    fields: (t) => ({
      gitCommitId: t.string({ resolve: () => null }),
      author: t.string({ resolve: () => null }),
      repoUrl: t.string({ resolve: () => null }),
    }),
  });
}

type AuditedRequest = NonNullable<AuditEntry["request"]> & Pick<AuditEntry, "status">;

const shown = (value: unknown): string | null =>
  value === undefined ? null : typeof value === "string" ? value : JSON.stringify(value);

const personOf = ({ actorId: id, actorName: name, actorEmail }: AuditEntry): Person | null =>
  id && { id, name, email: actorEmail ?? "" };

const MINUTE = 60_000;
const UNITS = { MINUTES: MINUTE, HOURS: 60 * MINUTE, DAYS: 1_440 * MINUTE, WEEKS: 10_080 * MINUTE } as const;
type Unit = keyof typeof UNITS;

function filterType(builder: Builder) {
  const TimeUnit = builder.enumType("TimeUnit", { values: Object.keys(UNITS) as Unit[] });
  const Specific = builder.inputType("TimeRange", {
    fields: (t) => ({ from: t.field({ type: "Long", required: true }), to: t.field({ type: "Long" }) }),
  });
  const Relative = builder.inputType("RelativeTimeRange", {
    fields: (t) => ({
      timeUnit: t.field({ type: TimeUnit, required: true }),
      noOfUnits: t.field({ type: "Long", required: true }),
    }),
  });
  const Time = builder.inputType("TimeRangeFilter", {
    fields: (t) => ({ specific: t.field({ type: Specific }), relative: t.field({ type: Relative }) }),
  });
  const Outcome = builder.enumType("AuditOutcome", { values: ["SUCCESS", "REFUSED"] as const });
  return builder.inputType("ChangeSetFilter", {
    fields: (t) => ({ time: t.field({ type: Time }), outcome: t.field({ type: Outcome }) }),
  });
}

type Given = {
  readonly outcome?: "SUCCESS" | "REFUSED" | null | undefined;
  readonly time?:
    | {
        readonly specific?: { readonly from: number; readonly to?: number | null | undefined } | null | undefined;
        readonly relative?: { readonly timeUnit: Unit; readonly noOfUnits: number } | null | undefined;
      }
    | null
    | undefined;
} | null;

/** All conditions apply at once: the latest start and the earliest end. */
function filterOf(filters: readonly (Given | undefined)[], now: number): AuditFilter {
  const times = filters.flatMap((filter) => filter?.time ?? []);
  const from = times.flatMap(({ specific, relative }) => [
    ...(specific ? [specific.from] : []),
    ...(relative ? [now - relative.noOfUnits * UNITS[relative.timeUnit]] : []),
  ]);
  const to = times.flatMap(({ specific }) => specific?.to ?? []);
  const outcomes = filters.flatMap((filter) => filter?.outcome ?? []);
  const asked = (["SUCCESS", "REFUSED"] as const).filter((one) => outcomes.every((outcome) => outcome === one));
  return {
    ...(outcomes.length === 0 ? {} : { outcomes: asked.map((one) => (one === "REFUSED" ? "refused" : "success")) }),
    from: from.length === 0 ? undefined : inTime(Math.max(...from)),
    to: to.length === 0 ? undefined : inTime(Math.min(...to)),
  };
}

/** Limits a time to what the database can store; times beyond the limit mean the same. */
const inTime = (at: number): number => Math.min(Math.max(at, 0), Number.MAX_SAFE_INTEGER);
