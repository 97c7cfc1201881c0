/** Compiled grants by principal, valid for a second and until the next change in the account. */
import type { Clock } from "../../core/clock.ts";
import type { Grants } from "../../core/grants.ts";
import type { Uuid } from "../../core/ids.ts";
import { createLru } from "../../platform/lru.ts";
import type { VersionedRow } from "../store/grants.ts";
import { compile } from "./compile.ts";

const CACHE_MS = 1_000;
const MAX_CACHED = 10_000;

type CacheEntry = {
  readonly grants: Grants;
  readonly version: string;
  readonly until: number;
  readonly change: number;
};

const NO_ROWS = "0";
const versionOf = (rows: readonly VersionedRow[]): string =>
  String(rows.reduce((sum, { version }) => sum + BigInt(version), 0n));

export function createGrantCache(clock: Pick<Clock, "now">) {
  const cache = createLru<string, CacheEntry>(MAX_CACHED);
  // Counts the changes of each account: grants read before a change are not cached after it.
  const changes = new Map<Uuid, number>();
  let changesOfAll = 0;
  const changeOf = (accountId: Uuid): number => changesOfAll + (changes.get(accountId) ?? 0);
  const keyOf = (accountId: Uuid, id: Uuid): string => `${accountId} ${id}`;

  return {
    invalidate: (accountId: Uuid): void => void changes.set(accountId, (changes.get(accountId) ?? 0) + 1),
    invalidateAll(): void {
      changesOfAll += 1;
    },
    /** The grants of a principal, if they are valid now. */
    get(accountId: Uuid, id: Uuid): Grants | undefined {
      const known = cache.get(keyOf(accountId, id));
      return known && known.change === changeOf(accountId) && known.until > clock.now() ? known.grants : undefined;
    },
    /** Whether there are grants of the principal, valid or outdated. */
    has: (accountId: Uuid, id: Uuid): boolean => cache.get(keyOf(accountId, id)) !== undefined,
    /** Called before rows or versions are read from the database. Returns functions that cache what was read. */
    beginRead(accountId: Uuid) {
      const [until, change] = [clock.now() + CACHE_MS, changeOf(accountId)];
      return {
        add(id: Uuid, rows: readonly VersionedRow[]): Grants {
          const grants = compile(rows);
          cache.set(keyOf(accountId, id), { grants, version: versionOf(rows), until, change });
          return grants;
        },
        /** Makes outdated grants valid again if this is still their version. */
        renew(id: Uuid, version: string = NO_ROWS): void {
          const known = cache.get(keyOf(accountId, id));
          if (known?.version === version) cache.set(keyOf(accountId, id), { ...known, until, change });
        },
      };
    },
  };
}
