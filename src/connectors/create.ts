import type { Actor } from "../core/actor.ts";
import { scopeOf, within } from "../core/reference.ts";
import { authorOf } from "../identity/index.ts";
import { shownConnector, type Connector, type NewConnector } from "./connector.ts";
import { problem } from "./problems.ts";
import { insertConnector } from "./store/connectors.ts";
import { recordSecretReferences, requireSecrets, type ConnectorDeps } from "./secret-references.ts";

/**
 * Creates a connector in the scope that `input` names. Throws what RequireScope throws, `connector.no_secret`,
 * `connector.duplicate`.
 */
export const createConnector =
  (deps: ConnectorDeps) =>
  async (actor: Actor, input: NewConnector): Promise<Connector> => {
    deps.authorize(actor, "core_connector_edit", scopeOf(actor.accountId, input), input.identifier);
    await deps.requireScope(actor, input);
    const saved = { author: authorOf(actor), secretIds: await requireSecrets(deps, actor, input) };
    const at = deps.clock.now();
    const connector: Connector = {
      ...input,
      id: deps.newId(),
      status: null,
      activityAt: at,
      version: 1,
      createdAt: at,
      updatedAt: at,
    };
    await deps.db.transaction(async (tx) => {
      if (!(await insertConnector(tx, actor.accountId, { connector, saved })))
        throw problem("connector.duplicate", [input.identifier]);
      await recordSecretReferences(deps, tx, actor.accountId, connector);
      await deps.audit.record(tx, actor, {
        operation: "connector.create",
        resourceType: "CONNECTOR",
        resourceId: input.identifier,
        scope: within(input),
        after: shownConnector(connector),
      });
    });
    return connector;
  };

export type CreateConnector = ReturnType<typeof createConnector>;
