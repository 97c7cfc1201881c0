/** Filters that lists of several slices share. */
import type { Builder } from "./builder.ts";
import { problem } from "./problems.ts";

export const ID_OPERATORS = ["EQUALS", "IN", "LIKE", "NOT_IN", "NOT_NULL"] as const;

type Maybe<T> = T | null | undefined;
/** Filters by ids, and with LIKE by parts of names. Clients may send null for `values` and inside of it. */
export type IdFilter = {
  readonly operator: (typeof ID_OPERATORS)[number];
  readonly values?: Maybe<readonly Maybe<string>[]>;
};
/** Filters by a tag. Without a value the tag may have any. */
export type TagInput = { readonly name: string; readonly value?: Maybe<string> };

/**
 * Values of all filters with LIKE of one list together: each is compared with each row that the other filters leave.
 */
const LIKE_VALUES_AT_MOST = 20;
/** Characters of one of them. Names have at most 128, addresses 254. */
const LIKE_LENGTH_AT_MOST = 256;

/**
 * Bounds the work of the filters with LIKE. Throws `graphql.too_many_like_values` and `graphql.like_value_too_long`.
 */
export function checkLikeFilters(filters: readonly Maybe<object>[]): void {
  let count = 0;
  for (const keys of filters)
    for (const [name, filter] of Object.entries(keys ?? {}) as [string, Maybe<IdFilter>][]) {
      if (filter?.operator !== "LIKE") continue;
      const texts = (filter.values ?? []).filter((text) => typeof text === "string");
      count += texts.length;
      if (count > LIKE_VALUES_AT_MOST)
        throw problem("graphql.too_many_like_values", [name, String(LIKE_VALUES_AT_MOST)]);
      if (texts.some((text) => text.length > LIKE_LENGTH_AT_MOST))
        throw problem("graphql.like_value_too_long", [name, String(LIKE_LENGTH_AT_MOST)]);
    }
}

const made = new WeakMap<Builder, ReturnType<typeof makeTypes>>();

/** The input types `IdFilter` and `TagInput`, created once for each schema, at their first use. */
export function commonFilters(builder: Builder): ReturnType<typeof makeTypes> {
  const types = made.get(builder) ?? makeTypes(builder);
  made.set(builder, types);
  return types;
}

function makeTypes(builder: Builder) {
  const IdOperator = builder.enumType("IdOperator", { values: ID_OPERATORS });
  return {
    IdFilter: builder.inputType("IdFilter", {
      fields: (t) => ({
        operator: t.field({ type: IdOperator, required: true }),
        values: t.stringList({ required: { list: false, items: false } }),
      }),
    }),
    TagInput: builder.inputType("TagInput", {
      fields: (t) => ({ name: t.string({ required: true }), value: t.string() }),
    }),
  };
}
