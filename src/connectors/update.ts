import type { Actor } from "../core/actor.ts";
import { commonProblem } from "../core/problems.ts";
import { scopeOf, within } from "../core/reference.ts";
import { authorOf } from "../identity/index.ts";
import type { Tx } from "../platform/db/db.ts";
import { shownConnector, type Connector, type NewConnector } from "./connector.ts";
import { problem } from "./problems.ts";
import { findConnector, updateConnectorRow } from "./store/connectors.ts";
import { recordSecretReferences, requireSecrets, type ConnectorDeps } from "./secret-references.ts";

/**
 * Replaces the connector that scope and identifier of `input` name; its type cannot change. `version` is the version
 * that the caller has read; undefined accepts any. Throws `connector.not_found`, `connector.other_type`,
 * `connector.no_secret`, `core.stale_version`.
 */
export const updateConnector =
  (deps: ConnectorDeps) =>
  async (actor: Actor, input: NewConnector, version: number | undefined): Promise<Connector> => {
    deps.authorize(actor, "core_connector_edit", scopeOf(actor.accountId, input), input.identifier);
    await deps.requireScope(actor, input);
    const saved = { author: authorOf(actor), secretIds: await requireSecrets(deps, actor, input) };
    return deps.db.transaction(async (tx) => {
      const before = await findConnector(tx, actor.accountId, input, "change");
      const change = { to: input, saved, version, at: deps.clock.now() };
      const connector = await updateConnectorRow(tx, actor.accountId, change);
      if (!connector) throw await explainRejectedUpdate(tx, actor, input, version);
      await recordSecretReferences(deps, tx, actor.accountId, connector);
      await deps.audit.record(tx, actor, {
        operation: "connector.update",
        resourceType: "CONNECTOR",
        resourceId: input.identifier,
        scope: within(input),
        before: before && shownConnector(before),
        after: shownConnector(connector),
      });
      return connector;
    });
  };

export type UpdateConnector = ReturnType<typeof updateConnector>;

async function explainRejectedUpdate(
  tx: Tx,
  actor: Actor,
  input: NewConnector,
  version: number | undefined,
): Promise<Error> {
  const { identifier } = input;
  const now = await findConnector(tx, actor.accountId, input);
  if (!now) return problem("connector.not_found", [identifier]);
  if (now.type !== input.type) return problem("connector.other_type", [identifier, now.type, input.type]);
  return commonProblem("core.stale_version", ["Connector", identifier, String(now.version), String(version)]);
}
