/**
 * The grants of a principal, cached for a second. Unchanged grants stay the same object after that, so that streams do
 * not compare them again (grant-watcher.ts). They are part of the actor, so that a permission check reads nothing.
 * A change clears them after its commit, on other replicas by NOTIFY (invariant 9).
 */
import type { Clock } from "../../core/clock.ts";
import type { Grants } from "../../core/grants.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { createGrantCache } from "./grant-cache.ts";
import { findGrantsOfAll, findGrantVersions, findServiceAccountGrants, findUserGrants } from "../store/grants.ts";

const CHANNEL = "railhead_access_changed";

/** A user or service account that holds grants. */
export type Principal = { readonly type: "USER" | "SERVICE_ACCOUNT"; readonly id: Uuid };

/** Returns grants synchronously from the cache, which is the usual case. */
export type GrantsOf = (accountId: Uuid, principal: Principal) => Grants | Promise<Grants>;

/**
 * As GrantsOf for many principals. Reads missing ones with one statement per kind of principal, in `tx` if it is given.
 */
export type GrantsOfAll = (
  accountId: Uuid,
  principals: readonly Principal[],
  tx?: Pick<Tx, "query">,
) => Promise<ReadonlyMap<Uuid, Grants>>;

export function createGrants({ db, clock, onError }: { db: Db; clock: Clock; onError: (error: unknown) => void }) {
  const cache = createGrantCache(clock);
  const listeners = new Set<() => void>();

  const stopListening = db.listen(CHANNEL, (payload) => {
    // An empty payload reports lost notifications, so every cached grant may be outdated.
    if (payload === "") cache.invalidateAll();
    else cache.invalidate(payload as Uuid);
    for (const listener of listeners) listener();
  });

  /** Caches the outdated grants of these principals again if they have not changed. */
  async function renewUnchanged(
    accountId: Uuid,
    principals: readonly Principal[],
    tx: Pick<Tx, "query">,
  ): Promise<void> {
    const reading = cache.beginRead(accountId);
    const outdated = principals.filter(({ id }) => cache.has(accountId, id));
    if (outdated.length === 0) return;
    const versions = await findGrantVersions(tx, accountId, outdated);
    for (const { id } of outdated) reading.renew(id, versions.get(id));
  }

  async function readGrants(accountId: Uuid, principal: Principal): Promise<Grants> {
    const { type, id } = principal;
    await renewUnchanged(accountId, [principal], db);
    const renewed = cache.get(accountId, id);
    if (renewed) return renewed;
    const reading = cache.beginRead(accountId);
    return reading.add(id, await (type === "USER" ? findUserGrants : findServiceAccountGrants)(db, accountId, id));
  }

  const grantsOf: GrantsOf = (accountId, principal) =>
    cache.get(accountId, principal.id) ?? readGrants(accountId, principal);

  const grantsOfAll: GrantsOfAll = async (accountId, principals, tx = db) => {
    await renewUnchanged(
      accountId,
      principals.filter(({ id }) => !cache.get(accountId, id)),
      tx,
    );
    const all = new Map(principals.map(({ id }) => [id, cache.get(accountId, id)]));
    const reading = cache.beginRead(accountId);
    const unknown = principals.filter(({ id }) => !all.get(id));
    const rows = Map.groupBy(await findGrantsOfAll(tx, accountId, unknown), ({ holder }) => holder);
    for (const { id } of unknown) all.set(id, reading.add(id, rows.get(id) ?? []));
    return all as ReadonlyMap<Uuid, Grants>;
  };

  return {
    grantsOf,
    grantsOfAll,
    /** Called after a change of roles, assignments, groups or members. */
    invalidateGrants: (tx: Tx, accountId: Uuid): void =>
      tx.afterCommit(() => {
        cache.invalidate(accountId);
        db.notify(CHANNEL, accountId).catch(onError);
      }),
    /** Calls the listener on every replica after changed grants have been cleared. */
    onChange: (listener: () => void): void => void listeners.add(listener),
    stop: stopListening,
  };
}
