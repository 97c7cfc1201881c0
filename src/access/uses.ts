/** Recorded references between resources, so that a referenced one is deleted only with force. */
import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import { commonProblem } from "../core/problems.ts";
import { referred, type Referred } from "../core/reference.ts";
import type { Tx } from "../platform/db/db.ts";
import type { Leaving } from "../platform/removed-reference.ts";
import { named, type Things } from "./store/named.ts";
import { deleteUsesOf, replaceUses, usersOf, type UsesTable } from "./store/uses.ts";
import { usersTold, type Namer } from "./users-told.ts";

/**
 * Records the references of a resource, in the transaction that saves it, and replaces earlier ones; an empty list
 * removes all. References are resolved from the resource's scope. Referenced resources are locked until the transaction
 * ends, and then deleted only with force. Throws `absent` of the kind.
 */
export type NoteUses = (tx: Tx, accountId: Uuid, user: Namer, references: readonly string[]) => Promise<void>;

type Kind = {
  readonly things: Things;
  readonly uses: UsesTable;
  /** The noun in refusals. */
  readonly what: string;
  /**
   * The error for a reference without a target. Without this function, such a reference is recorded, since its target
   * may be created later, and an expression (`<+…>`) is skipped.
   */
  readonly absent?: (reference: string) => Error;
};

export type Uses = {
  readonly note: NoteUses;
  /**
   * Called with the resource locked `for update`: a later reference waits and then finds it deleted. Throws
   * `core.referenced`.
   */
  readonly refuseUsed: (tx: Tx, actor: Actor, thing: Referred) => Promise<void>;
  /** Removes the references from all resources of a deleted project or organization. */
  readonly forgetAt: (tx: Tx, scope: Leaving) => Promise<void>;
};

export function createUses({ things, uses, what, absent }: Kind): Uses {
  return {
    async note(tx, accountId, user, references) {
      const given = references.flatMap((reference) => {
        const key = referred(reference, user);
        if (!key && absent) throw absent(reference);
        return key ? [{ reference, key }] : [];
      });
      const keys = given.map(({ key }) => key);
      const held = await named(tx, things, accountId, keys, "hold");
      const missing = given.find((_, at) => !held.has(at));
      if (missing && absent) throw absent(missing.reference);
      await replaceUses(tx, uses, accountId, user, keys);
    },
    async refuseUsed(tx, actor, thing) {
      const users = await usersOf(tx, uses, actor.accountId, thing);
      if (users.length > 0) throw commonProblem("core.referenced", [what, thing.identifier, usersTold(actor, users)]);
    },
    forgetAt: (tx, scope) => deleteUsesOf(tx, uses, scope),
  };
}
