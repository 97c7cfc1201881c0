/** Services and environments of executions: each different combination in a project is stored once, as a set. */
import { createHash } from "node:crypto";
import type { Uuid } from "../../../core/ids.ts";
import type { Query } from "../../../platform/db/db.ts";
import { UNPREPARED } from "../../../platform/db/pool/statements.ts";
import type { Mark } from "../../marks.ts";

type Store = { readonly query: Query };

export type MarkSet = {
  readonly id: Uuid;
  readonly services: readonly string[];
  readonly environments: readonly string[];
};

/** A condition on the references of a set. Without a value the set has to have one at all. */
export type MarkCondition = { readonly is: MarkName; readonly value?: readonly string[]; readonly not?: boolean };
export type MarkName = "serviceIn" | "environmentIn" | "serviceAny" | "environmentAny";

/** The set of an execution with these marks. The id is a hash, so that equal sets have one id. */
export function markSetOf(marks: readonly Mark[]): MarkSet {
  const namesOf = (kind: Mark["kind"]): readonly string[] =>
    marks.flatMap((mark) => (mark.kind === kind ? mark.name : [])).toSorted();
  const [services, environments] = [namesOf("service"), namesOf("environment")];
  const hash = createHash("sha256")
    .update(JSON.stringify([services, environments]))
    .digest("hex");
  const id = hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5") as Uuid;
  return { id, services, environments };
}

/** Adds a value to a statement and returns its placeholder. */
export type Parameter = (value: unknown) => string;

/**
 * The statement of the ids of the sets that meet all conditions; `$1` is the account. Each comparison is one that the
 * indexes on the arrays answer, so no array is read from the table: a set that must not have a name is not among those
 * that have it. The planner expects ten entries of an unnested array, so it hashes them.
 */
export function selectMarkSets(conditions: readonly MarkCondition[], parameter: Parameter): string {
  const required = conditions.filter(isRequired).map((condition) => compare(condition, parameter));
  const excluded = unionOf(conditions.filter((condition) => !isRequired(condition)));
  const none = excluded.map((condition) => compare(condition, parameter)).join(" or ");
  const excludes = none && `(s.id in (select unnest(array(${SETS} and (${none}))))) is not true`;
  return [SETS, ...required, excludes].filter(Boolean).join(" and ");
}

const SETS = "select s.id from execution_mark_sets s where s.account_id = $1";

/** A set without services is found by its index. One with services is not among those without. */
const isRequired = ({ value, not = false }: MarkCondition): boolean => (value === undefined) === not;

const columnOf = ({ is }: MarkCondition): string => (is.startsWith("service") ? "s.services" : "s.environments");

/**
 * The planner does not see the value. It then expects few sets and uses the index. For a frequent name it would read each
 * array, which takes ten times as long.
 */
const compare = (condition: MarkCondition, parameter: Parameter): string =>
  condition.value === undefined
    ? `${columnOf(condition)} = '{}'`
    : `${columnOf(condition)} && (select ${parameter(condition.value)}::text[])`;

/** One condition for each name, with the values of all. */
const unionOf = (conditions: readonly MarkCondition[]): readonly MarkCondition[] =>
  [...Map.groupBy(conditions, ({ is }) => is)].map(([is, same]) => {
    const values = same.flatMap(({ value }) => value ?? []);
    return values.length === 0 ? { is } : { is, value: [...new Set(values)] };
  });

/** The planner knows how many executions a set has, so it finds the best plan for few sets. More stay in the database. */
export const FEW_SETS = 64;

/** The ids of the sets that meet all conditions; undefined if they are more than `FEW_SETS`. */
export async function findFewMarkSets(
  db: Store,
  accountId: Uuid,
  conditions: readonly MarkCondition[],
): Promise<readonly Uuid[] | undefined> {
  const values: unknown[] = [accountId];
  const text = selectMarkSets(conditions, (value) => `$${values.push(value)}`);
  const found = await db.query<{ id: Uuid }>(
    // The planner would read arrays instead of the index if it knew of the limit.
    `${UNPREPARED}select id from unnest(array(${text})) id limit ${FEW_SETS + 1}`,
    values,
  );
  return found.length > FEW_SETS ? undefined : [...new Set(found.map(({ id }) => id))];
}

/** Executions that one statement completes, and all statements of one list together. */
const COMPLETED_AT_ONCE = 1_000;
const COMPLETED_AT_MOST = 20_000;

/**
 * Gives executions of an older server their sets, at most `COMPLETED_AT_MOST`; further ones at the next list. Leaves out
 * those that another transaction has locked. Without such executions it reads one entry of `executions_by_marks`. Sets are
 * inserted in the order of their ids, because two replicas wait for each other's equal sets.
 */
export async function completeMarkSets(db: Store, accountId: Uuid): Promise<void> {
  for (let count = 0; count < COMPLETED_AT_MOST; count += COMPLETED_AT_ONCE) {
    const [row] = await db.query<{ completed: number }>(COMPLETE, [accountId]);
    if ((row?.completed ?? 0) < COMPLETED_AT_ONCE) return;
  }
}

const COMPLETE = `with open as (
    select id, project_id from executions where account_id = $1 and mark_set_id is null limit ${COMPLETED_AT_ONCE} for update skip locked),
  found as (
    select open.id, open.project_id, coalesce(array_agg(m.name) filter (where m.kind = 'service'), '{}') as services,
           coalesce(array_agg(m.name) filter (where m.kind = 'environment'), '{}') as environments
      from open left join execution_marks m on m.account_id = $1 and m.execution_id = open.id
     group by open.id, open.project_id),
  added as (
    insert into execution_mark_sets (account_id, project_id, id, services, environments)
    select distinct $1::uuid, project_id, md5(services::text || environments::text)::uuid as set_id, services, environments
      from found order by project_id, set_id
    on conflict do nothing),
  completed as (
    update executions e set mark_set_id = md5(found.services::text || found.environments::text)::uuid
      from found where e.account_id = $1 and e.id = found.id returning 1)
  select count(*)::int as completed from completed`;
