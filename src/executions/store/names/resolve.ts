/**
 * LIKE filters of lists of executions. The patterns are compared with the different names of the account, which are few;
 * the list then looks for ids or references, which have indexes. So a pattern is never compared with each execution.
 */
import type { Uuid } from "../../../core/ids.ts";
import type { Query } from "../../../platform/db/db.ts";
import { NOTHING, type Condition, type ExecutionFilter } from "../conditions.ts";

type Store = { readonly query: Query };

/** The patterns of a statement in lower case, each with the number of its condition. */
const PATTERNS = `(select lower(part) as part, nth from unnest($2::text[], $3::int[]) as given (part, nth)) pattern`;

/** The statement selects the `value`s whose `names` match, each with `nth`. */
const matching = (from: string, value: string, names: readonly string[], beginning = ""): string =>
  `${beginning}select distinct ${value} as value, pattern.nth from ${from} cross join ${PATTERNS}
    where ${names.map((name) => `lower(${name}) like pattern.part`).join(" or ")}`;

const ofAccount = (table: "projects" | "pipelines"): string =>
  `(select id, name, identifier from ${table} where account_id = $1 offset 0) named`;

/**
 * The newest execution of each starter: one step of an index for each, however many executions they have. A starter is
 * looked for by the name and the e-mail address of that execution.
 */
const starters = (triggerType: string): string =>
  matching(
    `(select started_by, triggered_by ->> 'name' as name, triggered_by ->> 'email' as email
        from starters where started_by is not null and trigger_type ${triggerType} offset 0) named`,
    "started_by",
    triggerType === "= 'MANUAL'" ? ["name", "email"] : ["name"],
    `with recursive starters as (
       (select started_by, trigger_type, triggered_by from executions
         where account_id = $1 and started_by is not null order by started_by desc, begun_at desc, id desc limit 1)
       union all
       select next.* from starters s cross join lateral (
         select started_by, trigger_type, triggered_by from executions
          where account_id = $1 and started_by < s.started_by
          order by started_by desc, begun_at desc, id desc limit 1) next)
     `,
  );

/** The different names of marks: one step of an index for each. */
const marks = (kind: "service" | "environment"): string =>
  matching(
    "(select name from names where name is not null offset 0) named",
    "name",
    ["name"],
    `with recursive names as (
       (select name from execution_marks where account_id = $1 and kind = '${kind}' order by name limit 1)
       union all
       select (select m.name from execution_marks m where m.account_id = $1 and m.kind = '${kind}' and m.name > names.name
                order by m.name limit 1)
         from names where names.name is not null)
     `,
  );

/** By the name of a condition: where its names are, and the condition that the list has instead. */
const LOOKUPS = {
  projectLike: { to: "projectIn", text: matching(ofAccount("projects"), "id", ["name"]) },
  pipelineLike: { to: "pipelineIn", text: matching(ofAccount("pipelines"), "id", ["name"]) },
  pipelineSearch: { to: "pipelineIn", text: matching(ofAccount("pipelines"), "id", ["name", "identifier"]) },
  personLike: { to: "personIn", text: starters("= 'MANUAL'") },
  triggerLike: { to: "triggerIn", text: starters("<> 'MANUAL'") },
  serviceLike: { to: "serviceIn", text: marks("service") },
  environmentLike: { to: "environmentIn", text: marks("environment") },
} as const;

export type LikeName = keyof typeof LOOKUPS;

/** One of the patterns has to match a name. */
export type LikeCondition = { readonly is: LikeName; readonly value: readonly string[] };

/** A filter as a request has it. `resolveNames` makes a filter of a statement of it. */
export type NamedFilter = readonly (Condition | LikeCondition)[];

const isLike = (condition: Condition | LikeCondition): condition is LikeCondition => condition.is in LOOKUPS;

/** Replaces patterns by the ids and references whose names match: one statement for each kind of name. */
export async function resolveNames(db: Store, accountId: Uuid, filter: NamedFilter): Promise<ExecutionFilter> {
  const likes = filter.filter(isLike);
  const resolved: Condition[] = filter.filter((condition) => !isLike(condition));
  if (likes.some(({ value }) => value.length === 0)) return [NOTHING];
  for (const [is, conditions] of Map.groupBy(likes, (like) => like.is)) {
    const patterns = conditions.flatMap(({ value }, nth) => value.map((part) => ({ part, nth })));
    const { to, text } = LOOKUPS[is];
    const rows = await db.query<{ value: string; nth: number }>(text, [
      accountId,
      patterns.map(({ part }) => part),
      patterns.map(({ nth }) => nth),
    ]);
    for (const nth of conditions.keys()) {
      const values = rows.flatMap((row) => (row.nth === nth ? row.value : []));
      if (values.length === 0) return [NOTHING];
      resolved.push({ is: to, value: values });
    }
  }
  return resolved;
}
