import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId } from "../core/ids.ts";
import type { Place } from "../core/reference.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize } from "../identity/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { RequireScope } from "../projects/index.ts";
import type { NewConnector } from "./connector.ts";
import { problem } from "./problems.ts";
import { typeOf } from "./types/table.ts";

/**
 * Which of the references, standing in a thing that lives at `home`, name a secret that the actor may use. A port:
 * whoever keeps secrets answers it.
 */
export type SecretsExist = (actor: Actor, home: Place, references: readonly string[]) => Promise<readonly boolean[]>;

/** What the verbs that write need. */
export type ConnectorDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly requireScope: RequireScope;
  readonly secretsExist?: SecretsExist;
  readonly clock: Clock;
  readonly newId: NewId;
};

/** Throws `connector.no_secret` unless every secret that the connector names is there. */
export async function requireSecrets(
  { secretsExist }: Pick<ConnectorDeps, "secretsExist">,
  actor: Actor,
  connector: NewConnector,
): Promise<void> {
  const named = typeOf(connector).secrets(connector.spec);
  if (named.length === 0 || !secretsExist) return;
  const exist = await secretsExist(
    actor,
    connector,
    named.map(({ reference }) => reference),
  );
  const missing = named.find((_, nth) => exist[nth] !== true);
  if (missing) throw problem("connector.no_secret", [`connector.spec.${missing.path.join(".")}`, missing.reference]);
}
