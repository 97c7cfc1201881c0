import type { Actor } from "../../core/actor.ts";
import { referred, scopeOf, type Place, type Referred } from "../../core/reference.ts";
import type { Db } from "../../platform/db/db.ts";
import { authorize, permits } from "../grants/permits.ts";
import { findNamed } from "../store/named.ts";

/**
 * Returns, for each reference (`account.x`, `org.x`, `x`) of a resource at `home`, whether it names an existing one.
 * Runs one statement. A resource that the actor may not view does not exist; one that it may view but not use is
 * refused with `access.not_permitted`. For resources that a run uses, which have an `access` permission besides `view`.
 */
export const createExist =
  ({ db }: { readonly db: Pick<Db, "tuples"> }, noun: "connector" | "environment" | "service") =>
  async (actor: Actor, home: Place, references: readonly string[]): Promise<readonly boolean[]> => {
    const mayUse = (key: Referred): boolean => {
      const scope = scopeOf(actor.accountId, key);
      if (!permits(actor, `core_${noun}_view`, scope, key.identifier)) return false;
      // The run uses it, so permission to view is not enough.
      authorize(actor, `core_${noun}_access`, scope, key.identifier);
      return true;
    };
    const asked = references.flatMap((reference, at) => {
      const key = referred(reference, home);
      return key && mayUse(key) ? [{ at, key }] : [];
    });
    const keys = asked.map(({ key }) => key);
    const found = await findNamed(db, actor.accountId, { things: `${noun}s`, keys });
    const there = new Set(asked.filter((_, nth) => found.has(nth)).map(({ at }) => at));
    return references.map((_, at) => there.has(at));
  };

/**
 * Whether each reference names a resource that the actor may use. Throws `access.not_permitted` for one that it may
 * only view.
 */
export type Exist = ReturnType<typeof createExist>;
