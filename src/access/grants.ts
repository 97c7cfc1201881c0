/**
 * The grants of a principal, kept for a second: they ride on the actor, so that checking a permission reads nothing.
 * What changes them forgets them: here at once after the commit, on other replicas by NOTIFY (law 9).
 */
import type { Clock } from "../core/clock.ts";
import type { Grants } from "../core/grants.ts";
import type { Uuid } from "../core/ids.ts";
import { makeLru } from "../core/lru.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { compile } from "./compile.ts";
import { findServiceAccountGrants, findUserGrants, type GrantRow } from "./store/grants.ts";

const KEEP_MS = 1_000;
const MAX_KEPT = 10_000;
const CHANNEL = "railhead_access_changed";

export type Principal = { readonly type: "USER" | "SERVICE_ACCOUNT"; readonly id: Uuid };

/** At once while they are kept: nothing to wait for in the usual case. */
export type GrantsOf = (accountId: Uuid, principal: Principal) => Grants | Promise<Grants>;

type Kept = { readonly grants: Grants; readonly until: number; readonly change: number };

export function makeGrants({ db, clock, onError }: { db: Db; clock: Clock; onError: (error: unknown) => void }) {
  const kept = makeLru<string, Kept>(MAX_KEPT);
  // What was read before a change must not be kept after it: every change of an account counts one up.
  const changes = new Map<Uuid, number>();
  let missed = 0;
  const changeOf = (accountId: Uuid): number => missed + (changes.get(accountId) ?? 0);
  const listeners = new Set<() => void>();
  const forget = (accountId: Uuid): void => void changes.set(accountId, (changes.get(accountId) ?? 0) + 1);

  const stopListening = db.listen(CHANNEL, (payload) => {
    // Notifications were missed: whatever is kept may be old.
    if (payload === "") missed += 1;
    else forget(payload as Uuid);
    for (const listener of listeners) listener();
  });

  const grantsOf: GrantsOf = (accountId, { type, id }) => {
    const key = `${accountId} ${id}`;
    const change = changeOf(accountId);
    const known = kept.get(key);
    if (known && known.change === change && known.until > clock.now()) return known.grants;
    const find = type === "USER" ? findUserGrants : findServiceAccountGrants;
    return keep(key, change, () => find(db, accountId, id));
  };

  async function keep(key: string, change: number, find: () => Promise<readonly GrantRow[]>): Promise<Grants> {
    const until = clock.now() + KEEP_MS;
    const grants = compile(await find());
    kept.set(key, { grants, until, change });
    return grants;
  }

  return {
    grantsOf,
    /** After a change of roles, assignments, groups or members. */
    changed: (tx: Tx, accountId: Uuid): void =>
      tx.afterCommit(() => {
        forget(accountId);
        db.notify(CHANNEL, accountId).catch(onError);
      }),
    /** Called on every replica once what is asked for is read anew. */
    onChange: (listener: () => void): void => void listeners.add(listener),
    stop: stopListening,
  };
}
