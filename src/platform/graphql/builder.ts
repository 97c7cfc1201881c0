/** The schema builder that the slices add their types to, and the common parts of their lists. */
import SchemaBuilder, { type EnumRef, type FieldMap, type InterfaceRef, type ObjectRef } from "@pothos/core";
import { GraphQLScalarType, Kind } from "graphql";
import type { Actor } from "../../core/actor.ts";
import type { Page } from "../../core/page.ts";
import { DEFAULT_LIMIT, MAX_LIMIT } from "./list-limits.ts";
import type { UploadedFile } from "../http/request/file-pages.ts";
import { problem } from "./problems.ts";

/** What the resolvers of one request get besides their arguments. */
export type GraphqlContext = {
  readonly actor: Actor;
  /** The form's file, for the one field of the operation whose extension `upload` takes it. */
  readonly file?: UploadedFile | undefined;
  /** The header `Idempotency-Key`. */
  readonly idempotencyKey?: string | readonly string[] | undefined;
};

type SchemaTypes = {
  Context: GraphqlContext;
  Scalars: { Long: { Input: number; Output: number } };
  Objects: { PageInfo: PageInfo; Tag: Tag };
};

type Types = PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>;
/** The builder of the schema: each slice adds its types to the same one. */
export type Builder = PothosSchemaTypes.SchemaBuilder<Types>;
/** A type of the schema whose values are `T`; a slice passes its types to later slices. */
export type NodeRef<T> = ObjectRef<Types, T>;
/** As `NodeRef`, for an enumeration. */
export type EnumNodeRef<T> = EnumRef<Types, T>;
/** As `NodeRef`, for an interface. */
export type InterfaceNodeRef<T> = InterfaceRef<Types, T>;

/** Whole numbers beyond 32 bits, as JSON numbers: epoch milliseconds. */
const long = new GraphQLScalarType<number, number>({
  name: "Long",
  description: "A whole number of up to 53 bits, as in epoch milliseconds.",
  serialize: (value) => Number(value),
  parseValue: (value) => wholeNumber(value),
  parseLiteral: (node) => {
    if (node.kind !== Kind.INT) throw new TypeError("Long takes a whole number.");
    return wholeNumber(Number(node.value));
  },
});

function wholeNumber(value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw new TypeError("Long takes a whole number of up to 53 bits.");
}

/** Has the types that slices share: `Long`, `PageInfo` and `Tag`. Called once for each schema. */
export function createBuilder(): Builder {
  const builder = new SchemaBuilder<SchemaTypes>({});
  builder.addScalarType("Long", long);
  builder.queryType({});
  builder.mutationType({});
  builder.objectType("PageInfo", {
    fields: (t) => ({
      limit: t.exposeInt("limit"),
      offset: t.exposeInt("offset"),
      total: t.int({ resolve: (page) => page.total() }),
      hasMore: t.boolean({ resolve: (page) => page.hasMore() }),
    }),
  });
  builder.objectType("Tag", { fields: (t) => ({ name: t.exposeString("name"), value: t.exposeString("value") }) });
  return builder;
}

/** The type `Tag`: one entry of a map of tags. */
export type Tag = { readonly name: string; readonly value: string };

/** The map as values of the type `Tag`, in its order. */
export const tagsOf = (map: Readonly<Record<string, string>>): Tag[] =>
  Object.entries(map).map(([name, value]) => ({ name, value }));

/** `total` and `hasMore` count the matches, only when they are selected. */
type PageInfo = {
  readonly limit: number;
  readonly offset: number;
  readonly total: () => Promise<number>;
  readonly hasMore: () => Promise<boolean>;
};

/** The type `{nodes, pageInfo}` of a list. */
export type List<T> = { readonly nodes: readonly T[]; readonly pageInfo: () => PageInfo };

/** Declares a list type under this name. `listOf` makes its values. */
export function listType<T>(builder: Builder, name: string, node: NodeRef<T> | InterfaceNodeRef<T>): NodeRef<List<T>> {
  const ref = builder.objectRef<List<T>>(name);
  ref.implement({
    fields: (t) => ({
      nodes: t.field({ type: [node], resolve: (list) => list.nodes }),
      pageInfo: t.field({ type: "PageInfo", resolve: (list) => list.pageInfo() }),
    }),
  });
  return ref;
}

/** The page as a value of a list type. Counts the matches at most once, and only for a query that selects the count. */
export const listOf = <T>(page: Page<T>): List<T> => ({
  nodes: page.items,
  pageInfo: () => {
    const { limit, offset } = page;
    let counted: Promise<number> | undefined;
    const total = (): Promise<number> => (counted ??= page.total());
    return { limit, offset, total, hasMore: async () => offset + page.items.length < (await total()) };
  },
});

/** The answer of every mutation beside its own fields: the caller's `clientMutationId`, null when none was sent. */
export type Payload<T> = T & { readonly clientMutationId: string | null };

/**
 * The payload type of a mutation. Its input type has an optional `clientMutationId` of its own; `payloadOf` copies
 * it.
 */
export function payloadType<T extends object>(
  builder: Builder,
  name: string,
  fields: (t: PothosSchemaTypes.ObjectFieldBuilder<Types, Payload<T>>) => FieldMap = () => ({}),
): NodeRef<Payload<T>> {
  const ref = builder.objectRef<Payload<T>>(name);
  ref.implement({
    fields: (t) => ({
      clientMutationId: t.string({ resolve: (payload) => payload.clientMutationId }),
      ...fields(t),
    }),
  });
  return ref;
}

/** The value of a payload type: the result with the `clientMutationId` of the input. */
export const payloadOf = <T extends object>(
  input: { readonly clientMutationId?: string | null | undefined },
  result: T,
): Payload<T> => ({ ...result, clientMutationId: input.clientMutationId ?? null });

/**
 * `limit` and `offset` of a list query: 100 and 0 by default. A limit above 1000 is reduced to it, and `pageInfo`
 * shows the limit.
 */
export function window(args: {
  readonly limit?: number | null | undefined;
  readonly offset?: number | null | undefined;
}): { limit: number; offset: number } {
  const { limit, offset } = { limit: args.limit ?? DEFAULT_LIMIT, offset: args.offset ?? 0 };
  if (limit < 0) throw problem("graphql.negative", ["limit"]);
  if (offset < 0) throw problem("graphql.negative", ["offset"]);
  return { limit: Math.min(limit, MAX_LIMIT), offset };
}

/** The window as the variant of a batch: fields with equal windows share a statement. */
export const windowToVariant = ({ limit, offset }: { readonly limit: number; readonly offset: number }): string =>
  `${limit} ${offset}`;

/** The window of a variant that `windowToVariant` wrote. */
export function variantToWindow(variant: string): { limit: number; offset: number } {
  const [limit = 0, offset = 0] = variant.split(" ").map(Number);
  return { limit, offset };
}
