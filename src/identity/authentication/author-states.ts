import type { GrantsOfAll } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Author, AuthorState, FindAuthorStates } from "./author.ts";
import type { Db } from "../../platform/db/db.ts";
import { findAuthorAccounts, type AccountRow } from "../store/author-accounts.ts";

const SYSTEM = "the platform";
const DELETED: AuthorState = { name: "a deleted account", email: null, state: "deleted", actor: undefined };

export type AuthorStatesDeps = { readonly db: Pick<Db, "query">; readonly grantsOfAll: GrantsOfAll };

/** One statement for the accounts of all authors, and one per kind of account for grants that are not cached. */
export const createFindAuthorStates =
  (deps: AuthorStatesDeps): FindAuthorStates =>
  async (accountId, authors, tx) => {
    const db = tx ?? deps.db;
    const ids = [...new Set(authors.flatMap(({ id }) => (id === null ? [] : [id])))];
    const rows = ids.length === 0 ? [] : await findAuthorAccounts(db, accountId, ids);
    const active = rows.filter(({ state }) => state === "active");
    const grants = await deps.grantsOfAll(
      accountId,
      active.map(({ kind, id }) => ({ type: kind === "user" ? "USER" : "SERVICE_ACCOUNT", id })),
      db,
    );
    const found = new Map(rows.map((row) => [`${row.kind} ${row.id}`, row]));
    return authors.map((author) => stateOf(accountId, author, { found, grants }));
  };

type FoundAccounts = {
  /** By kind and id. */
  readonly found: ReadonlyMap<string, AccountRow>;
  readonly grants: Awaited<ReturnType<GrantsOfAll>>;
};

function stateOf(accountId: Uuid, author: Author, { found, grants }: FoundAccounts): AuthorState {
  if (author.kind === "system")
    return { name: SYSTEM, email: null, state: "active", actor: { kind: "system", accountId } };
  const row = found.get(`${author.kind} ${author.id}`);
  if (!row) return DELETED;
  const { id, name, email, state, identifier } = row;
  // Read for active accounts. Without role assignments it is an empty list.
  const ownGrants = grants.get(id);
  const who = { accountId, id, name, email, grants: ownGrants ?? [] };
  const actor: Actor =
    row.kind === "user" ? { ...who, kind: "user" } : { ...who, kind: "service_account", identifier: identifier ?? "" };
  return { name, email, state, actor: state === "active" && ownGrants ? actor : undefined };
}
