import type { ClientBase } from "pg";
import type { Tx } from "../db.ts";
import type { Lent } from "./lent.ts";
import { databaseProblem, problem } from "../problems.ts";

/**
 * Runs `work` in a transaction on the lent connection and answers its result with the hooks that
 * are due now. Rejects with the error of `work`, or with a Problem when the database is at fault;
 * then everything is rolled back, except under `db.commit_unknown`, where nobody can tell.
 *
 * `begin` is not waited for: it travels with the first statement. Should it fail alone, which takes
 * a cancellation within these microseconds, then the first statement has run outside a transaction;
 * the caller gets the error all the same, and no later statement is sent after it.
 */
export async function runTransaction<T>(
  lent: Lent,
  work: (tx: Tx) => Promise<T>,
): Promise<{ readonly result: T; readonly hooks: readonly (() => void)[] }> {
  const hooks: (() => void)[] = [];
  const undo: (() => void)[] = [];
  let open = true;
  let beginFailed: Error | undefined;
  const begun = lent.client.query("begin").then(
    () => undefined,
    (error: unknown) => (beginFailed = databaseProblem(error) ?? (error as Error)),
  );
  const tx: Tx = {
    query: (text, values) => {
      if (!open) return Promise.reject(problem("db.transaction_over"));
      return beginFailed ? Promise.reject(beginFailed) : lent.query(text, values);
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
  // PostgreSQL answers the commit of a failed transaction with ROLLBACK and without an error:
  // whoever swallowed the statement's error inside `work` must still hear that nothing was saved.
  if (tag !== "COMMIT") throw problem("db.transaction_failed");
}

/** True when the connection is clean again and may serve the next one. */
async function rollBack(client: ClientBase): Promise<boolean> {
  try {
    await client.query("rollback");
    return true;
  } catch {
    return false;
  }
}
