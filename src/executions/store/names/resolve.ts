/**
 * Filters of lists of executions by names. Patterns and identifiers are compared with the different names of the account,
 * which are few; the list then looks for ids or references, which have indexes. So no name is compared with each execution.
 */
import type { Uuid } from "../../../core/ids.ts";
import type { Query } from "../../../platform/db/db.ts";
import { mergeConditions, NOTHING, type Condition, type ExecutionFilter } from "../conditions.ts";
import { completeMarkSets, findFewMarkSets, type MarkCondition, type MarkName } from "./mark-sets.ts";

type Store = { readonly query: Query };

/** The patterns of a statement, each with the number of its condition. */
const PATTERNS = `(select part, lower(part) as lower_part, nth from unnest($2::text[], $3::int[]) as given (part, nth)) pattern`;

type Comparison = (name: string) => string;
const isLike: Comparison = (name) => `lower(${name}) like pattern.lower_part`;
const isEqual: Comparison = (name) => `${name} = pattern.part`;

type Matching = { readonly beginning?: string; readonly compare?: Comparison };

/** The statement selects the `value`s whose `names` match, each with `nth`. */
const matching = (
  from: string,
  value: string,
  names: readonly string[],
  { beginning = "", compare = isLike }: Matching = {},
): string =>
  `${beginning}select distinct ${value} as value, pattern.nth from ${from} cross join ${PATTERNS}
    where ${names.map(compare).join(" or ")}`;

const ofAccount = (table: "projects" | "pipelines"): string =>
  `(select id, name, identifier from ${table} where account_id = $1 offset 0) named`;

/**
 * The newest execution of each starter: one step of an index for each, however many executions they have. A starter is
 * looked for by the name, the e-mail address or the identifier of that execution.
 */
const starters = (
  triggerType: "= 'MANUAL'" | "<> 'MANUAL'",
  names: readonly ("name" | "email" | "identifier")[],
  compare?: Comparison,
): string =>
  matching(
    `(select started_by, ${names.map((name) => `triggered_by ->> '${name}' as ${name}`).join(", ")}
        from starters where started_by is not null and trigger_type ${triggerType} offset 0) named`,
    "started_by",
    names,
    {
      ...(compare && { compare }),
      beginning: `with recursive starters as (
       (select started_by, trigger_type, triggered_by from executions
         where account_id = $1 and started_by is not null order by started_by desc, begun_at desc, id desc limit 1)
       union all
       select next.* from starters s cross join lateral (
         select started_by, trigger_type, triggered_by from executions
          where account_id = $1 and started_by < s.started_by
          order by started_by desc, begun_at desc, id desc limit 1) next)
     `,
    },
  );

/** The different names of marks: one step of an index for each, however many executions and sets have them. */
const marks = (kind: "service" | "environment"): string =>
  matching("(select name from names where name is not null offset 0) named", "name", ["name"], {
    beginning: `with recursive names as (
       (select name from execution_marks where account_id = $1 and kind = '${kind}' order by name limit 1)
       union all
       select (select m.name from execution_marks m where m.account_id = $1 and m.kind = '${kind}' and m.name > names.name
                order by m.name limit 1)
         from names where names.name is not null)
     `,
  });

/** By the name of a condition: where its names are, and the condition that the list has instead. */
const LOOKUPS = {
  projectLike: { to: "projectIn", text: matching(ofAccount("projects"), "id", ["name"]), isMark: false },
  pipelineLike: { to: "pipelineIn", text: matching(ofAccount("pipelines"), "id", ["name"]), isMark: false },
  pipelineSearch: {
    to: "pipelineIn",
    text: matching(ofAccount("pipelines"), "id", ["name", "identifier"]),
    isMark: false,
  },
  personLike: { to: "personIn", text: starters("= 'MANUAL'", ["name", "email"]), isMark: false },
  triggerLike: { to: "triggerIn", text: starters("<> 'MANUAL'", ["name"]), isMark: false },
  triggerIdentified: { to: "triggerIn", text: starters("<> 'MANUAL'", ["identifier"], isEqual), isMark: false },
  serviceLike: { to: "serviceIn", text: marks("service"), isMark: true },
  environmentLike: { to: "environmentIn", text: marks("environment"), isMark: true },
} as const;

export type LikeName = keyof typeof LOOKUPS;

/** One of the patterns has to match a name; of `triggerIdentified`, one of the texts has to be an identifier. */
export type LikeCondition = { readonly is: LikeName; readonly value: readonly string[] };

export type NamedCondition = (Omit<Condition, "is"> & { readonly is: Condition["is"] | MarkName }) | LikeCondition;

/** A filter as a request has it. `resolveNames` makes a filter of a statement of it. */
export type NamedFilter = readonly NamedCondition[];

const isLookedUp = (condition: NamedCondition): condition is LikeCondition => condition.is in LOOKUPS;
const MARKS: ReadonlySet<string> = new Set(["serviceIn", "serviceAny", "environmentIn", "environmentAny"]);
const isMark = (condition: NamedCondition): condition is MarkCondition => MARKS.has(condition.is);
const isPlain = (condition: NamedCondition): condition is Condition => !isLookedUp(condition) && !isMark(condition);

/**
 * Replaces patterns by the ids of what matches, with one statement for each kind of name. Replaces conditions on marks by
 * the ids of few sets, or by one condition that the database compares with all sets once for each list.
 */
export async function resolveNames(db: Store, accountId: Uuid, filter: NamedFilter): Promise<ExecutionFilter> {
  const likes = filter.filter(isLookedUp);
  if (likes.some(({ value }) => value.length === 0)) return [NOTHING];
  const resolved: NamedCondition[] = filter.filter((condition) => !isLookedUp(condition));
  if (resolved.some(isMark) || likes.some(({ is }) => LOOKUPS[is].isMark)) await completeMarkSets(db, accountId);
  for (const [is, conditions] of Map.groupBy(likes, (like) => like.is)) {
    const values = await findValues(db, accountId, is, conditions);
    if (values.some(({ length }) => length === 0)) return [NOTHING];
    resolved.push(...values.map((value) => ({ is: LOOKUPS[is].to, value })));
  }
  const marks = resolved.filter(isMark);
  const plain = resolved.filter(isPlain);
  if (marks.length === 0) return mergeConditions(plain);
  const sets = await findFewMarkSets(db, accountId, marks);
  if (sets?.length === 0) return [NOTHING];
  return [...mergeConditions(plain), sets ? { is: "markSetIn", value: sets } : { is: "markSetMeets", value: marks }];
}

/** What matches each of the conditions. */
async function findValues(
  db: Store,
  accountId: Uuid,
  is: LikeName,
  conditions: readonly LikeCondition[],
): Promise<readonly (readonly string[])[]> {
  const patterns = conditions.flatMap(({ value }, nth) => value.map((part) => ({ part, nth })));
  const rows = await db.query<{ value: string; nth: number }>(LOOKUPS[is].text, [
    accountId,
    patterns.map(({ part }) => part),
    patterns.map(({ nth }) => nth),
  ]);
  return conditions.map((_, nth) => rows.flatMap((row) => (row.nth === nth ? row.value : [])));
}
