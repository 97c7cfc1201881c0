import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import type { Place } from "../core/reference.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize, RecordReferences, Dereference } from "../access/index.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import type { RequireScope } from "../projects/index.ts";
import type { Connector, NewConnector } from "./connector.ts";
import { problem } from "./problems.ts";
import { typeOf } from "./types/table.ts";

/** Throws a Problem unless the reference names, from `home`, a text secret that the actor may use. */
type RequireSecret = (
  actor: Actor,
  home: Place,
  reference: string,
  type: "ENCRYPTED_TEXT",
) => Promise<{ readonly id: Uuid }>;

/** Dependencies of the operations that change connectors. */
export type ConnectorDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly dereference: Dereference;
  readonly requireScope: RequireScope;
  readonly requireSecret: RequireSecret;
  readonly noteSecretUses: RecordReferences;
  readonly clock: Clock;
  readonly newId: NewId;
};

/**
 * Returns the ids of the secrets that the connector references, by reference. Throws `connector.no_secret` unless each
 * exists, and `secret.taking_refused` unless the actor may use it.
 */
export async function requireSecrets(
  { requireSecret }: Pick<ConnectorDeps, "requireSecret">,
  actor: Actor,
  connector: NewConnector,
): Promise<Readonly<Record<string, Uuid>>> {
  const ids: [string, Uuid][] = [];
  for (const { path, reference } of typeOf(connector).secrets(connector.spec)) {
    // A password must be a text, not a file.
    const { id } = await requireSecret(actor, connector, reference, "ENCRYPTED_TEXT").catch((error: unknown) => {
      if (!(error instanceof Problem) || error.status !== 400) throw error;
      throw problem("connector.no_secret", [`connector.spec.${path.join(".")}`, error.message], {
        refusal: error.refusal,
      });
    });
    ids.push([reference, id]);
  }
  return Object.fromEntries(ids);
}

/** Records the references from a connector to its secrets, in the transaction that saves it. */
export const recordSecretReferences = (
  { noteSecretUses }: Pick<ConnectorDeps, "noteSecretUses">,
  tx: Tx,
  accountId: Uuid,
  connector: Connector,
): Promise<void> =>
  noteSecretUses(
    tx,
    accountId,
    { ...connector, type: "CONNECTOR" },
    typeOf(connector)
      .secrets(connector.spec)
      .map(({ reference }) => reference),
  );
