/**
 * Starts queued executions, the oldest that the limits allow first. Of several replicas, one at a time starts those of an
 * account, so that no limit is exceeded.
 */
import type { Audit } from "../../audit/index.ts";
import type { Clock } from "../../core/clock.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import { FORMAT } from "../../engine/index.ts";
import { coalesceRuns } from "../../platform/coalesce-runs.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { outsideShares } from "../../platform/db/pool/budget.ts";
import type { SettingValue } from "../../settings/index.ts";
import type { Locked } from "../advancing/advance.ts";
import type { Advancing } from "../advancing/quarantine.ts";
import {
  accountsWithQueued,
  countActive,
  findFirstQueued,
  lockQueue,
  type Queued,
  takeStartEvent,
} from "../store/queue.ts";
import { findLimits, reachedLimit } from "./limits.ts";
import { type PermitDeps, type Refusal, refusalOf } from "./permit.ts";

export type QueueDeps = PermitDeps & {
  readonly db: Db;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly settingValue: SettingValue;
  readonly advancing: Advancing;
  readonly onError: (error: unknown) => void;
};

export type StartQueue = ReturnType<typeof createStartQueue>;

export function createStartQueue(deps: QueueDeps) {
  /** Accounts with queued executions that this replica knows. */
  const serving = new Map<Uuid, () => Promise<void>>();
  const running = new Set<Promise<void>>();
  let isStopped = false;

  async function serve(accountId: Uuid): Promise<void> {
    while (!isStopped && (await startNext(deps, accountId)));
  }

  const serveAccount = (accountId: Uuid): Promise<void> => {
    const run = serving.get(accountId) ?? coalesceRuns(() => serve(accountId));
    serving.set(accountId, run);
    return run();
  };

  /** Call it after the commit of a queued execution. */
  function serveSoon(accountId: Uuid): void {
    if (isStopped) return;
    const work = outsideShares(() => serveAccount(accountId).catch(deps.onError));
    running.add(work);
    void work.finally(() => running.delete(work));
  }

  async function idle(): Promise<void> {
    while (running.size > 0) await Promise.all(running);
  }

  /** Call it after the commit of an end. */
  function onEnded(accountId: Uuid): void {
    if (serving.has(accountId)) serveSoon(accountId);
  }

  /** Serves accounts whose settings or executions another replica has changed. Run about once a second. */
  async function sweep(): Promise<void> {
    const accounts = new Set(await accountsWithQueued(deps.db));
    for (const known of serving.keys()) if (!accounts.has(known)) serving.delete(known);
    for (const accountId of accounts) await serveAccount(accountId).catch(deps.onError);
    await idle();
  }

  function stop(): void {
    isStopped = true;
  }

  return { serveSoon, onEnded, sweep, stop };
}

/** False if nothing may start. */
const startNext = (deps: QueueDeps, accountId: Uuid): Promise<boolean> =>
  deps.advancing(async (tx, lock) => {
    await lockQueue(tx, accountId);
    const next = await findNext(deps, tx, accountId);
    if (!next) return false;
    const execution = await lock({ accountId, id: next.id });
    // An abort may have ended it meanwhile.
    if (execution?.before.status !== "queued") return true;
    const event = await takeStartEvent(tx, accountId, next.id);
    // Nothing can be asked of one that cannot be read, and its event only ends it.
    const refusal = execution.isStuck ? undefined : await refusalOf(deps, tx, { accountId, ...next });
    if (!refusal) await execution.give({ kind: "started", at: deps.clock.now(), ...event });
    else await refuse(deps, tx, { accountId, execution, queued: next, refusal });
    return true;
  });

type Refused = {
  readonly accountId: Uuid;
  readonly execution: Locked;
  readonly queued: Queued;
  readonly refusal: Refusal;
};

async function refuse(deps: QueueDeps, tx: Tx, { accountId, execution, queued, refusal }: Refused): Promise<void> {
  const by = `the system: ${refusal.message}`;
  await execution.give({ kind: "interrupted", at: deps.clock.now(), interrupt: "AbortAll", by });
  const { id, orgIdentifier, projectIdentifier } = queued;
  await deps.audit.record(
    tx,
    { kind: "system", accountId },
    {
      operation: "execution.abort",
      resourceType: "PIPELINE",
      resourceId: refusal.pipelineIdentifier,
      scope: { orgIdentifier, projectIdentifier },
      after: { execution: toWire(id), interrupt: "AbortAll", reason: refusal.message },
    },
  );
}

async function findNext({ settingValue }: QueueDeps, tx: Tx, accountId: Uuid): Promise<Queued | undefined> {
  const active = await countActive(tx, accountId);
  for (const queued of await findFirstQueued(tx, accountId, FORMAT)) {
    const limits = await findLimits(settingValue, accountId, queued);
    if (reachedLimit(queued, active, limits) === undefined) return queued;
  }
  return undefined;
}
