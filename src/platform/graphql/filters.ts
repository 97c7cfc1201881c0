/** Filters that lists of several slices share. */
import type { Builder } from "./builder.ts";

export const ID_OPERATORS = ["EQUALS", "IN", "LIKE", "NOT_IN", "NOT_NULL"] as const;

type Maybe<T> = T | null | undefined;
export type IdFilter = {
  readonly operator: (typeof ID_OPERATORS)[number];
  readonly values?: Maybe<readonly Maybe<string>[]>;
};
export type TagInput = { readonly name: string; readonly value?: Maybe<string> };

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
