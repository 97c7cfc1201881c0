/** The author of a document or execution, and the current state of their account. */
import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Tx } from "../../platform/db/db.ts";

/** The author of a document or execution. `system` is code of the server itself; no request acts as it. */
export type Author =
  | { readonly kind: "user" | "service_account"; readonly id: Uuid }
  | { readonly kind: "system"; readonly id: null };

/** The actor as an author. Delegates and triggers save and start nothing themselves. */
export function authorOf(actor: Actor): Author {
  if (actor.kind === "user" || actor.kind === "service_account") return { kind: actor.kind, id: actor.id };
  if (actor.kind === "system") return { kind: "system", id: null };
  throw new Error(`a ${actor.kind} saves no documents`);
}

/** The current state of an author's account. `actor` has the current grants; undefined unless the account is active. */
export type AuthorState = {
  readonly name: string;
  readonly email: string | null;
  readonly state: "active" | "deactivated" | "deleted";
  readonly actor: Actor | undefined;
};

/**
 * Returns the current account state of each author, in their order. Grants are at most a second old. With `tx`, it
 * reads in that transaction.
 */
export type FindAuthorStates = (
  accountId: Uuid,
  authors: readonly Author[],
  tx?: Pick<Tx, "query">,
) => Promise<readonly AuthorState[]>;

/** The columns `author_kind` and `author_id` as a store reads them. */
export type AuthorColumns = { readonly authorKind: Author["kind"] | null; readonly authorId: Uuid | null };

/** The author of a row. Null if the kind is null; a user or a service account always has an id. */
export function readAuthor({ authorKind: kind, authorId: id }: AuthorColumns): Author | null {
  if (kind === null) return null;
  if (kind === "system") return { kind, id: null };
  return id === null ? null : { kind, id };
}
