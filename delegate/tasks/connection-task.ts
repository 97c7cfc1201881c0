/** A connection test as a task: it exists in memory only; the server repeats a lost one. */
import type { ConnectionTask } from "../../protocol/work/connection.ts";
import type { ClusterAccess } from "../../src/connectors/types/cluster-access.ts";
import { runTest } from "../../src/connectors/types/run-test.ts";
import type { Fault } from "../../src/connectors/types/type.ts";
import { allowAnyAddress } from "../../src/platform/outgoing/reach.ts";
import type { End, Lease, Link } from "../output/shipper.ts";
import type { LeasedTask } from "./task.ts";
import type { Timers } from "../timers.ts";

export type ConnectionTaskDeps = {
  readonly timers: Timers;
  /** The delegate's own access to a cluster; undefined if it has none. Throws Unreached if it cannot be used. */
  readonly ownCluster: () => ClusterAccess | undefined;
};

/** Starts the test. All addresses are allowed: the operator of the delegate controls its network. */
export function createConnectionTask(
  { timers, ownCluster }: ConnectionTaskDeps,
  lease: Lease,
  work: ConnectionTask,
): LeasedTask {
  const startedAt = timers.now();
  const begunAt = timers.elapsed();
  const abortController = new AbortController();
  let link: Link | undefined;
  let end: End | undefined;

  const sendEnd = (): void => {
    if (end) link?.send({ kind: "finished", ...lease, offset: 0, data: "", ...end });
  };
  const finish = (outcome: End["outcome"]): void => {
    if (end) return;
    end = { startedAt, endedAt: startedAt + Math.round(timers.elapsed() - begunAt), outcome };
    sendEnd();
  };
  const stopTimer = timers.after(work.timeoutMs, () => abortController.abort());
  const stop = (): void => {
    stopTimer();
    abortController.abort();
  };
  const place = { mayReach: allowAnyAddress, signal: abortController.signal, ownCluster };
  void runTest(work, place).then((fault) => {
    stopTimer();
    finish({ kind: "tested", fault: fault ? truncateFault(fault) : null });
  });

  return {
    lease,
    folder: undefined,
    owner: undefined,
    connect: (to) => {
      link = to;
      sendEnd();
    },
    disconnect: () => {
      link = undefined;
    },
    acknowledge: () => true,
    hasEnded: () => end !== undefined,
    isClean: () => true,
    cancel: async () => {
      finish({ kind: "cancelled", survivors: 0 });
      stop();
    },
    drop: async () => {
      link = undefined;
      stop();
    },
    detach: stop,
  };
}

/** Shortens texts to the limits of the protocol. */
const truncateFault = (fault: Fault): Fault => ({
  reason: fault.reason.slice(0, 256),
  message: fault.message.slice(0, 4096),
  code: fault.code,
});
