/** Filters of GraphQL `executions` in our words. Filters in a list, and keys in one filter, are ANDed. */
import { fromWire } from "../../core/ids.ts";
import { checkLikeFilters, type IdFilter } from "../../platform/graphql/filters.ts";
import { markText, storable } from "../marks.ts";
import { problem } from "../problems.ts";
import { anywhere, NOTHING, tagged, type Condition, type FragmentName } from "../store/conditions.ts";
import type { MarkName } from "../store/names/mark-sets.ts";
import type { LikeName, NamedCondition, NamedFilter } from "../store/names/resolve.ts";
import { fromGraphqlStatus } from "./status.ts";

export const TIME_OPERATORS = ["EQUALS", "BEFORE", "AFTER"] as const;
export const NUMBER_OPERATORS = [
  "EQUALS",
  "GREATER_THAN",
  "GREATER_THAN_OR_EQUALS",
  "IN",
  "LESS_THAN",
  "LESS_THAN_OR_EQUALS",
  "NOT_EQUALS",
] as const;
export const TAG_ENTITIES = ["APPLICATION", "DEPLOYMENT", "ENVIRONMENT", "SERVICE"] as const;

type Maybe<T> = T | null | undefined;
export type TimeFilter = { readonly operator: (typeof TIME_OPERATORS)[number]; readonly value: number };
export type NumberFilter = {
  readonly operator: (typeof NUMBER_OPERATORS)[number];
  readonly values?: Maybe<readonly Maybe<number>[]>;
};
export type TagFilter = {
  readonly entityType?: Maybe<(typeof TAG_ENTITIES)[number]>;
  readonly tags?: Maybe<readonly Maybe<{ readonly name: string; readonly value?: Maybe<string> }>[]>;
};

/** How a kind of id is looked for. What is always there has no `any`, what has no name no `like`. */
type IdRule = {
  readonly is?: FragmentName;
  readonly in: FragmentName | MarkName;
  readonly like?: LikeName;
  readonly any?: FragmentName | MarkName;
  /** From the wire; undefined for what names nothing. */
  readonly read: (text: string) => string | readonly string[] | undefined;
};

export const ID_RULES = {
  execution: { in: "executionIn", read: fromWire },
  application: { is: "projectIs", in: "projectIn", like: "projectLike", read: fromWire },
  pipeline: { is: "pipelineIs", in: "pipelineIn", like: "pipelineLike", read: fromWire },
  status: { is: "statusIs", in: "statusIn", read: fromGraphqlStatus },
  triggeredBy: { is: "personIs", in: "personIn", like: "personLike", any: "personAny", read: fromWire },
  trigger: { is: "triggerIs", in: "triggerIn", like: "triggerLike", any: "triggerAny", read: fromWire },
  service: { in: "serviceIn", like: "serviceLike", any: "serviceAny", read: markText },
  environment: { in: "environmentIn", like: "environmentLike", any: "environmentAny", read: markText },
} as const satisfies Record<string, IdRule>;

export const TIME_RULES = {
  startTime: { AFTER: "startedAfter", BEFORE: "startedBefore", EQUALS: "startedAt" },
  endTime: { AFTER: "endedAfter", BEFORE: "endedBefore", EQUALS: "endedAt" },
  creationTime: { AFTER: "createdAfter", BEFORE: "createdBefore", EQUALS: "createdAt" },
} as const satisfies Record<string, Record<TimeFilter["operator"], FragmentName>>;

/** Filters of clients on things that are not here (yet): in the schema so that they are refused by name. */
export const UNSUPPORTED = ["cloudProvider", "workflow", "artifactBuildNo", "helmChartVersion"] as const;

type Keys<Of, Filter> = { readonly [K in keyof Of]?: Maybe<Filter> };
export type GraphqlFilter = Keys<typeof ID_RULES, IdFilter> &
  Keys<typeof TIME_RULES, TimeFilter> &
  Keys<Record<(typeof UNSUPPORTED)[number], never>, IdFilter> & {
    readonly duration?: Maybe<NumberFilter>;
    readonly tag?: Maybe<TagFilter>;
  };

const FILTERS_AT_MOST = 20;
const VALUES_AT_MOST = 1_000;

/** One filter for all of them. Throws `execution.filter_unsupported`, `execution.bad_filter` and the problems of `checkLikeFilters`. */
export function fromGraphql(filters: readonly Maybe<GraphqlFilter>[]): NamedFilter {
  if (filters.length > FILTERS_AT_MOST)
    throw problem("execution.bad_filter", [`at most ${FILTERS_AT_MOST} filters are taken`]);
  checkLikeFilters(filters);
  const found = filters.flatMap((filter) => (filter ? conditionsOf(filter) : []));
  if (found.length > 2 * FILTERS_AT_MOST)
    throw problem("execution.bad_filter", [`at most ${2 * FILTERS_AT_MOST} conditions are taken`]);
  return found;
}

const keysOf = <K extends string>(rules: Record<K, unknown>): readonly K[] => Object.keys(rules) as K[];

function conditionsOf(filter: GraphqlFilter): NamedFilter {
  for (const name of UNSUPPORTED) if (filter[name]) throw problem("execution.filter_unsupported", [name]);
  const conditions: NamedCondition[] = [];
  for (const name of keysOf(ID_RULES)) {
    const given = filter[name];
    if (given) conditions.push(...idCondition(name, ID_RULES[name], given));
  }
  for (const name of keysOf(TIME_RULES)) {
    const given = filter[name];
    if (given) conditions.push({ is: TIME_RULES[name][given.operator], value: given.value });
  }
  if (filter.duration) conditions.push(durationCondition(filter.duration));
  if (filter.tag) conditions.push(...tagConditions(filter.tag));
  return conditions;
}

function idCondition(name: string, rule: IdRule, { operator, values }: IdFilter): NamedFilter {
  const texts = given(name, values);
  switch (operator) {
    case "EQUALS":
    case "IN":
      return [oneOf(rule, texts)];
    case "NOT_IN": {
      const found = oneOf(rule, texts);
      return found === NOTHING ? [] : [{ ...found, not: true }];
    }
    case "LIKE":
      if (!rule.like) throw problem("execution.filter_unsupported", [`${name} with the operator LIKE`]);
      return [{ is: rule.like, value: texts.map(anywhere) }];
    case "NOT_NULL":
      return rule.any ? [{ is: rule.any }] : [];
  }
}

/** One value is compared with `=`, so that the index also gives the order. An id that is none matches nothing. */
function oneOf(rule: IdRule, texts: readonly string[]): Exclude<NamedCondition, { is: LikeName }> {
  const ids = texts.flatMap((text) => rule.read(text) ?? []);
  const [first] = ids;
  if (first === undefined) return NOTHING;
  return rule.is && ids.length === 1 ? { is: rule.is, value: first } : { is: rule.in, value: ids };
}

function given<T>(name: string, values: Maybe<readonly Maybe<T>[]>): readonly T[] {
  const found = (values ?? []).flatMap((value) => value ?? []) as T[];
  if (found.length > VALUES_AT_MOST)
    throw problem("execution.bad_filter", [`${name} takes at most ${VALUES_AT_MOST} values`]);
  return found;
}

/** Milliseconds from start to end; a run that has not ended has none. */
function durationCondition({ operator, values }: NumberFilter): Condition {
  const numbers = given("duration", values);
  const one = (): number => {
    if (numbers.length !== 1) throw problem("execution.bad_filter", [`duration ${operator} takes one value`]);
    return numbers[0] ?? 0;
  };
  switch (operator) {
    case "EQUALS":
    case "IN":
      return { is: "durationIn", value: numbers };
    case "NOT_EQUALS":
      return { is: "durationNot", value: numbers };
    case "GREATER_THAN":
      return { is: "durationAbove", value: one() };
    case "GREATER_THAN_OR_EQUALS":
      return { is: "durationFrom", value: one() };
    case "LESS_THAN":
      return { is: "durationBelow", value: one() };
    case "LESS_THAN_OR_EQUALS":
      return { is: "durationTo", value: one() };
  }
}

/** Every tag has to be there; one without a value is met by any value. */
function tagConditions({ entityType, tags }: TagFilter): readonly Condition[] {
  const entity = entityType ?? "DEPLOYMENT";
  if (entity === "SERVICE" || entity === "ENVIRONMENT")
    throw problem("execution.filter_unsupported", [`tag with the entityType ${entity}`]);
  return given("tag", tags).map(({ name, value }): Condition => {
    if (entity === "DEPLOYMENT") return tagged(name, value);
    if (!value) return { is: "projectTagNamed", value: storable(name) };
    return { is: "projectTagIs", value: JSON.stringify({ [storable(name)]: storable(value) }) };
  });
}
