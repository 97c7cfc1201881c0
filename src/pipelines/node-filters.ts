/** Filters of GraphQL `pipelines`. Those of a list are ANDed, and so are the keys of one. */
import { fromWire } from "../core/ids.ts";
import { checkLikeFilters, type IdFilter, type TagInput } from "../platform/graphql/filters.ts";
import { problem } from "./problems.ts";
import type { NodeCondition } from "./store/nodes.ts";

type Maybe<T> = T | null | undefined;
export type PipelineFilter = {
  readonly application?: Maybe<IdFilter>;
  readonly pipeline?: Maybe<IdFilter>;
  readonly tag?: Maybe<{
    readonly entityType?: Maybe<"PIPELINE">;
    readonly tags?: Maybe<readonly Maybe<TagInput>[]>;
  }>;
};

const FILTERS_AT_MOST = 20;
const VALUES_AT_MOST = 1_000;

/** Throws `pipeline.bad_filter` and the problems of `checkLikeFilters`. */
export function conditionsOf(filters: readonly Maybe<PipelineFilter>[]): readonly NodeCondition[] {
  if (filters.length > FILTERS_AT_MOST) throw problem("pipeline.bad_filter", [`at most ${FILTERS_AT_MOST} are taken`]);
  checkLikeFilters(filters);
  return filters.flatMap((filter) => [
    ...idConditions("application", "project", filter?.application),
    ...idConditions("pipeline", "pipeline", filter?.pipeline),
    ...tagConditions(filter?.tag),
  ]);
}

function idConditions(name: string, column: "project" | "pipeline", filter: Maybe<IdFilter>): readonly NodeCondition[] {
  if (!filter) return [];
  const values = given(name, filter.values);
  // What is no id at all names nothing, and so does not make the filter wrong.
  const ids = values.flatMap((text) => fromWire(text) ?? []);
  switch (filter.operator) {
    case "EQUALS":
    case "IN":
      return [{ is: `${column}In`, value: ids }];
    case "NOT_IN":
      return [{ is: `${column}NotIn`, value: ids }];
    case "LIKE":
      return [{ is: `${column}Like`, value: values }];
    case "NOT_NULL":
      // Every pipeline has both.
      return [];
  }
}

const tagConditions = (filter: PipelineFilter["tag"]): readonly NodeCondition[] =>
  given("tag", filter?.tags).map(({ name, value }) =>
    value ? { is: "tagIs", value: JSON.stringify({ [name]: value }) } : { is: "tagNamed", value: name },
  );

function given<T>(name: string, values: Maybe<readonly Maybe<T>[]>): readonly T[] {
  const found = (values ?? []).filter((value): value is T => value !== null && value !== undefined);
  if (found.length > VALUES_AT_MOST)
    throw problem("pipeline.bad_filter", [`${name} takes at most ${VALUES_AT_MOST} values`]);
  return found;
}
