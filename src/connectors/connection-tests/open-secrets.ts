/**
 * Opens the secrets of a connector for its connection test. A test acts for its tester and for the last author of the
 * connector (docs/decisions/0020-principals.md): both must be allowed to use each secret now. Each delivery is
 * committed to the audit trail before a secret is sent.
 */
import type { Permits } from "../../access/index.ts";
import type { Audit, AuditedChange } from "../../audit/index.ts";
import type { Actor } from "../../core/actor.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import { Problem } from "../../core/problem.ts";
import { referred, scopeOf, within } from "../../core/reference.ts";
import type { Author, AuthorState, FindAuthorStates } from "../../identity/index.ts";
import type { Db } from "../../platform/db/db.ts";
import type { OpenTextSecrets } from "../../secrets/index.ts";
import type { Connector, SavedBy } from "../connector.ts";
import { problem } from "../problems.ts";
import { findSavedConnector } from "../store/connectors.ts";
import { findTester } from "../store/tests.ts";
import { typeOf } from "../types/table.ts";

export type OpenSecretsDeps = {
  readonly db: Db;
  readonly audit: Pick<Audit, "recordAll">;
  readonly permits: Permits;
  readonly findAuthorStates: FindAuthorStates;
  readonly openTextSecrets: OpenTextSecrets;
};

type SavedConnector = Connector & SavedBy;
export type SentSecret = { readonly reference: string; readonly value: string };

/** The references of the connector to secrets, each once. */
export const referencedSecrets = (connector: Connector): readonly string[] => [
  ...new Set(
    typeOf(connector)
      .secrets(connector.spec)
      .map(({ reference }) => reference),
  ),
];

/**
 * Throws `connector.secret_refused` or `connector.account_inactive` (403) unless the tester and the last author may use
 * each secret of the connector now. Grants are at most a second old. An unknown author is not checked.
 */
export const requireUsers =
  ({ permits, findAuthorStates }: Pick<OpenSecretsDeps, "permits" | "findAuthorStates">) =>
  async (accountId: Uuid, connector: SavedConnector, tester: Author): Promise<void> => {
    const references = referencedSecrets(connector);
    if (references.length === 0) return;
    const { author } = connector;
    const authorStates = await findAuthorStates(accountId, author ? [tester, author] : [tester]);
    for (const [nth, state] of authorStates.entries()) {
      const role = nth === 0 ? "who tests it" : "who saved it last";
      const { actor } = state;
      if (!actor) throw problem("connector.account_inactive", [connector.identifier, named(state), role, state.state]);
      const missing = references.find((reference) => {
        const key = referred(reference, connector);
        return !key || !permits(actor, "core_secret_access", scopeOf(accountId, key), key.identifier);
      });
      if (missing !== undefined)
        throw problem("connector.secret_refused", [connector.identifier, named(state), role, missing]);
    }
  };

export type RequireUsers = ReturnType<typeof requireUsers>;

const named = ({ name, email }: AuthorState): string => (email === null ? name : `${name} (${email})`);

/** The recipient of the secrets: the delegate with the lease of the test's task, or the server. */
type Recipient = {
  readonly actor: Extract<Actor, { kind: "delegate" | "system" }>;
  readonly tester: Author;
  /** The id of a test that a delegate runs. */
  readonly test?: Uuid;
};

/**
 * Opens the connector's secrets for a test. Omits missing ones. Throws what `requireUsers` throws, and
 * `secret.recreated` if another secret has the name of one that the connector was saved with.
 */
export const openSecrets =
  (deps: OpenSecretsDeps, requireUsers: RequireUsers) =>
  async (connector: SavedConnector, to: Recipient): Promise<readonly SentSecret[]> => {
    const { accountId } = to.actor;
    const references = referencedSecrets(connector);
    try {
      await requireUsers(accountId, connector, to.tester);
      const opened = await deps.openTextSecrets(accountId, connector, { references, ids: connector.secretIds });
      // A secret manager may take seconds. Meanwhile tester or author may have lost account or permission.
      await requireUsers(accountId, connector, to.tester);
      await record(deps, connector, { to, secrets: opened });
      return opened;
    } catch (error) {
      const refused = error instanceof Problem && error.status < 500 ? error : undefined;
      const all = references.map((reference) => ({ reference }));
      if (refused) await record(deps, connector, { to, secrets: all, refused });
      throw error;
    }
  };

export type OpenSecrets = ReturnType<typeof openSecrets>;

type SecretDelivery = {
  readonly to: Recipient;
  readonly secrets: readonly { readonly reference: string; readonly id?: Uuid }[];
  /** The reason why none was opened. */
  readonly refused?: Problem;
};

/** Writes one audit entry for each secret, by one statement. */
async function record(
  { db, audit }: OpenSecretsDeps,
  connector: SavedConnector,
  { to: { actor, tester, test }, secrets, refused }: SecretDelivery,
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

/** The delivery of a test to the delegate with the lease of its task. `runId` is the id of the test. */
type Delivery = {
  readonly accountId: Uuid;
  readonly runId: Uuid;
  readonly delegate: { readonly id: Uuid; readonly name: string };
};

/**
 * Opens the secrets for a delegate. Throws `connector.test_outdated` if the connector was changed after the test
 * started.
 */
export const openForDelegate =
  ({ db }: Pick<OpenSecretsDeps, "db">, open: OpenSecrets) =>
  async ({ accountId, runId, delegate }: Delivery): Promise<readonly SentSecret[]> => {
    const test = await findTester(db, accountId, runId);
    const connector = test && (await findSavedConnector(db, accountId, test.connector));
    if (!connector || !test?.tester) throw problem("connector.test_outdated", [connector?.identifier ?? "…"]);
    return open(connector, { actor: { kind: "delegate", accountId, ...delegate }, tester: test.tester, test: runId });
  };
