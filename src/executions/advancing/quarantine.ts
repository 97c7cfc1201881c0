/**
 * One execution that cannot be advanced must not hold up others: not its
 * delegate, which repeats `finished` until it is acknowledged, and not the
 * sweeps. Whatever but the database fails while one is advanced ends it as
 * errored; why so: docs/decisions/0007-quarantine.md.
 */
import { FORMAT, isFinal, quarantined, type State } from "../../engine/index.ts";
import type { Clock } from "../../core/clock.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import type { CancelRun } from "../../delegates/index.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import type { Log } from "../../platform/log/log.ts";
import { stateOfColumns } from "../execution.ts";
import { endErrored, findStored, lockHeader, type RunKey, type StoredRun } from "../store/advance.ts";
import { kindOf } from "../node-rows.ts";
import { endDeployments } from "../store/deployments.ts";
import { readStored, type Readable } from "../stored.ts";
import type { Wakeups } from "../wakeups.ts";
import type { Advance, Locked } from "./advance.ts";
import type { AnswerServices } from "./perform.ts";
import { Stuck } from "./stuck.ts";

type Ending = StoredRun & { readonly readable: Readable; readonly projectId: Uuid };

/** Locks an execution for as long as the transaction lasts; undefined when there is none. */
export type LockExecution = (run: RunKey) => Promise<Locked | undefined>;

/**
 * Runs `work` in a transaction in which it may lock and advance executions. When one is stuck, everything is rolled back
 * and `work` runs once more in a second transaction, where whatever it gives to that execution ends it.
 */
export type Advancing = <T>(work: (tx: Tx, lock: LockExecution) => Promise<T>) => Promise<T>;

export type AdvancingDeps = {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly advance: Pick<Advance, "lock" | "forget">;
  readonly cancelRun: CancelRun;
  readonly services: AnswerServices;
  readonly wakeups: Pick<Wakeups, "wake">;
  readonly onEnded: (accountId: Uuid) => void;
};

export function makeAdvancing(deps: AdvancingDeps): Advancing {
  const { db, advance } = deps;

  async function lockStuck(tx: Tx, stuck: Stuck): Promise<Locked | undefined> {
    const locked = await lockHeader(tx, stuck.run);
    if (!locked) return undefined;
    const stored = await findStored(tx, stuck.run);
    if (!stored) return undefined;
    const readable = readStored(stored);
    const before = readable.state ?? stateOfColumns(stored);
    return {
      before,
      isStuck: true,
      give: async () => (isFinal(stored.status) ? before : end(tx, stuck, { ...stored, ...locked, readable })),
    };
  }

  async function end(tx: Tx, { run, cause }: Stuck, stored: Ending): Promise<State> {
    const { projectId, format, revision, startedAt, readable } = stored;
    const nodes = [...readable.nodes.values()];
    const aborting = readable.state?.aborting ?? false;
    const { state, changed } = quarantined({ startedAt, aborting, nodes }, deps.clock.now(), reasonOf(cause));
    // Of an earlier format all nodes become rows.
    const written = new Map([...(format < FORMAT ? nodes : []), ...changed].map((node) => [node.id, node]));
    await endErrored(tx, run, {
      state,
      revision: revision + 1,
      nodes: [...written.values()].map((node) => ({ node, before: undefined, kind: kindOf(readable.plan, node) })),
    });
    await endDeployments(tx, run, state);
    await deps.cancelRun(tx, run.accountId, run.id);
    for (const service of Object.values(deps.services))
      await service.withdrawAll?.(tx, { accountId: run.accountId, executionId: run.id });
    tx.afterCommit(() => {
      deps.advance.forget(run.id);
      deps.onEnded(run.accountId);
      for (const id of [run.id, projectId]) deps.wakeups.wake(id);
      deps.log.error({ err: cause, execution: toWire(run.id) }, "an execution could not be advanced and has errored");
    });
    return state;
  }

  return async (work) => {
    try {
      return await db.transaction((tx) => work(tx, (run) => advance.lock(tx, run)));
    } catch (error) {
      if (!(error instanceof Stuck)) throw error;
      return db.transaction((tx) =>
        work(tx, (run) => (run.id === error.run.id ? lockStuck(tx, error) : advance.lock(tx, run))),
      );
    }
  };
}

const LONGEST_REASON = 300;

function reasonOf(cause: unknown): string {
  const text = (cause instanceof Error ? cause.message : String(cause))
    .replaceAll(/\s+/g, " ")
    .slice(0, LONGEST_REASON);
  return `The platform could not go on with this execution and has ended it: ${text}`;
}
