/**
 * Tests that delegates carry out. The row in `connection_tests` is what counts: it is ended once, by the delegate's
 * answer or at its deadline, by whichever replica hears of it; the replica that was asked is woken, and looks.
 */
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import type { NewId, Uuid } from "../../core/ids.ts";
import { authorOf } from "../../identity/index.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { problem as httpProblem } from "../../platform/http/problems.ts";
import {
  faultOf,
  resultOf,
  statusOf,
  taskOf,
  withTags,
  type TestEnd,
  type TestResult,
  type TestTasks,
} from "./connection-test.ts";
import type { Connector } from "../connector.ts";
import { saveStatus } from "../store/connectors.ts";
import * as store from "../store/tests.ts";
import { typeOf } from "../types/table.ts";

const CHANNEL = "railhead_connection_tests";
/** Until the caller gets an answer, whatever happens. */
const DEADLINE_MS = 30_000;
/** The delegate's own patience: it says more than our deadline can. */
const DELEGATE_MS = 25_000;
/** After it nobody asks for a result any more. */
const KEEP_MS = 600_000;

export type DelegateTestsDeps = {
  readonly db: Db;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly tasks: TestTasks;
  readonly record: (tx: Tx, actor: Actor, connector: Connector) => Promise<void>;
  readonly onError: (error: unknown) => void;
};

export type EndTest = (task: { readonly delegateId: Uuid | null }, end: TestEnd) => Promise<void>;

export function createDelegateTests(deps: DelegateTestsDeps) {
  const { db, clock, tasks } = deps;
  const waiting = new Map<Uuid, PromiseWithResolvers<TestResult> & { readonly accountId: Uuid }>();

  /** Answers those who wait for tests that have ended. */
  async function look(ids: readonly Uuid[]): Promise<void> {
    const asked = ids.flatMap((id) => {
      const one = waiting.get(id);
      return one ? [{ accountId: one.accountId, id }] : [];
    });
    if (asked.length === 0) return;
    for (const { id, result } of await store.resultsOf(db, asked)) {
      waiting.get(id)?.resolve(result);
      waiting.delete(id);
    }
  }

  /** Starts the test, or finds the one that runs already. */
  async function begin(actor: Actor, connector: Connector): Promise<Uuid> {
    const { accountId } = actor;
    const type = typeOf(connector);
    const { selectors } = type.origin(connector.spec);
    for (;;) {
      const id = deps.newId();
      const at = clock.now();
      const of = { connectorId: connector.id, connectorVersion: connector.version, selectors };
      const test = { ...of, accountId, id, createdAt: at, deadlineAt: at + DEADLINE_MS };
      const found = await db.transaction(async (tx) => {
        const started = await store.insertTest(tx, test, authorOf(actor));
        if (!started) return store.findOpenTest(tx, accountId, connector);
        await deps.record(tx, actor, connector);
        await tasks.enqueue(tx, {
          ...taskOf(accountId, id),
          // A person waits for the answer, and it takes a moment only.
          queueId: null,
          selectors,
          work: {
            kind: "connection",
            type: connector.type,
            // What the type's schema made is JSON: it came out of the database.
            spec: connector.spec as never,
            secrets: [...new Set(type.secrets(connector.spec).map(({ reference }) => reference))],
            home: { orgIdentifier: connector.orgIdentifier, projectIdentifier: connector.projectIdentifier },
            timeoutMs: DELEGATE_MS,
          },
        });
        return id;
      });
      // Undefined: the one that ran has ended this very moment.
      if (found !== undefined) return found;
    }
  }

  async function settle(tx: Tx, test: store.OpenTest, result: TestResult): Promise<void> {
    await store.endTest(tx, test, result);
    await saveStatus(tx, test.accountId, { id: test.connectorId, version: test.connectorVersion }, statusOf(result));
    tx.afterCommit(() => void db.notify(CHANNEL, test.id).catch(deps.onError));
  }

  /** Ends a test that nobody has answered; its task ends too, or its delegate is told so. */
  async function expire(accountId: Uuid, id: Uuid): Promise<void> {
    await db.transaction(async (tx) => {
      const test = await store.lockTest(tx, accountId, id);
      if (!test || test.endedAt !== null) return;
      const how = await tasks.cancel(tx, taskOf(accountId, id));
      const message =
        how === "ended"
          ? `${withTags(test.selectors)} took the test within ${DEADLINE_MS / 1000} s: it is not connected, or busy.`
          : `The delegate did not tell the end of the test within ${DEADLINE_MS / 1000} s.`;
      await settle(tx, test, resultOf({ reason: "Timeout", message, code: 0 }, clock.now()));
    });
  }

  const stopListening = db.listen(CHANNEL, (payload) => {
    look(payload === "" ? [...waiting.keys()] : [payload as Uuid]).catch(deps.onError);
  });

  return {
    run: async (actor: Actor, connector: Connector): Promise<TestResult> => {
      const id = await begin(actor, connector);
      const known = waiting.get(id) ?? { ...Promise.withResolvers<TestResult>(), accountId: actor.accountId };
      waiting.set(id, known);
      // It may have ended before anybody waited for it.
      await look([id]);
      return known.promise;
    },
    /** Locks the test that a task belongs to and answers how to tell it the end; undefined when there is none. */
    lock: async (tx: Tx, accountId: Uuid, id: Uuid): Promise<EndTest | undefined> => {
      const test = await store.lockTest(tx, accountId, id);
      if (!test) return undefined;
      return async ({ delegateId }, end) => {
        if (test.endedAt === null) await settle(tx, test, resultOf(faultOf(end), clock.now(), delegateId));
      };
    },
    /** The slow poll: ends what is overdue, also what a stopped server left, and looks for what was not heard of. */
    sweep: async (): Promise<void> => {
      for (const { accountId, id } of await store.findOverdue(db, clock.now()))
        await expire(accountId, id).catch(deps.onError);
      await look([...waiting.keys()]);
      await forgetEnded(deps);
    },
    stop: (): void => {
      stopListening();
      for (const { reject } of waiting.values()) reject(httpProblem("http.stopping", [], { retryAfter: 5 }));
      waiting.clear();
    },
  };
}

/** Deletes tests that ended a while ago, each with its task; one whose task has not ended stays. */
async function forgetEnded({ db, clock, tasks }: Pick<DelegateTestsDeps, "db" | "clock" | "tasks">): Promise<void> {
  const ended = await store.findEnded(db, clock.now() - KEEP_MS);
  for (const [accountId, tests] of Map.groupBy(ended, (test) => test.accountId)) {
    const ids = tests.map(({ id }) => id);
    await db.transaction(async (tx) =>
      store.deleteTests(tx, accountId, await tasks.forgetEndedRuns(tx, accountId, ids)),
    );
  }
}
