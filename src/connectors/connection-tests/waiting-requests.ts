import type { Uuid } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import { resultsOf } from "../store/tests.ts";
import type { TestResult } from "./connection-test.ts";

/** The requests of this replica that wait for the results of tests. */
export function createWaitingRequests(db: Db) {
  const waiting = new Map<Uuid, PromiseWithResolvers<TestResult> & { readonly accountId: Uuid }>();

  /** Answers the requests of those tests that have ended. */
  async function answer(ids: readonly Uuid[]): Promise<void> {
    const asked = ids.flatMap((id) => {
      const one = waiting.get(id);
      return one ? [{ accountId: one.accountId, id }] : [];
    });
    if (asked.length === 0) return;
    for (const { id, result } of await resultsOf(db, asked)) {
      waiting.get(id)?.resolve(result);
      waiting.delete(id);
    }
  }

  return {
    answer,
    answerAll: (): Promise<void> => answer([...waiting.keys()]),
    /** Resolves with the result of a test. Several requests may wait for the same one. */
    async waitFor(accountId: Uuid, id: Uuid): Promise<TestResult> {
      const known = waiting.get(id) ?? { ...Promise.withResolvers<TestResult>(), accountId };
      waiting.set(id, known);
      // It may be rejected while `answer` runs, or after that has failed: then no request waits for the promise yet.
      known.promise.catch(() => undefined);
      // The test may have ended before the request was added to `waiting`.
      await answer([id]);
      return known.promise;
    },
    rejectAll(reason: Error): void {
      for (const { reject } of waiting.values()) reject(reason);
      waiting.clear();
    },
  };
}
