import type { Uuid } from "../../core/ids.ts";
import type { Referred } from "../../core/reference.ts";
import type { QueryTuples, Store } from "../../platform/db/db.ts";

/** Tables of other slices whose rows can be referenced by scope and identifier. */
export type Things = "connectors" | "environments" | "secrets" | "services";

type NamedKeys = { readonly things: Things; readonly keys: readonly Referred[] };

const search = (things: Things): string =>
  `select k.nth, thing.id from unnest($2::text[], $3::text[], $4::text[]) with ordinality as k (org, project, identifier, nth)
     join ${things} thing on thing.account_id = $1 and thing.identifier = k.identifier
      and thing.org_identifier is not distinct from k.org and thing.project_identifier is not distinct from k.project`;

/**
 * The ids of the referenced rows, by their index in the list of keys, from 0. Runs at most one statement. Searches of
 * one turn of the event loop share a connection, for example those for all kinds of things that a run uses.
 */
export async function findNamed(
  db: { readonly tuples: QueryTuples },
  accountId: Uuid,
  { things, keys }: NamedKeys,
): Promise<ReadonlyMap<number, Uuid>> {
  if (keys.length === 0) return new Map();
  const rows = await db.tuples<[nth: number, id: Uuid]>(search(things), [accountId, ...columnsOf(keys)]);
  return new Map(rows.map(([nth, id]) => [nth - 1, id]));
}

/**
 * As `findNamed`, and locks the rows against deletion until the transaction ends. They can still be referenced and
 * changed.
 */
export async function lockNamed(
  tx: Store,
  accountId: Uuid,
  { things, keys }: NamedKeys,
): Promise<ReadonlyMap<number, Uuid>> {
  if (keys.length === 0) return new Map();
  const rows = await tx.query<{ nth: number; id: Uuid }>(`${search(things)} for key share of thing`, [
    accountId,
    ...columnsOf(keys),
  ]);
  return new Map(rows.map(({ nth, id }) => [nth - 1, id]));
}

/** The keys as arguments of `unnest`: organizations, projects, identifiers. */
export const columnsOf = (keys: readonly Referred[]): readonly (readonly (string | null)[])[] => [
  keys.map((key) => key.orgIdentifier),
  keys.map((key) => key.projectIdentifier),
  keys.map((key) => key.identifier),
];
