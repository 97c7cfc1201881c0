import type { Actor } from "../core/actor.ts";
import { referred, scopeOf, type Place, type Referred } from "../core/reference.ts";
import type { Uuid } from "../core/ids.ts";
import type { Db } from "../platform/db/db.ts";
import { authorize, permits } from "./permits.ts";
import { named } from "./store/named.ts";

/**
 * Which of the references (`account.x`, `org.x`, `x`), standing in a thing that lives at `home`, name something: an
 * answer for each, in order, by one statement. What the actor may not see does not exist; what it may see and not
 * use, it is refused: `access.not_permitted`.
 *
 * For what a run uses, which therefore has a permission to be used as well as to be seen.
 */
export const createExist =
  ({ db }: { readonly db: Pick<Db, "query"> }, noun: "connector" | "environment" | "service") =>
  async (actor: Actor, home: Place, references: readonly string[]): Promise<readonly boolean[]> => {
    const mayUse = (key: Referred): boolean => {
      const scope = scopeOf(actor.accountId, key);
      if (!permits(actor, `core_${noun}_view`, scope, key.identifier)) return false;
      // A run is about to use it: to see it is not enough.
      authorize(actor, `core_${noun}_access`, scope, key.identifier);
      return true;
    };
    const asked = references.flatMap((reference, at) => {
      const key = referred(reference, home);
      return key && mayUse(key) ? [{ at, key }] : [];
    });
    const keys = asked.map(({ key }) => key);
    const found = await named(db, `${noun}s`, actor.accountId, keys);
    const there = new Set(asked.filter((_, nth) => found.has(nth)).map(({ at }) => at));
    return references.map((_, at) => there.has(at));
  };

export type Exist = ReturnType<typeof createExist>;

/** The ids of what the references name, whoever asks; what does not exist is missing. By one statement, or by none. */
export const findIds =
  ({ db }: { readonly db: Pick<Db, "query"> }, noun: "connector" | "environment" | "service") =>
  async (accountId: Uuid, home: Place, references: readonly string[]): Promise<ReadonlyMap<string, Uuid>> => {
    const asked = [...new Set(references)].flatMap((reference) => {
      const key = referred(reference, home);
      return key ? [{ reference, key }] : [];
    });
    const found = await named(
      db,
      `${noun}s`,
      accountId,
      asked.map(({ key }) => key),
    );
    return new Map([...found].flatMap(([nth, id]) => (asked[nth] ? [[asked[nth].reference, id]] : [])));
  };

export type FindIds = ReturnType<typeof findIds>;
