/**
 * Connection tests that delegates run. A row in `connection_tests` ends once, by the delegate's answer or at the
 * deadline, on any replica. A notification makes the replica with the waiting request read the result.
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
  describeMissingDelegate,
  type TestEnd,
  type TestResult,
  type TestTasks,
} from "./connection-test.ts";
import type { Connector } from "../connector.ts";
import { saveStatus } from "../store/connectors.ts";
import * as store from "../store/tests.ts";
import { typeOf } from "../types/table.ts";
import { createWaitingRequests } from "./waiting-requests.ts";

const CHANNEL = "railhead_connection_tests";
/** The caller gets an answer within this time. */
const DEADLINE_MS = 30_000;
/** Timeout on the delegate. It is shorter than the deadline, because the delegate reports a more exact fault. */
const DELEGATE_TIMEOUT_MS = 25_000;
/** How long an ended test is stored. */
const RETENTION_MS = 600_000;

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
  const requests = createWaitingRequests(db);

  async function saveResult(tx: Tx, test: store.OpenTest, result: TestResult): Promise<void> {
    await store.endTest(tx, test, result);
    const { accountId, connectorId, connectorVersion } = test;
    await saveStatus(tx, { accountId, id: connectorId, version: connectorVersion }, statusOf(result));
    tx.afterCommit(() => void db.notify(CHANNEL, test.id).catch(deps.onError));
  }

  /** Ends an overdue test, and ends or cancels its task. */
  async function expireTest(accountId: Uuid, id: Uuid): Promise<void> {
    await db.transaction(async (tx) => {
      const test = await store.lockTest(tx, accountId, id);
      if (!test || test.endedAt !== null) return;
      const how = await tasks.cancel(tx, taskOf(accountId, id));
      const message =
        how === "ended"
          ? `${describeMissingDelegate(test.selectors)} took the test within ${DEADLINE_MS / 1000} s: it is not connected, or busy.`
          : `The delegate did not report the end of the test within ${DEADLINE_MS / 1000} s.`;
      await saveResult(tx, test, resultOf({ reason: "Timeout", message, code: 0 }, clock.now()));
    });
  }

  const stopListening = db.listen(CHANNEL, (payload) => {
    (payload === "" ? requests.answerAll() : requests.answer([payload as Uuid])).catch(deps.onError);
  });

  return {
    run: async (actor: Actor, connector: Connector): Promise<TestResult> =>
      requests.waitFor(actor.accountId, await startTest(deps, actor, connector)),
    /** Locks the test of a task and returns the function that ends it; undefined without a test. */
    lock: async (tx: Tx, accountId: Uuid, id: Uuid): Promise<EndTest | undefined> => {
      const test = await store.lockTest(tx, accountId, id);
      if (!test) return undefined;
      return async ({ delegateId }, end) => {
        if (test.endedAt === null) await saveResult(tx, test, resultOf(faultOf(end), clock.now(), delegateId));
      };
    },
    /** Ends overdue tests, also those of stopped replicas, and answers requests whose notification was lost. */
    sweep: async (): Promise<void> => {
      for (const { accountId, id } of await store.findOverdue(db, clock.now()))
        await expireTest(accountId, id).catch(deps.onError);
      await requests.answerAll();
      await forgetEnded(deps);
    },
    stop: (): void => {
      stopListening();
      requests.rejectAll(httpProblem("http.stopping", [], { retryAfter: 5 }));
    },
  };
}

/** Starts a test, or returns the running test of the same version of the connector. */
async function startTest(deps: DelegateTestsDeps, actor: Actor, connector: Connector): Promise<Uuid> {
  const { db, clock, tasks } = deps;
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
        // A user waits for the answer, and the test is short.
        queueId: null,
        selectors,
        work: {
          kind: "connection",
          type: connector.type,
          // The spec was read from a JSON column.
          spec: connector.spec as never,
          secrets: [...new Set(type.secrets(connector.spec).map(({ reference }) => reference))],
          home: { orgIdentifier: connector.orgIdentifier, projectIdentifier: connector.projectIdentifier },
          timeoutMs: DELEGATE_TIMEOUT_MS,
        },
      });
      return id;
    });
    // Undefined: the running test has ended in the meantime, so a new one is started.
    if (found !== undefined) return found;
  }
}

/** Deletes tests after their retention, with their tasks. A test whose task has not ended stays. */
async function forgetEnded({ db, clock, tasks }: Pick<DelegateTestsDeps, "db" | "clock" | "tasks">): Promise<void> {
  const ended = await store.findEnded(db, clock.now() - RETENTION_MS);
  for (const [accountId, tests] of Map.groupBy(ended, (test) => test.accountId)) {
    const ids = tests.map(({ id }) => id);
    await db.transaction(async (tx) =>
      store.deleteTests(tx, accountId, await tasks.forgetEndedRuns(tx, accountId, ids)),
    );
  }
}
