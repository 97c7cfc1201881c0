/** The test of a connection as a task: it lives in memory alone, and is done anew where it is lost. */
import type { ConnectionTask } from "../../protocol/messages.ts";
import { runTest } from "../../src/connectors/types/run-test.ts";
import type { Fault } from "../../src/connectors/types/type.ts";
import { reachAnything } from "../../src/platform/outgoing/reach.ts";
import type { End, Lease, Link } from "../output/shipper.ts";
import type { HeldTask } from "./task.ts";
import type { Timers } from "../timers.ts";

/** Starts the test. What may be reached from here is the business of whoever runs the delegate. */
export function createConnectionTest(timers: Timers, lease: Lease, work: ConnectionTask): HeldTask {
  const startedAt = timers.now();
  const begunAt = timers.elapsed();
  const ending = new AbortController();
  let link: Link | undefined;
  let end: End | undefined;

  const tell = (): void => {
    if (end) link?.send({ kind: "finished", ...lease, offset: 0, data: "", ...end });
  };
  const finish = (outcome: End["outcome"]): void => {
    if (end) return;
    end = { startedAt, endedAt: startedAt + Math.round(timers.elapsed() - begunAt), outcome };
    tell();
  };
  const stopTimer = timers.after(work.timeoutMs, () => ending.abort());
  const stop = (): void => {
    stopTimer();
    ending.abort();
  };
  void runTest(work, { mayReach: reachAnything, signal: ending.signal }).then((fault) => {
    stopTimer();
    finish({ kind: "tested", fault: fault ? clipped(fault) : null });
  });

  return {
    lease,
    folder: undefined,
    owner: undefined,
    connect: (to) => {
      link = to;
      tell();
    },
    disconnect: () => {
      link = undefined;
    },
    acked: () => true,
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
    leave: stop,
  };
}

/** A host of the longest name still makes a message that the protocol takes. */
const clipped = (fault: Fault): Fault => ({
  reason: fault.reason.slice(0, 256),
  message: fault.message.slice(0, 4096),
  code: fault.code,
});
