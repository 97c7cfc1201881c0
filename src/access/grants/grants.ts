/**
 * The grants of a principal, cached for a second. Unchanged grants stay the same object after that, so that streams do
 * not compare them again (grant-watcher.ts). They are part of the actor, so that a permission check reads nothing.
 * A change clears them after its commit, on other replicas by NOTIFY (invariant 9).
 */
import type { Clock } from "../../core/clock.ts";
import type { Grants } from "../../core/grants.ts";
import type { Uuid } from "../../core/ids.ts";
import { createLru } from "../../platform/lru.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { compile } from "./compile.ts";
import {
  findGrantsOfAll,
  findGrantVersions,
  findServiceAccountGrants,
  findUserGrants,
  type VersionedRow,
} from "../store/grants.ts";

const CACHE_MS = 1_000;
const MAX_CACHED = 10_000;
const CHANNEL = "railhead_access_changed";

/** A user or service account that holds grants. */
export type Principal = { readonly type: "USER" | "SERVICE_ACCOUNT"; readonly id: Uuid };

/** Returns grants synchronously from the cache, which is the usual case. */
export type GrantsOf = (accountId: Uuid, principal: Principal) => Grants | Promise<Grants>;

/** As GrantsOf for many principals. Reads missing ones with one statement per kind of principal, in `tx` if it is given. */
export type GrantsOfAll = (
  accountId: Uuid,
  principals: readonly Principal[],
  tx?: Pick<Tx, "query">,
) => Promise<ReadonlyMap<Uuid, Grants>>;

type CacheEntry = {
  readonly grants: Grants;
  readonly version: string;
  readonly until: number;
  readonly change: number;
};

const NO_ROWS = "0";
const versionOf = (rows: readonly VersionedRow[]): string =>
  String(rows.reduce((sum, { version }) => sum + BigInt(version), 0n));

export function createGrants({ db, clock, onError }: { db: Db; clock: Clock; onError: (error: unknown) => void }) {
  const cache = createLru<string, CacheEntry>(MAX_CACHED);
  // Counts the changes of each account: grants read before a change are not cached after it.
  const changes = new Map<Uuid, number>();
  let missedNotifications = 0;
  const changeOf = (accountId: Uuid): number => missedNotifications + (changes.get(accountId) ?? 0);
  const listeners = new Set<() => void>();
  const countChange = (accountId: Uuid): void => void changes.set(accountId, (changes.get(accountId) ?? 0) + 1);

  const stopListening = db.listen(CHANNEL, (payload) => {
    // An empty payload reports lost notifications, so every cached grant may be outdated.
    if (payload === "") missedNotifications += 1;
    else countChange(payload as Uuid);
    for (const listener of listeners) listener();
  });

  const keyOf = (accountId: Uuid, id: Uuid): string => `${accountId} ${id}`;

  function cachedOf(accountId: Uuid, id: Uuid): Grants | undefined {
    const known = cache.get(keyOf(accountId, id));
    return known && known.change === changeOf(accountId) && known.until > clock.now() ? known.grants : undefined;
  }

  /** Called before the rows are read. Returns a function that caches the grants made from them. */
  function prepareCaching(accountId: Uuid): (id: Uuid, rows: readonly VersionedRow[]) => Grants {
    const [until, change] = [clock.now() + CACHE_MS, changeOf(accountId)];
    return (id, rows) => {
      const grants = compile(rows);
      cache.set(keyOf(accountId, id), { grants, version: versionOf(rows), until, change });
      return grants;
    };
  }

  /** Caches the outdated grants of these principals again if they have not changed. */
  async function renewUnchanged(
    accountId: Uuid,
    principals: readonly Principal[],
    tx: Pick<Tx, "query">,
  ): Promise<void> {
    const [until, change] = [clock.now() + CACHE_MS, changeOf(accountId)];
    const outdated = principals.filter(({ id }) => cache.get(keyOf(accountId, id)));
    if (outdated.length === 0) return;
    const versions = await findGrantVersions(tx, accountId, outdated);
    for (const { id } of outdated) {
      const known = cache.get(keyOf(accountId, id));
      if (known?.version === (versions.get(id) ?? NO_ROWS))
        cache.set(keyOf(accountId, id), { ...known, until, change });
    }
  }

  async function readGrants(accountId: Uuid, principal: Principal): Promise<Grants> {
    const { type, id } = principal;
    await renewUnchanged(accountId, [principal], db);
    const renewed = cachedOf(accountId, id);
    if (renewed) return renewed;
    const cacheGrants = prepareCaching(accountId);
    return cacheGrants(id, await (type === "USER" ? findUserGrants : findServiceAccountGrants)(db, accountId, id));
  }

  const grantsOf: GrantsOf = (accountId, principal) =>
    cachedOf(accountId, principal.id) ?? readGrants(accountId, principal);

  const grantsOfAll: GrantsOfAll = async (accountId, principals, tx = db) => {
    await renewUnchanged(
      accountId,
      principals.filter(({ id }) => !cachedOf(accountId, id)),
      tx,
    );
    const all = new Map(principals.map(({ id }) => [id, cachedOf(accountId, id)]));
    const cacheGrants = prepareCaching(accountId);
    const unknown = principals.filter(({ id }) => !all.get(id));
    const rows = Map.groupBy(await findGrantsOfAll(tx, accountId, unknown), ({ holder }) => holder);
    for (const { id } of unknown) all.set(id, cacheGrants(id, rows.get(id) ?? []));
    return all as ReadonlyMap<Uuid, Grants>;
  };

  return {
    grantsOf,
    grantsOfAll,
    /** Called after a change of roles, assignments, groups or members. */
    invalidateGrants: (tx: Tx, accountId: Uuid): void =>
      tx.afterCommit(() => {
        countChange(accountId);
        db.notify(CHANNEL, accountId).catch(onError);
      }),
    /** Calls the listener on every replica after changed grants have been cleared. */
    onChange: (listener: () => void): void => void listeners.add(listener),
    stop: stopListening,
  };
}
