import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import { scopeOf, within, type Place } from "../core/reference.ts";
import type { Tx } from "../platform/db/db.ts";
import type { MayReach } from "../platform/outgoing/reach.ts";
import { resultOf, statusOf, withTags, type TestResult, type TestTasks } from "./connection-test.ts";
import type { Connector, ConnectorKey } from "./connector.ts";
import type { makeDelegateTests } from "./delegate-tests.ts";
import { problem } from "./problems.ts";
import { findConnector, saveStatus } from "./store/connectors.ts";
import { runTest } from "./types/run-test.ts";
import { typeOf } from "./types/table.ts";
import type { ConnectorDeps } from "./verbs.ts";

/** The server's own patience when it connects by itself. */
const SERVER_MS = 25_000;

/** The values of secrets that a thing at `home` names, in their order; undefined for one that cannot be read. */
export type ReadSecrets = (
  accountId: Uuid,
  home: Place,
  references: readonly string[],
) => Promise<readonly (string | undefined)[]>;

/**
 * Connects as the connector says, and keeps with it what came of that. Whatever is wrong with the connection is the
 * answer. Throws `connector.not_found`.
 */
export type TestConnection = (actor: Actor, key: ConnectorKey) => Promise<TestResult>;

export type TestConnectionDeps = Pick<ConnectorDeps, "db" | "audit" | "authorize" | "clock"> & {
  readonly tasks: TestTasks;
  readonly readSecrets: ReadSecrets;
  /** What the server itself may connect to; a delegate's reach is its operator's choice. */
  readonly mayReach: MayReach;
};

export const makeTestConnection =
  (deps: TestConnectionDeps, onDelegate: ReturnType<typeof makeDelegateTests>): TestConnection =>
  async (actor, key) => {
    const { accountId } = actor;
    deps.authorize(actor, "core_connector_access", scopeOf(accountId, key), key.identifier);
    const connector = await findConnector(deps.db, accountId, key);
    if (!connector) throw problem("connector.not_found", [key.identifier]);
    const origin = typeOf(connector).origin(connector.spec);
    const { now } = deps.clock;
    if (origin.untested) return { status: "UNKNOWN", fault: null, testedAt: now(), delegateId: null };
    if (!origin.onDelegate) return keep(deps, actor, connector, await fromHere(deps, accountId, connector));
    if (await deps.tasks.isThereFor(accountId, origin.selectors)) return onDelegate.run(actor, connector);
    const nobody = { reason: "No delegate", message: `${withTags(origin.selectors)} is connected.`, code: 0 };
    return keep(deps, actor, connector, resultOf(nobody, now()));
  };

async function fromHere(deps: TestConnectionDeps, accountId: Uuid, connector: Connector): Promise<TestResult> {
  const { type, spec } = connector;
  const references = typeOf(connector)
    .secrets(spec)
    .map(({ reference }) => reference);
  const values = references.length === 0 ? [] : await deps.readSecrets(accountId, connector, references);
  const secrets = references.flatMap((reference, nth) => {
    const value = values[nth];
    return value === undefined ? [] : [{ reference, value }];
  });
  const { mayReach } = deps;
  const fault = await runTest({ type, spec, secrets }, { mayReach, signal: AbortSignal.timeout(SERVER_MS) });
  return resultOf(fault ?? null, deps.clock.now());
}

async function keep(
  deps: TestConnectionDeps,
  actor: Actor,
  connector: Connector,
  result: TestResult,
): Promise<TestResult> {
  await deps.db.transaction(async (tx) => {
    await saveStatus(tx, actor.accountId, connector, statusOf(result));
    await recordTest(deps)(tx, actor, connector);
  });
  return result;
}

export const recordTest =
  ({ audit }: Pick<ConnectorDeps, "audit">) =>
  (tx: Tx, actor: Actor, connector: Connector): Promise<void> =>
    audit.record(tx, actor, {
      operation: "connector.test",
      resourceType: "CONNECTOR",
      resourceId: connector.identifier,
      scope: within(connector),
    });
