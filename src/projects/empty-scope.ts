import type { RemovedReference, DeletedScope } from "../platform/removed-reference.ts";
import type { Uuid } from "../core/ids.ts";
import type { Tx } from "../platform/db/db.ts";
import { concatResults } from "../platform/sequences.ts";

type ProjectOrNone =
  | { readonly projectIdentifier: string; readonly projectId: Uuid }
  | { readonly projectIdentifier: null; readonly projectId: null };

/**
 * Deletes the resources of a slice in a scope, in the transaction that deletes the scope, and returns them. Throws
 * `core.referenced` if a resource is in use, such as a running execution. The row of the scope is locked and resources
 * have a foreign key to it, so none is added meanwhile.
 */
export type EmptyScope = (tx: Tx, scope: DeletedScope & ProjectOrNone) => Promise<readonly RemovedReference[]>;

/** Calls `emptyScope` of each slice, one after the other. */
export const emptyScopeOfAll =
  (slices: () => readonly { readonly emptyScope: EmptyScope }[]): EmptyScope =>
  (tx, scope) =>
    concatResults(...slices().map(({ emptyScope }) => emptyScope))(tx, scope);
