import type { ClientBase } from "pg";
import type { Tx } from "../db.ts";
import { gatherWrites } from "./gather-writes.ts";
import type { Lent } from "./lent.ts";
import { databaseProblem, problem } from "../problems.ts";

/**
 * Runs `work` in a transaction on the borrowed connection. Returns its result with the hooks that are due. Rejects
 * with the error of `work`, or with a Problem for a fault of the database. The transaction is then rolled back,
 * except for `db.commit_unknown`, where the outcome is unknown.
 *
 * What `work` sends in one turn of the event loop travels in one write, `begin` with the first statements. If `begin`
 * alone fails, which takes a cancellation within these microseconds, those statements have run outside of a
 * transaction. The caller gets the error, and no later statement is sent.
 */
export async function runTransaction<T>(
  lent: Lent,
  work: (tx: Tx) => Promise<T>,
): Promise<{ readonly result: T; readonly hooks: readonly (() => void)[] }> {
  const hooks: (() => void)[] = [];
  const undo: (() => void)[] = [];
  let open = true;
  let beginFailed: Error | undefined;
  gatherWrites(lent);
  const begun = lent.client.query("begin").then(
    () => undefined,
    (error: unknown) => (beginFailed = databaseProblem(error) ?? (error as Error)),
  );
  const tx: Tx = {
    query: (text, values) => {
      if (!open) return Promise.reject(problem("db.transaction_over"));
      if (beginFailed) return Promise.reject(beginFailed);
      gatherWrites(lent);
      return lent.query(text, values);
    },
    afterCommit: (hook) => void hooks.push(hook),
    afterRollback: (hook) => void undo.push(hook),
  };
  try {
    const result = await work(tx);
    open = false;
    const failed = await begun;
    if (failed) throw failed;
    await commit(lent.client);
    lent.release(false);
    return { result, hooks };
  } catch (error) {
    open = false;
    const failed = await begun;
    lent.release(!(await rollBack(lent.client)));
    for (const hook of undo) hook();
    throw failed ?? error;
  }
}

async function commit(client: ClientBase): Promise<void> {
  let tag: string;
  try {
    tag = (await client.query("commit")).command;
  } catch (error) {
    const known = databaseProblem(error);
    throw known?.code === "db.unavailable" ? problem("db.commit_unknown", [], { cause: error }) : (known ?? error);
  }
  // PostgreSQL answers the commit of a failed transaction with ROLLBACK and without an error. A `work` that ignored
  // the statement's error must still learn that nothing was saved.
  if (tag !== "COMMIT") throw problem("db.transaction_failed");
}

/** Whether the connection is clean again and can be reused. */
async function rollBack(client: ClientBase): Promise<boolean> {
  try {
    await client.query("rollback");
    return true;
  } catch {
    return false;
  }
}
