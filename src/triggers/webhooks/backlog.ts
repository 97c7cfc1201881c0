/** Limits the pending deliveries. A delivery above the limits is rejected and not stored. */
import type { Clock } from "../../core/clock.ts";
import type { Uuid } from "../../core/ids.ts";
import { createLru } from "../../platform/lru.ts";
import type { SettingValue } from "../../settings/index.ts";
import type { Db } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import { countPending, type PendingCount } from "../store/backlog.ts";

type Deps = {
  readonly db: Pick<Db, "query">;
  readonly clock: Clock;
  readonly settingValue: SettingValue;
};

/**
 * How long a count is reused, by the time of all caches (docs/decisions/0022-clocks.md). Deliveries that this replica
 * stores meanwhile are added to it.
 */
const CACHE_MS = 1_000;
const RETRY_AFTER_S = 5;
const MAX_CACHED = 1_000;
const MINUTE_MS = 60_000;
const MIB = 1024 * 1024;

type Count = { readonly at: number; readonly byTrigger: Map<Uuid, number>; total: number; bytes: number };

/**
 * Throws `trigger.too_many_waiting` (429) if a delivery of this size exceeds a limit of the trigger or its account.
 *
 * The limits are settings of the account. They are approximate: replicas count once a second, so that a long backlog
 * does not slow down every call. Before a rejection, the replica counts again.
 */
export function reserveDelivery(deps: Deps) {
  const counts = createLru<Uuid, Count>(MAX_CACHED);

  async function countOf(accountId: Uuid): Promise<Count> {
    const at = deps.clock.now();
    const count = asCount(at, await countPending(deps.db, accountId));
    counts.set(accountId, count);
    return count;
  }

  async function limitsOf(accountId: Uuid) {
    const [trigger, account, mebibytes] = await Promise.all([
      deps.settingValue(accountId, "webhook_waiting_per_trigger"),
      deps.settingValue(accountId, "webhook_waiting_per_account"),
      deps.settingValue(accountId, "webhook_waiting_mebibytes"),
    ]);
    return { trigger: Number(trigger), account: Number(account), mebibytes: Number(mebibytes) };
  }

  return async (accountId: Uuid, triggerId: Uuid, bytes: number): Promise<void> => {
    const limits = await limitsOf(accountId);
    const reasonOf = ({ byTrigger, total, bytes: waiting }: Count): string | undefined => {
      if ((byTrigger.get(triggerId) ?? 0) >= limits.trigger) return `${limits.trigger} events of this trigger wait`;
      if (total >= limits.account) return `${limits.account} events of this account wait`;
      return waiting + bytes > limits.mebibytes * MIB
        ? `events of this account with ${limits.mebibytes} MiB wait`
        : undefined;
    };
    const cached = counts.get(accountId);
    const isFresh = cached !== undefined && deps.clock.now() - cached.at < CACHE_MS;
    let count = isFresh ? cached : await countOf(accountId);
    // Deliveries may have been processed since the cached count.
    if (isFresh && reasonOf(count) !== undefined) count = await countOf(accountId);
    const reason = reasonOf(count);
    if (reason !== undefined) throw problem("trigger.too_many_waiting", [reason], { retryAfter: RETRY_AFTER_S });
    count.byTrigger.set(triggerId, (count.byTrigger.get(triggerId) ?? 0) + 1);
    count.total += 1;
    count.bytes += bytes;
  };
}

/**
 * Throws `trigger.too_many_disabled` (429) if a disabled trigger gets more events in a minute than may wait of an
 * enabled one. They never wait, and each is stored. Each replica counts its own.
 */
export function countDisabledCalls({ clock, settingValue }: Omit<Deps, "db">) {
  const minutes = createLru<Uuid, { readonly since: number; count: number }>(MAX_CACHED);
  return async (accountId: Uuid, triggerId: Uuid): Promise<void> => {
    const most = Number(await settingValue(accountId, "webhook_waiting_per_trigger"));
    const now = clock.elapsed();
    const known = minutes.get(triggerId);
    const minute = known && now - known.since < MINUTE_MS ? known : { since: now, count: 0 };
    if (minute.count >= most) {
      const retryAfter = Math.ceil((minute.since + MINUTE_MS - now) / 1_000);
      throw problem("trigger.too_many_disabled", [String(most)], { retryAfter });
    }
    minute.count += 1;
    minutes.set(triggerId, minute);
  };
}

const asCount = (at: number, rows: readonly PendingCount[]): Count => ({
  at,
  byTrigger: new Map(rows.map(({ triggerId, count }) => [triggerId, count])),
  total: rows.reduce((sum, { count }) => sum + count, 0),
  bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
});
