import type { Actor } from "../../core/actor.ts";
import { Problem } from "../../core/problem.ts";
import { scopeOf, within } from "../../core/reference.ts";
import { authorOf } from "../../identity/index.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { MayReach } from "../../platform/outgoing/reach.ts";
import {
  resultOf,
  secretRefused,
  statusOf,
  describeMissingDelegate,
  type TestResult,
  type TestTasks,
} from "./connection-test.ts";
import type { Connector, ConnectorKey, SavedBy } from "../connector.ts";
import type { createDelegateTests } from "./delegate-tests.ts";
import type { OpenSecrets, RequireUsers, SentSecret } from "./open-secrets.ts";
import { problem } from "../problems.ts";
import { findConnector, findSavedConnector, saveStatus } from "../store/connectors.ts";
import { runTest } from "../types/run-test.ts";
import { typeOf } from "../types/table.ts";
import type { ConnectorDeps } from "../secret-references.ts";

/** Timeout of a test that the server runs itself. */
const SERVER_TIMEOUT_MS = 25_000;

export type TestConnectionDeps = Pick<ConnectorDeps, "db" | "audit" | "authorize" | "clock"> & {
  readonly tasks: TestTasks;
  readonly requireUsers: RequireUsers;
  readonly openSecrets: OpenSecrets;
  /**
   * Limits the addresses that the server connects to. Delegates connect to all addresses that their operator allows.
   */
  readonly mayReach: MayReach;
};

/**
 * Tests the connection and stores the result with the connector. A failed connection is a result, not an error. Throws
 * `connector.not_found`, `connector.test_outdated`, and what `requireUsers` throws; then nothing is sent or stored.
 */
export const testConnection =
  (deps: TestConnectionDeps, onDelegate: ReturnType<typeof createDelegateTests>) =>
  async (actor: Actor, key: ConnectorKey): Promise<TestResult> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_connector_access", scopeOf(accountId, key), key.identifier);
    const connector = await findConnector(deps.db, accountId, key);
    if (!connector) throw problem("connector.not_found", [key.identifier]);
    const origin = typeOf(connector).origin(connector.spec);
    const { now } = deps.clock;
    if (origin.untested) return { status: "UNKNOWN", fault: null, testedAt: now(), delegateId: null };
    const saved = await findSavedConnector(deps.db, accountId, connector);
    if (!saved) throw problem("connector.test_outdated", [key.identifier]);
    await deps.requireUsers(accountId, saved, authorOf(actor));
    if (!origin.onDelegate) return saveResult(deps, actor, connector, await testOnServer(deps, actor, saved));
    if (await deps.tasks.isThereFor(accountId, origin.selectors)) return onDelegate.run(actor, connector);
    const noDelegate = {
      reason: "No delegate",
      message: `${describeMissingDelegate(origin.selectors)} is connected.`,
      code: 0,
    };
    return saveResult(deps, actor, connector, resultOf(noDelegate, now()));
  };

export type TestConnection = ReturnType<typeof testConnection>;

async function testOnServer(
  deps: TestConnectionDeps,
  actor: Actor,
  connector: Connector & SavedBy,
): Promise<TestResult> {
  const { accountId } = actor;
  const { type, spec } = connector;
  const { mayReach, clock } = deps;
  let secrets: readonly SentSecret[];
  try {
    secrets = await deps.openSecrets(connector, { actor: { kind: "system", accountId }, tester: authorOf(actor) });
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    return resultOf(secretRefused(error.message), clock.now());
  }
  const fault = await runTest({ type, spec, secrets }, { mayReach, signal: AbortSignal.timeout(SERVER_TIMEOUT_MS) });
  return resultOf(fault ?? null, clock.now());
}

async function saveResult(
  deps: TestConnectionDeps,
  actor: Actor,
  connector: Connector,
  result: TestResult,
): Promise<TestResult> {
  await deps.db.transaction(async (tx) => {
    const { id, version } = connector;
    await saveStatus(tx, { accountId: actor.accountId, id, version }, statusOf(result));
    await recordTest(deps)(tx, actor, connector);
  });
  return result;
}

/** Writes the audit entry of a test. */
export const recordTest =
  ({ audit }: Pick<ConnectorDeps, "audit">) =>
  (tx: Tx, actor: Actor, connector: Connector): Promise<void> =>
    audit.record(tx, actor, {
      operation: "connector.test",
      resourceType: "CONNECTOR",
      resourceId: connector.identifier,
      scope: within(connector),
    });
