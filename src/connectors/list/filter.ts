/** The filter of a list of connectors in requests. */
import { z } from "zod";
import type { ConnectorFilter } from "../store/connectors.ts";
import { INHERITING_SPEC } from "../types/kubernetes-cluster.ts";
import { connectorTypes, typeNamed } from "../types/table.ts";
import { CATEGORIES, type Category } from "../types/type.ts";

const text = z.string().min(1).max(128);
const texts = z.array(text).max(1_000).nullish();

/** The body of `listV2`. An empty list is the same as a missing one. */
export const filterBody = z.strictObject({
  filterType: z.literal("Connector"),
  connectorNames: texts,
  connectorIdentifiers: texts,
  description: z.string().max(4_096).nullish(),
  types: texts,
  categories: z.array(z.enum(CATEGORIES)).max(CATEGORIES.length).nullish(),
  connectivityStatuses: z
    .array(z.enum(["SUCCESS", "FAILURE", "PARTIAL", "UNKNOWN"]))
    .max(4)
    .nullish(),
  inheritingCredentialsFromDelegate: z.boolean().nullish(),
  tags: z.record(z.string().min(1).max(128), z.string().max(256)).nullish(),
});

type FilterBody = z.output<typeof filterBody>;

const some = <T>(list: readonly T[] | null | undefined): readonly T[] | undefined =>
  list && list.length > 0 ? list : undefined;

export const filterOf = (body: FilterBody, searchTerm: string | undefined): ConnectorFilter => ({
  searchTerm,
  names: some(body.connectorNames),
  identifiers: some(body.connectorIdentifiers),
  description: body.description ?? undefined,
  types: intersectTypes(some(body.types), some(body.categories)),
  spec: partOfSpec(body.inheritingCredentialsFromDelegate),
  connectivity: some(body.connectivityStatuses),
  tags: body.tags && Object.keys(body.tags).length > 0 ? body.tags : undefined,
});

const partOfSpec = (inheriting: boolean | null | undefined): ConnectorFilter["spec"] =>
  typeof inheriting === "boolean" ? { part: INHERITING_SPEC, isContained: inheriting } : undefined;

/** The types that match both the names and the categories. Unknown names match nothing. */
export function intersectTypes(
  given: readonly string[] | undefined,
  categories: readonly Category[] | undefined,
): readonly string[] | undefined {
  const types = given?.map((name) => typeNamed(name)?.name ?? name);
  if (categories === undefined) return types;
  const named = connectorTypes.filter(({ category }) => categories.includes(category)).map(({ name }) => name);
  return types === undefined ? named : named.filter((name) => types.includes(name));
}
