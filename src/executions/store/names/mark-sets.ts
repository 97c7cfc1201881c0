/** Services and environments of executions: each different combination in a project is stored once, as a set. */
import { createHash } from "node:crypto";
import type { Uuid } from "../../../core/ids.ts";
import type { Query } from "../../../platform/db/db.ts";
import type { Mark } from "../../marks.ts";
import type { Condition } from "../conditions.ts";

type Store = { readonly query: Query };

export type MarkSet = {
  readonly id: Uuid;
  readonly services: readonly string[];
  readonly environments: readonly string[];
};

/** A condition on the references of a set. Without a value the set has to have one at all. */
export type MarkCondition = Omit<Condition, "is"> & { readonly is: MarkName };
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

/** The ids of the sets that meet all conditions; undefined if all sets do. */
export async function findMarkSets(
  db: Store,
  accountId: Uuid,
  conditions: readonly MarkCondition[],
): Promise<readonly Uuid[] | undefined> {
  const sets = await db.query<MarkSet>(
    "select distinct id, services, environments from execution_mark_sets where account_id = $1",
    [accountId],
  );
  const tests = conditions.map(testOf);
  const found = sets.filter((set) => tests.every((test) => test(set)));
  return found.length === sets.length ? undefined : found.map(({ id }) => id);
}

function testOf({ is, value, not = false }: MarkCondition): (set: MarkSet) => boolean {
  const names = Array.isArray(value) ? new Set<unknown>(value) : undefined;
  const has = (given: readonly string[]): boolean => (names ? given.some((name) => names.has(name)) : given.length > 0);
  const isService = is.startsWith("service");
  return (set) => has(isService ? set.services : set.environments) !== not;
}

const COMPLETED_AT_ONCE = 1_000;

/** Gives executions of an older server their sets. Leaves out those that another transaction has locked. */
export async function completeMarkSets(db: Store, accountId: Uuid): Promise<void> {
  await db.query(
    `with open as (
       select id, project_id from executions where account_id = $1 and mark_set_id is null limit ${COMPLETED_AT_ONCE} for update skip locked),
     found as (
       select open.id, open.project_id, coalesce(array_agg(m.name) filter (where m.kind = 'service'), '{}') as services,
              coalesce(array_agg(m.name) filter (where m.kind = 'environment'), '{}') as environments
         from open left join execution_marks m on m.account_id = $1 and m.execution_id = open.id
        group by open.id, open.project_id),
     added as (
       insert into execution_mark_sets (account_id, project_id, id, services, environments)
       select distinct $1::uuid, project_id, md5(services::text || environments::text)::uuid, services, environments from found
       on conflict do nothing)
     update executions e set mark_set_id = md5(found.services::text || found.environments::text)::uuid
       from found where e.account_id = $1 and e.id = found.id`,
    [accountId],
  );
}
