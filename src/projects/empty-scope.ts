import type { RemovedReference, Leaving } from "../platform/removed-reference.ts";
import type { Uuid } from "../core/ids.ts";
import type { Tx } from "../platform/db/db.ts";
import { concatResults } from "../platform/sequences.ts";

type ProjectOrNone =
  | { readonly projectIdentifier: string; readonly projectId: Uuid }
  | { readonly projectIdentifier: null; readonly projectId: null };

/**
 * Removes what a slice keeps in the scope, inside the transaction of the deletion, and answers what that was. Throws `core.referenced` where
 * something is at work that must not be cut off. The row of the scope is locked, so that nothing new comes into it
 * meanwhile: what is kept in a scope has a foreign key to it.
 */
export type EmptyScope = (tx: Tx, scope: Leaving & ProjectOrNone) => Promise<readonly RemovedReference[]>;

/** Each slice that keeps things in scopes empties them, in turn. */
export const emptyScopeOfAll =
  (slices: () => readonly { readonly emptyScope: EmptyScope }[]): EmptyScope =>
  (tx, scope) =>
    concatResults(...slices().map(({ emptyScope }) => emptyScope))(tx, scope);
