/** Who names which thing. The things are those of other slices, which say where they lie. */
import type { Uuid } from "../../core/ids.ts";
import type { Place, Referred } from "../../core/reference.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { Namer, UserOfThing } from "../users-told.ts";

/** Where things of a kind lie, and where it is noted who names them: tables of the same shape for every kind. */
export type UseTables =
  | { readonly things: "connectors"; readonly uses: "connector_uses" }
  | { readonly things: "secrets"; readonly uses: "secret_uses" };

/** From now on the user names exactly these things. */
export async function replaceUses(
  tx: Tx,
  { uses }: UseTables,
  accountId: Uuid,
  user: Namer,
  keys: readonly Referred[],
): Promise<void> {
  await tx.query(`delete from ${uses} where account_id = $1 and user_type = $2 and user_id = $3`, [
    accountId,
    user.type,
    user.id,
  ]);
  if (keys.length === 0) return;
  await tx.query(
    `insert into ${uses} (account_id, user_type, user_id, user_org_identifier, user_project_identifier,
                          user_identifier, org_identifier, project_identifier, identifier)
     select distinct $1::uuid, $2, $3::uuid, $4, $5, $6, org, project, identifier
       from unnest($7::text[], $8::text[], $9::text[]) as k (org, project, identifier)`,
    [accountId, user.type, user.id, user.orgIdentifier, user.projectIdentifier, user.identifier, ...columnsOf(keys)],
  );
}

/**
 * Keeps things from going until the transaction ends; answers which of the keys name one, by their place in the list,
 * counted from 1. Others may name and change them meanwhile: only a deletion waits.
 */
export async function holdThings(
  tx: Tx,
  { things }: UseTables,
  accountId: Uuid,
  keys: readonly Referred[],
): Promise<ReadonlySet<number>> {
  if (keys.length === 0) return new Set();
  const rows = await tx.query<{ nth: number }>(
    `select k.nth from unnest($2::text[], $3::text[], $4::text[]) with ordinality as k (org, project, identifier, nth)
       join ${things} thing on thing.account_id = $1 and thing.identifier = k.identifier
        and thing.org_identifier is not distinct from k.org and thing.project_identifier is not distinct from k.project
        for key share of thing`,
    [accountId, ...columnsOf(keys)],
  );
  return new Set(rows.map(({ nth }) => nth));
}

/** Who names the thing. */
export const usersOf = (tx: Tx, { uses }: UseTables, accountId: Uuid, key: Referred): Promise<readonly UserOfThing[]> =>
  tx.query<UserOfThing>(
    `select user_type as type, user_org_identifier as "orgIdentifier", user_project_identifier as "projectIdentifier",
            user_identifier as identifier
       from ${uses}
      where account_id = $1 and identifier = $2 and org_identifier is not distinct from $3
        and project_identifier is not distinct from $4
      order by user_type, user_id`,
    [accountId, key.identifier, key.orgIdentifier, key.projectIdentifier],
  );

/** What is noted of users that lie at the place itself. */
export async function deleteUsesOf(tx: Tx, { uses }: UseTables, accountId: Uuid, place: Place): Promise<void> {
  await tx.query(
    `delete from ${uses} where account_id = $1 and user_org_identifier is not distinct from $2
        and user_project_identifier is not distinct from $3`,
    [accountId, place.orgIdentifier, place.projectIdentifier],
  );
}

const columnsOf = (keys: readonly Referred[]): readonly (readonly (string | null)[])[] => [
  keys.map((key) => key.orgIdentifier),
  keys.map((key) => key.projectIdentifier),
  keys.map((key) => key.identifier),
];
