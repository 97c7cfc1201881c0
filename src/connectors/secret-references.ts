import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import type { Place } from "../core/reference.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize, NoteUses, LeaveGroups } from "../access/index.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import type { RequireScope } from "../projects/index.ts";
import type { Connector, NewConnector } from "./connector.ts";
import { problem } from "./problems.ts";
import { typeOf } from "./types/table.ts";

/** Throws a Problem unless the reference, standing in a thing that lives at `home`, names a text that the actor may see. */
type RequireSecret = (
  actor: Actor,
  home: Place,
  reference: string,
  type: "ENCRYPTED_TEXT",
) => Promise<{ readonly id: Uuid }>;

/** What the operations that write need. */
export type ConnectorDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly leaveGroups: LeaveGroups;
  readonly requireScope: RequireScope;
  readonly requireSecret: RequireSecret;
  readonly noteSecretUses: NoteUses;
  readonly clock: Clock;
  readonly newId: NewId;
};

/**
 * The ids of the secrets that the connector names, by reference. Throws `connector.no_secret` unless each is
 * there, `secret.taking_refused` unless the actor may use it.
 */
export async function requireSecrets(
  { requireSecret }: Pick<ConnectorDeps, "requireSecret">,
  actor: Actor,
  connector: NewConnector,
): Promise<Readonly<Record<string, Uuid>>> {
  const ids: [string, Uuid][] = [];
  for (const { path, reference } of typeOf(connector).secrets(connector.spec)) {
    // A file is no password.
    const { id } = await requireSecret(actor, connector, reference, "ENCRYPTED_TEXT").catch((error: unknown) => {
      if (!(error instanceof Problem) || error.status !== 400) throw error;
      throw problem("connector.no_secret", [`connector.spec.${path.join(".")}`, error.message]);
    });
    ids.push([reference, id]);
  }
  return Object.fromEntries(ids);
}

/** Notes in the transaction that saves a connector which secrets it names. */
export const noteSecrets = (
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
