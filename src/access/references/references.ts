/** Recorded references between resources, so that a referenced one is deleted only with force. */
import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import { commonProblem } from "../../core/problems.ts";
import { referred, type Referred } from "../../core/reference.ts";
import type { Store, Tx } from "../../platform/db/db.ts";
import type { DeletedScope } from "../../platform/removed-reference.ts";
import { lockNamed, type Things } from "../store/named.ts";
import { deleteReferenceRows, replaceReferences, findReferencing, type ReferenceTable } from "../store/references.ts";
import { describeReferencing, type ReferenceSource } from "./describe-referencing.ts";
import { listUsedBy, type UsedBy } from "./used-by.ts";

/**
 * Records the references of a resource, in the transaction that saves it, and replaces earlier ones; an empty list
 * removes all. References are resolved from the resource's scope. Referenced resources are locked until the transaction
 * ends, and then deleted only with force. Throws `absent` of the kind.
 */
export type RecordReferences = (
  tx: Tx,
  accountId: Uuid,
  user: ReferenceSource,
  references: readonly string[],
) => Promise<void>;

type Kind = {
  readonly things: Things;
  readonly uses: ReferenceTable;
  /** The noun in refusals. */
  readonly what: string;
  /**
   * The error for a reference without a target. Without this function, such a reference is recorded, since its target
   * may be created later, and an expression (`<+…>`) is skipped.
   */
  readonly absent?: (reference: string) => Error;
};

export type References = {
  readonly note: RecordReferences;
  /**
   * Called with the resource locked `for update`: a later reference waits and then finds it deleted. Throws
   * `core.referenced`.
   */
  readonly requireUnreferenced: (tx: Tx, actor: Actor, thing: Referred) => Promise<void>;
  /** What names a resource that the actor may see, which the caller checks. */
  readonly listUsedBy: (
    db: Store,
    actor: Actor,
    thing: Referred,
    window: { readonly limit: number; readonly offset: number },
  ) => Promise<UsedBy>;
  /** Removes the references from all resources of a deleted project or organization. */
  readonly deleteReferencesOf: (tx: Tx, scope: DeletedScope) => Promise<void>;
};

/** The recorded references to one kind of resource. The slice of that kind calls it once. */
export function createReferences({ things, uses, what, absent }: Kind): References {
  return {
    async note(tx, accountId, user, references) {
      const given = references.flatMap((reference) => {
        const key = referred(reference, user);
        if (!key && absent) throw absent(reference);
        return key ? [{ reference, key }] : [];
      });
      const keys = given.map(({ key }) => key);
      const ids = await lockNamed(tx, accountId, { things, keys });
      const missing = given.find((_, at) => !ids.has(at));
      if (missing && absent) throw absent(missing.reference);
      await replaceReferences(tx, accountId, { uses, user, keys });
    },
    async requireUnreferenced(tx, actor, thing) {
      const referencing = await findReferencing(tx, actor.accountId, { uses, key: thing });
      if (referencing.length > 0)
        throw commonProblem("core.referenced", [what, thing.identifier, describeReferencing(actor, referencing)]);
    },
    listUsedBy: (db, actor, key, window) => listUsedBy(db, actor, { uses, key, window }),
    deleteReferencesOf: (tx, scope) => deleteReferenceRows(tx, uses, scope),
  };
}
