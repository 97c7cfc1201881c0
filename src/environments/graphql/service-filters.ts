/** Filters of GraphQL `services`. The filters of a list are combined with AND, and so are the keys of a filter. */
import { fromWire } from "../../core/ids.ts";
import { checkLikeFilters, type IdFilter, type TagInput } from "../../platform/graphql/filters.ts";
import { problem } from "../problems.ts";
import type { ServiceCondition } from "../store/services.ts";

export const DEPLOYMENT_TYPES = [
  ...["AMI", "AWS_CODEDEPLOY", "AWS_LAMBDA", "AZURE_VMSS", "AZURE_WEBAPP", "Custom", "ECS", "HELM"],
  ...["KUBERNETES", "PCF", "SSH", "WINRM"],
] as const;
export const DEPLOYMENT_TYPE_OPERATORS = ["EQUALS", "IN"] as const;
export const TAGGED = ["APPLICATION", "SERVICE"] as const;

type Maybe<T> = T | null | undefined;
export type ServiceFilter = {
  readonly application?: Maybe<IdFilter>;
  readonly service?: Maybe<IdFilter>;
  readonly deploymentType?: Maybe<{
    readonly operator: (typeof DEPLOYMENT_TYPE_OPERATORS)[number];
    readonly values?: Maybe<readonly Maybe<string>[]>;
  }>;
  readonly tag?: Maybe<{
    readonly entityType?: Maybe<(typeof TAGGED)[number]>;
    readonly tags?: Maybe<readonly Maybe<TagInput>[]>;
  }>;
};

const FILTERS_AT_MOST = 20;
const VALUES_AT_MOST = 1_000;

/** Maps filters to conditions. Throws `service.bad_filter` and the problems of `checkLikeFilters`. */
export function conditionsOf(filters: readonly Maybe<ServiceFilter>[]): readonly ServiceCondition[] {
  if (filters.length > FILTERS_AT_MOST) throw problem("service.bad_filter", [`at most ${FILTERS_AT_MOST} are taken`]);
  checkLikeFilters(filters);
  return filters.flatMap((filter) => [
    ...idConditions("application", filter?.application),
    ...idConditions("service", filter?.service),
    ...typeConditions(filter?.deploymentType),
    ...tagConditions(filter?.tag),
  ]);
}

function idConditions(noun: "application" | "service", filter: Maybe<IdFilter>): readonly ServiceCondition[] {
  if (!filter) return [];
  const values = given(noun, filter.values);
  // A malformed id matches nothing; it is not an error.
  const ids = values.flatMap((text) => fromWire(text) ?? []);
  switch (filter.operator) {
    case "EQUALS":
    case "IN":
      return [{ is: `${noun}In`, value: ids }];
    case "NOT_IN":
      return [{ is: `${noun}NotIn`, value: ids }];
    case "LIKE":
      return [{ is: `${noun}Like`, value: values }];
    case "NOT_NULL":
      // Every service has both, so NOT_NULL matches all.
      return [];
  }
}

/** All services have the type KUBERNETES, because others are rejected when they are saved. */
const typeConditions = (filter: ServiceFilter["deploymentType"]): readonly ServiceCondition[] =>
  !filter || given("deploymentType", filter.values).includes("KUBERNETES") ? [] : [{ is: "never", value: true }];

function tagConditions(filter: ServiceFilter["tag"]): readonly ServiceCondition[] {
  const noun = filter?.entityType === "APPLICATION" ? "application" : "service";
  return given("tag", filter?.tags).map(({ name, value }) =>
    value ? { is: `${noun}TagIs`, value: JSON.stringify({ [name]: value }) } : { is: `${noun}TagNamed`, value: name },
  );
}

function given<T>(name: string, values: Maybe<readonly Maybe<T>[]>): readonly T[] {
  const found = (values ?? []).filter((value): value is T => value !== null && value !== undefined);
  if (found.length > VALUES_AT_MOST)
    throw problem("service.bad_filter", [`${name} takes at most ${VALUES_AT_MOST} values`]);
  return found;
}
