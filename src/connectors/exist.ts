import type { Actor } from "../core/actor.ts";
import { referred, scopeOf, type Place, type Referred } from "../core/reference.ts";
import { authorize, type Permits } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import { existing } from "./store/connectors.ts";

/**
 * Which of the references (`account.x`, `org.x`, `x`), standing in a thing that lives at `home`, name a connector:
 * one answer for each, in order, by one statement. What the actor may not see does not exist; what it may see and not
 * use, it is refused: `access.not_permitted`.
 */
export type ConnectorsExist = (actor: Actor, home: Place, references: readonly string[]) => Promise<readonly boolean[]>;

export const makeConnectorsExist =
  (deps: { db: Db; permits: Permits }): ConnectorsExist =>
  async (actor, home, references) => {
    const visible = (key: Referred): boolean => {
      const scope = scopeOf(actor.accountId, key);
      if (!deps.permits(actor, "core_connector_view", scope, key.identifier)) return false;
      // A run is about to use it: to see it is not enough.
      authorize(actor, "core_connector_access", scope, key.identifier);
      return true;
    };
    const keys = references.map((reference) => {
      const key = referred(reference, home);
      return key && visible(key) ? key : undefined;
    });
    const asked = keys.filter((key): key is Referred => key !== undefined);
    const found = new Set(asked.length === 0 ? [] : await existing(deps.db, actor.accountId, asked));
    let nth = 0;
    return keys.map((key) => key !== undefined && found.has((nth += 1)));
  };
