/**
 * Opens the secrets of a connector for the test of its connection. A test is made for its tester and for who saved the
 * connector last (docs/decisions/0020-principals.md): both must be allowed to use each secret now. Each delivery is
 * committed to the audit trail before anything is sent.
 */
import type { Permits } from "../../access/index.ts";
import type { Audit, AuditedChange } from "../../audit/index.ts";
import type { Actor } from "../../core/actor.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import { Problem } from "../../core/problem.ts";
import { referred, scopeOf, within } from "../../core/reference.ts";
import type { Author, Standing, StandingOf } from "../../identity/index.ts";
import type { Db } from "../../platform/db/db.ts";
import type { OpenTextSecrets } from "../../secrets/index.ts";
import type { Connector, Saved } from "../connector.ts";
import { problem } from "../problems.ts";
import { findSaved } from "../store/connectors.ts";
import { findTester } from "../store/tests.ts";
import { typeOf } from "../types/table.ts";

export type OpenSecretsDeps = {
  readonly db: Db;
  readonly audit: Pick<Audit, "recordAll">;
  readonly permits: Permits;
  readonly standingOf: StandingOf;
  readonly openTextSecrets: OpenTextSecrets;
};

type SavedConnector = Connector & Saved;
export type SentSecret = { readonly reference: string; readonly value: string };

/** The secrets that the connector names, each once. */
export const namedBy = (connector: Connector): readonly string[] => [
  ...new Set(
    typeOf(connector)
      .secrets(connector.spec)
      .map(({ reference }) => reference),
  ),
];

/**
 * Throws `connector.secret_refused` or `connector.account_inactive` (403) unless the tester and the last saver may use each
 * secret of the connector now; grants are at most a second old. A saver who is unknown is not asked about.
 */
export const requireUsers =
  ({ permits, standingOf }: Pick<OpenSecretsDeps, "permits" | "standingOf">) =>
  async (accountId: Uuid, connector: SavedConnector, tester: Author): Promise<void> => {
    const references = namedBy(connector);
    if (references.length === 0) return;
    const { author } = connector;
    const standings = await standingOf(accountId, author ? [tester, author] : [tester]);
    for (const [nth, standing] of standings.entries()) {
      const deed = nth === 0 ? "who tests it" : "who saved it last";
      const { actor } = standing;
      if (!actor)
        throw problem("connector.account_inactive", [connector.identifier, named(standing), deed, standing.state]);
      const missing = references.find((reference) => {
        const key = referred(reference, connector);
        return !key || !permits(actor, "core_secret_access", scopeOf(accountId, key), key.identifier);
      });
      if (missing !== undefined)
        throw problem("connector.secret_refused", [connector.identifier, named(standing), deed, missing]);
    }
  };

export type RequireUsers = ReturnType<typeof requireUsers>;

const named = ({ name, email }: Standing): string => (email === null ? name : `${name} (${email})`);

/** Who gets the secrets: a delegate that holds the task of the test, or the server itself. */
type Recipient = {
  readonly actor: Extract<Actor, { kind: "delegate" | "system" }>;
  readonly tester: Author;
  /** Of a test that a delegate makes. */
  readonly test?: Uuid;
};

/**
 * One that does not exist is left out. Throws what RequireUsers throws, and `secret.recreated` for another secret under the
 * name of one that the connector was saved with.
 */
export const openSecrets =
  (deps: OpenSecretsDeps, requireUsers: RequireUsers) =>
  async (connector: SavedConnector, to: Recipient): Promise<readonly SentSecret[]> => {
    const { accountId } = to.actor;
    const references = namedBy(connector);
    try {
      await requireUsers(accountId, connector, to.tester);
      const opened = await deps.openTextSecrets(accountId, connector, references, connector.secretIds);
      // A secret manager may take seconds to open them, in which either may have lost account or permission.
      await requireUsers(accountId, connector, to.tester);
      await record(deps, connector, to, opened);
      return opened;
    } catch (error) {
      const refused = error instanceof Problem && error.status < 500 ? error : undefined;
      const all = references.map((reference) => ({ reference }));
      if (refused) await record(deps, connector, to, all, refused);
      throw error;
    }
  };

export type OpenSecrets = ReturnType<typeof openSecrets>;

/** One entry for each secret, by one statement. */
async function record(
  { db, audit }: OpenSecretsDeps,
  connector: SavedConnector,
  { actor, tester, test }: Recipient,
  secrets: readonly { readonly reference: string; readonly id?: Uuid }[],
  refused?: Problem,
): Promise<void> {
  const entries = secrets.map(({ reference, id }): AuditedChange => {
    const key = referred(reference, connector);
    return {
      operation: "secret.deliver",
      resourceType: "SECRET",
      resourceId: key?.identifier ?? reference,
      scope: within(key ?? connector),
      refusal: refused && { code: refused.code, status: refused.status },
      after: {
        connector: connector.identifier,
        connectorId: toWire(connector.id),
        connectorVersion: connector.version,
        ...(test ? { test: toWire(test) } : {}),
        ...(tester.id ? { tester: toWire(tester.id) } : {}),
        delegate: actor.kind === "delegate" ? actor.name : null,
        ...(id ? { id: toWire(id) } : {}),
        ...(refused ? { reason: refused.message } : {}),
      },
    };
  });
  if (entries.length > 0) await db.transaction((tx) => audit.recordAll(tx, actor, entries));
}

/** A test on its way to the delegate that holds its task; `runId` is the test. */
type Delivery = {
  readonly accountId: Uuid;
  readonly runId: Uuid;
  readonly delegate: { readonly id: Uuid; readonly name: string };
};

/** For a delegate. Throws `connector.test_outdated` when the connector is not the one whose test was asked for. */
export const openForDelegate =
  ({ db }: Pick<OpenSecretsDeps, "db">, open: OpenSecrets) =>
  async ({ accountId, runId, delegate }: Delivery): Promise<readonly SentSecret[]> => {
    const test = await findTester(db, accountId, runId);
    const connector = test && (await findSaved(db, accountId, test.connector));
    if (!connector || !test?.tester) throw problem("connector.test_outdated", [connector?.identifier ?? "…"]);
    return open(connector, { actor: { kind: "delegate", accountId, ...delegate }, tester: test.tester, test: runId });
  };
