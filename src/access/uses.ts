/** Who names a thing, so that it is not deleted without force: for every kind of thing that others name. */
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
 * Notes what something names, in the transaction that saves it; what it named before is forgotten, so an empty list
 * says that it is gone. References are read from where it lives. What they name stays until the transaction ends, and
 * from then on is not deleted without force. Throws `absent` of the kind.
 */
export type NoteUses = (tx: Tx, accountId: Uuid, user: Namer, references: readonly string[]) => Promise<void>;

type Kind = {
  readonly things: Things;
  readonly uses: UsesTable;
  /** As refusals call it. */
  readonly what: string;
  /**
   * The refusal of a reference that names nothing. Without it one that may name something later is noted, and one
   * that never can (`<+…>`) is passed over.
   */
  readonly absent?: (reference: string) => Error;
};

export type Uses = {
  readonly note: NoteUses;
  /** For a thing that is locked `for update`: whoever names it from now on waits, and finds it gone. Throws `core.referenced`. */
  readonly refuseUsed: (tx: Tx, actor: Actor, thing: Referred) => Promise<void>;
  /** For a project, or an organization itself, that goes: what lies there names nothing any more. */
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
