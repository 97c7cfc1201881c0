/** A request that runs beside an uncommitted change, in an order that the test decides. */
import type { Db, Tx } from "../../src/platform/db/db.ts";
import { until } from "./until.ts";

/**
 * Makes the change in a transaction, sends the request before the commit, and commits once the request waits for a lock
 * of the transaction or is answered. Returns the request's answer. A request that does not wait sees the state before
 * the change.
 */
export async function requestDuringChange<T>(
  db: Pick<Db, "query" | "transaction">,
  change: (tx: Tx) => Promise<unknown>,
  ask: () => Promise<T>,
): Promise<T> {
  const { answer } = await db.transaction(async (tx) => {
    await change(tx);
    const [holder] = await tx.query<{ pid: number }>("select pg_backend_pid() as pid");
    let isAnswered = false;
    const answer = ask().finally(() => (isAnswered = true));
    answer.catch(() => undefined);
    const isWaiting = async (): Promise<boolean> =>
      (await db.query("select 1 from pg_stat_activity where $1 = any(pg_blocking_pids(pid))", [holder?.pid])).length >
      0;
    await until(async () => isAnswered || (await isWaiting()), Boolean);
    return { answer };
  });
  return answer;
}
