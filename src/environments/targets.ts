import { referred, type Place } from "../core/reference.ts";
import type { Uuid } from "../core/ids.ts";
import type { Db } from "../platform/db/db.ts";
import type { Entity, Environment, Kind } from "./entity.ts";
import { findNamedEntities } from "./store/named.ts";

/** What expressions read of a service or an environment. `type`: of an environment. */
export type Target = Pick<Entity, "identifier" | "name" | "description" | "tags"> & Partial<Pick<Environment, "type">>;

/** The referenced entities by their references, for every actor; unknown ones are missing. Runs at most one statement. */
export const findTargets =
  ({ db }: { readonly db: Pick<Db, "tuples"> }, kind: Kind) =>
  async (
    accountId: Uuid,
    home: Place,
    references: readonly string[],
  ): Promise<ReadonlyMap<string, { readonly id: Uuid; readonly target: Target }>> => {
    const asked = [...new Set(references)].flatMap((reference) => {
      const key = referred(reference, home);
      return key ? [{ reference, key }] : [];
    });
    const keys = asked.map(({ key }) => key);
    const found = await findNamedEntities(db, accountId, { kind, keys });
    return new Map(
      found.flatMap(({ nth, ...entity }) => (asked[nth] ? [[asked[nth].reference, entity] as const] : [])),
    );
  };

/** Services or environments that a run names. Checks no permission. */
export type FindTargets = ReturnType<typeof findTargets>;
