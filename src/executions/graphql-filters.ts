import type { Builder } from "../platform/graphql/builder.ts";
import { commonFilters } from "../platform/graphql/filters.ts";
import {
  ID_RULES,
  NUMBER_OPERATORS,
  TAG_ENTITIES,
  TIME_OPERATORS,
  TIME_RULES,
  UNSUPPORTED,
  type GraphqlFilter,
} from "./wire/graphql-filters.ts";

/** `ExecutionFilter` and the filters in it. */
export function addFilterTypes(builder: Builder) {
  const { IdFilter, TagInput } = commonFilters(builder);
  const TimeOperator = builder.enumType("TimeOperator", { values: TIME_OPERATORS });
  const NumericOperator = builder.enumType("NumericOperator", { values: NUMBER_OPERATORS });
  const TagType = builder.enumType("DeploymentTagType", { values: TAG_ENTITIES });
  const TimeFilter = builder.inputType("TimeFilter", {
    fields: (t) => ({
      operator: t.field({ type: TimeOperator, required: true }),
      value: t.field({ type: "Long", required: true }),
    }),
  });
  const NumberFilter = builder.inputType("NumberFilter", {
    fields: (t) => ({
      operator: t.field({ type: NumericOperator, required: true }),
      values: t.intList({ required: { list: false, items: false } }),
    }),
  });
  const TagFilter = builder.inputType("DeploymentTagFilter", {
    fields: (t) => ({
      entityType: t.field({ type: TagType }),
      tags: t.field({ type: [TagInput], required: { list: false, items: false } }),
    }),
  });
  return builder.inputRef<GraphqlFilter>("ExecutionFilter").implement({
    fields: (t) => ({
      ...fieldsOf([...Object.keys(ID_RULES), ...UNSUPPORTED], () => t.field({ type: IdFilter })),
      ...fieldsOf(Object.keys(TIME_RULES), () => t.field({ type: TimeFilter })),
      duration: t.field({ type: NumberFilter, description: "Milliseconds from start to end." }),
      tag: t.field({ type: TagFilter }),
    }),
  });
}

const fieldsOf = <F>(names: readonly string[], field: () => F): { [name: string]: F } =>
  Object.fromEntries(names.map((name) => [name, field()]));
