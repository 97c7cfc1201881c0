import type { Actor } from "../core/actor.ts";
import { commonProblem } from "../core/problems.ts";
import { scopeOf, within } from "../core/reference.ts";
import { shownRemovals } from "../platform/removed-reference.ts";
import { shownConnector, type ConnectorKey } from "./connector.ts";
import { problem } from "./problems.ts";
import { deleteConnectorRow, findConnector } from "./store/connectors.ts";
import { connectorReferences } from "./references.ts";
import type { ConnectorDeps } from "./secret-references.ts";

type DeleteOptions = { readonly version: number | undefined; readonly force: boolean };

/**
 * Deletes a connector; with `force` also a referenced one. Throws `connector.not_found`, `core.stale_version`,
 * `core.referenced`.
 */
export const deleteConnector =
  (deps: Pick<ConnectorDeps, "db" | "audit" | "authorize" | "dereference" | "noteSecretUses">) =>
  async (actor: Actor, key: ConnectorKey, { version, force }: DeleteOptions): Promise<void> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_connector_delete", scopeOf(accountId, key), key.identifier);
    await deps.db.transaction(async (tx) => {
      const before = await findConnector(tx, accountId, key, "deletion");
      if (!before) throw problem("connector.not_found", [key.identifier]);
      if (version !== undefined && before.version !== version)
        throw commonProblem("core.stale_version", ["Connector", key.identifier, `${before.version}`, `${version}`]);
      if (!force) await connectorReferences.requireUnreferenced(tx, actor, key);
      await deleteConnectorRow(tx, accountId, before.id);
      await deps.noteSecretUses(tx, accountId, { ...key, type: "CONNECTOR", id: before.id }, []);
      const groups = await deps.dereference(tx, accountId, key, { CONNECTOR: key.identifier });
      await deps.audit.record(tx, actor, {
        operation: "connector.delete",
        resourceType: "CONNECTOR",
        resourceId: key.identifier,
        scope: within(key),
        before: { ...shownRemovals(groups), ...shownConnector(before) },
      });
    });
  };

export type DeleteConnector = ReturnType<typeof deleteConnector>;
