/**
 * What lists of executions are filtered by: a fixed table of fragments. A filter chooses among them and
 * brings values; no text of a request ever becomes SQL. `?` stands for the fragment's own parameter.
 */
import type { Uuid } from "../../core/ids.ts";
import { within } from "../../access/index.ts";
import { markText, storable } from "../marks.ts";
import { selectMarkSets, type MarkCondition } from "./names/mark-sets.ts";

/** Servers' clocks may differ by this much, so that an execution seems to end before it began. */
const SKEW_MS = 60_000;

const marked = (kind: string, condition: string): string =>
  `exists (select 1 from execution_marks m where m.account_id = $1 and m.execution_id = e.id and m.kind = '${kind}' and ${condition})`;
const BY_PERSON = "e.trigger_type = 'MANUAL'";
const BY_TRIGGER = "e.trigger_type <> 'MANUAL'";
const DURATION = "(e.ended_at - e.started_at)";

const FRAGMENTS = {
  executionIn: "e.id = any(?::uuid[])",
  projectIs: "e.project_id = ?",
  projectIn: "e.project_id = any(?::uuid[])",
  pipelineIs: "e.pipeline_id = ?",
  pipelineIn: "e.pipeline_id = any(?::uuid[])",
  /** The pipelines that the reader may see. It is planned for them, as they may have few executions. */
  pipelineSeen: "e.pipeline_id = any(?::uuid[])",
  pipelineIdentifier: "e.pipeline_id in (select id from pipelines where account_id = $1 and identifier = ?)",
  statusIs: "e.status = ?",
  statusIn: "e.status = any(?::text[])",
  personIs: `${BY_PERSON} and e.started_by = ?`,
  personIn: `${BY_PERSON} and e.started_by = any(?::uuid[])`,
  personAny: `${BY_PERSON} and e.started_by is not null`,
  triggerIs: `${BY_TRIGGER} and e.started_by = ?`,
  triggerIn: `${BY_TRIGGER} and e.started_by = any(?::uuid[])`,
  triggerAny: BY_TRIGGER,
  triggerTypeIn: "e.trigger_type = any(?::text[])",
  markSetIn: "e.mark_set_id = any(?::uuid[])",
  tagNamed: marked("tag", "m.name = ?"),
  /** The value is `[name, value]`. */
  tagIs: marked("tag", "m.name = (?::text[])[1] and m.value = (?::text[])[2]"),
  projectTagNamed: "e.project_id in (select id from projects where account_id = $1 and tags -> ?::text is not null)",
  projectTagIs: "e.project_id in (select id from projects where account_id = $1 and tags @> ?::jsonb)",
  // What has started has begun then, and `begun_at` has the index. One condition on the moment, not two: the
  // planner would take them for independent and expect far too few rows.
  startedAfter: "e.begun_at > ? and e.started_at is not null",
  startedBefore: "e.begun_at < ? and e.started_at is not null",
  startedAt: "e.begun_at = ? and e.started_at is not null",
  begunFrom: "e.begun_at >= ?",
  begunBefore: "e.begun_at < ?",
  endedAfter: "e.ended_at > ?",
  // What had ended before had begun before.
  endedBefore: `e.ended_at < ? and e.begun_at < ?::bigint + ${SKEW_MS}`,
  endedAt: "e.ended_at = ?",
  createdAfter: `e.created_at > ? and e.begun_at > ?::bigint - ${SKEW_MS}`,
  createdBefore: "e.created_at < ?",
  createdAt: `e.created_at = ? and e.begun_at > ?::bigint - ${SKEW_MS}`,
  durationIn: `${DURATION} = any(?::bigint[])`,
  durationNot: `${DURATION} <> all(?::bigint[])`,
  durationAbove: `${DURATION} > ?`,
  durationFrom: `${DURATION} >= ?`,
  durationBelow: `${DURATION} < ?`,
  durationTo: `${DURATION} <= ?`,
  /** What the reader may see (`within`): the value is JSON. */
  seenBy: `exists (select 1 from projects sa, pipelines sp where sa.account_id = $1 and sa.id = e.project_id
    and sp.account_id = $1 and sp.id = e.pipeline_id and ${within("?", { org: "sa.org_identifier", project: "sa.identifier", identifier: "sp.identifier" })})`,
  /** The cursor of a list: what comes after the execution that began at `[0]` and has the id `[1]`. */
  beyond: "(e.begun_at, e.id) < (((?::text[])[1])::bigint, ((?::text[])[2])::uuid)",
} as const;

export type FragmentName = keyof typeof FRAGMENTS;
type Value = string | number | readonly (string | number)[];

/** One condition; `not` turns it round, and what has no such thing (a run that nobody started) then matches. */
export type Condition = { readonly is: FragmentName; readonly value?: Value; readonly not?: boolean };

/** The execution's set meets all conditions. The database finds the sets, so that their number does not matter. */
export type MarkSetCondition = { readonly is: "markSetMeets"; readonly value: readonly MarkCondition[] };

/** All of them have to hold. */
export type ExecutionFilter = readonly (Condition | MarkSetCondition)[];

/** A condition that nothing meets. */
export const NOTHING: Condition = { is: "executionIn", value: [] };

/** An execution has one of these. Several conditions on it become one, so that each execution is compared once. */
const SINGLE: ReadonlySet<FragmentName> = new Set([
  "executionIn",
  "projectIn",
  "pipelineIn",
  "statusIn",
  "personIn",
  "triggerIn",
  "triggerTypeIn",
  "durationIn",
  "markSetIn",
]);

/** The same filter with one condition for each fragment of `SINGLE`, and one for its opposite. */
export function mergeConditions(filter: readonly Condition[]): readonly Condition[] {
  const merged: Condition[] = [];
  for (const conditions of Map.groupBy(filter, ({ is, not }) => `${is} ${not ?? false}`).values()) {
    const [first] = conditions;
    if (!first || !SINGLE.has(first.is)) merged.push(...conditions);
    else merged.push({ ...first, value: first.not ? unionOf(conditions) : intersectionOf(conditions) });
  }
  return merged;
}

const valuesOf = ({ value }: Condition) => new Set(Array.isArray(value) ? (value as (string | number)[]) : []);
const unionOf = (conditions: readonly Condition[]) => [
  ...new Set(conditions.flatMap((condition) => [...valuesOf(condition)])),
];
const intersectionOf = ([first, ...others]: readonly Condition[]) => {
  const sets = others.map(valuesOf);
  return first ? [...valuesOf(first)].filter((value) => sets.every((set) => set.has(value))) : [];
};

/** A tag of the run, by its name, and by its value where one is given. */
export const tagged = (name: string, value: string | null | undefined): Condition =>
  value ? { is: "tagIs", value: [markText(name), markText(value)] } : { is: "tagNamed", value: markText(name) };

/** The text that LIKE finds anywhere: its own metacharacters are letters like others. */
export const anywhere = (text: string): string => `%${storable(text).replaceAll(/[\\%_]/g, "\\$&")}%`;

/**
 * Filters that clients send again and again. Every other combination is planned each time it comes, and leaves the
 * connections' prepared statements, which are bounded, to the texts that the program has itself.
 */
const FREQUENT = new Set<FragmentName>([
  "projectIs",
  "pipelineIs",
  "pipelineIn",
  "statusIs",
  "statusIn",
  "startedAfter",
  "startedBefore",
  "endedAfter",
  "endedBefore",
]);
const FREQUENT_AT_MOST = 3;
/** Of these, those that the index of the order answers whatever their values are; with the type of the value. */
const INDEXED: ReadonlyMap<FragmentName, "uuid" | "bigint"> = new Map([
  ["projectIs", "uuid"],
  ["pipelineIs", "uuid"],
  ["startedAfter", "bigint"],
  ["startedBefore", "bigint"],
  ["endedBefore", "bigint"],
]);
const INDEXED_AT_MOST = 2;
/** Hidden from the planner, which for a value that it sees finds a plan of its own a little cheaper, and plans each time. */
const hidden = (parameter: string, type: "uuid" | "bigint"): string => `(select ${parameter}::${type})`;

const isMarkSet = (condition: Condition | MarkSetCondition): condition is MarkSetCondition =>
  condition.is === "markSetMeets";
const isPlain = (condition: Condition | MarkSetCondition): condition is Condition => !isMarkSet(condition);

export type Where = {
  readonly where: string;
  readonly values: unknown[];
  readonly frequent: boolean;
  /** One plan serves all values. */
  readonly steady: boolean;
};

/** The conditions in one order, so that the same filter is the same text. `$1` is the account. */
export function whereOf(accountId: Uuid, filter: ExecutionFilter): Where {
  const [sets, plain] = [filter.filter(isMarkSet), filter.filter(isPlain)];
  const isEach = (known: { has(is: FragmentName): boolean }, atMost: number): boolean =>
    filter.length <= atMost && sets.length === 0 && plain.every(({ is, not }) => !not && known.has(is));
  const steady = isEach(INDEXED, INDEXED_AT_MOST);
  const values: unknown[] = [accountId];
  const parts = [`e.account_id = ${steady ? hidden("$1", "uuid") : "$1"}`];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  for (const { is, value, not } of plain.toSorted((a, b) => (a.is < b.is ? -1 : a.is > b.is ? 1 : 0))) {
    const fragment = FRAGMENTS[is];
    const given = fragment.includes("?") ? parameter(value) : "";
    const type = steady ? INDEXED.get(is) : undefined;
    const shown = type === undefined ? given : hidden(given, type);
    const text = fragment.replaceAll("?", () => shown);
    parts.push(not ? `not coalesce(${text}, false)` : text);
  }
  // Not a join: it would lose the order of the index. The planner hashes a subquery that a condition contains.
  for (const { value } of sets)
    parts.push(`(e.mark_set_id in (select unnest(array(${selectMarkSets(value, parameter)})))) is true`);
  const frequent = isEach(FREQUENT, FREQUENT_AT_MOST);
  return { where: parts.join(" and "), values, frequent, steady };
}
