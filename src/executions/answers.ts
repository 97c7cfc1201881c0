/** For slices that answer what nodes wait for: locks an execution, and gives it the answer. */
import type { Clock } from "../core/clock.ts";
import type { Uuid } from "../core/ids.ts";
import { isFinal, type Json } from "../engine/index.ts";
import type { Tx } from "../platform/db/db.ts";
import type { Advancing } from "./advancing/quarantine.ts";
import { findExecutors } from "./store/executors.ts";

/** An execution that is locked until the transaction ends. */
export type AnswerableExecution = {
  readonly hasEnded: boolean;
  /** Who started it; of a trigger's execution the trigger's owner, too. */
  readonly executors: readonly Uuid[];
  /** `stuck`: the execution cannot be advanced, and has ended as errored. */
  readonly answer: (nodeId: Uuid, answer: Json) => Promise<"taken" | "not waiting" | "stuck">;
};

type ExecutionKey = { readonly accountId: Uuid; readonly id: Uuid };

/** Runs `work` in a transaction that has locked the execution. Of several answers at once, one comes first. */
export type LockToAnswer = <T>(
  key: ExecutionKey,
  work: (tx: Tx, execution: AnswerableExecution | undefined) => Promise<T>,
) => Promise<T>;

export const makeLockToAnswer =
  ({ advancing, clock }: { readonly advancing: Advancing; readonly clock: Clock }): LockToAnswer =>
  (key, work) =>
    advancing(async (tx, lock) => {
      const run = await lock(key);
      if (!run) return work(tx, undefined);
      return work(tx, {
        hasEnded: isFinal(run.before.status),
        executors: await findExecutors(tx, key.accountId, key.id),
        answer: async (node, answer) => {
          const after = await run.give({ kind: "answered", at: clock.now(), node, answer });
          if (after === run.before) return "not waiting";
          return after.status === "errored" ? "stuck" : "taken";
        },
      });
    });
