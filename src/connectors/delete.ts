import { usersTold } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import { commonProblem } from "../core/problems.ts";
import type { Tx } from "../platform/db/db.ts";
import { scopeOf, shownConnector, type ConnectorKey } from "./connector.ts";
import { problem } from "./problems.ts";
import { deleteConnector, findConnector } from "./store/connectors.ts";
import { usersOf } from "./store/uses.ts";
import type { ConnectorDeps } from "./verbs.ts";

type How = { readonly version: number | undefined; readonly force: boolean };

/** `force` deletes also what is used. Throws `connector.not_found`, `core.stale_version`, `core.referenced`. */
export type DeleteConnector = (actor: Actor, key: ConnectorKey, how: How) => Promise<void>;

export const makeDeleteConnector =
  (deps: Pick<ConnectorDeps, "db" | "audit" | "authorize" | "noteSecretUses">): DeleteConnector =>
  async (actor, key, how) => {
    const scope = scopeOf(key);
    deps.authorize(actor, "core_connector_delete", { accountId: actor.accountId, ...scope }, key.identifier);
    await deps.db.transaction(async (tx) => {
      const before = await findConnector(tx, actor.accountId, key, "hold");
      const id = await deleteConnector(tx, actor.accountId, key, how);
      if (!id) throw await whyNot(tx, actor, key, how);
      await deps.noteSecretUses(tx, actor.accountId, { ...key, type: "CONNECTOR", id }, []);
      await deps.audit.record(tx, actor, {
        operation: "connector.delete",
        resourceType: "CONNECTOR",
        resourceId: key.identifier,
        scope,
        before: before && shownConnector(before),
      });
    });
  };

async function whyNot(tx: Tx, actor: Actor, key: ConnectorKey, { version }: How): Promise<Error> {
  const now = await findConnector(tx, actor.accountId, key);
  if (!now) return problem("connector.not_found", [key.identifier]);
  if (version !== undefined && now.version !== version)
    return commonProblem("core.stale_version", ["Connector", key.identifier, String(now.version), String(version)]);
  const users = await usersOf(tx, actor.accountId, key);
  return commonProblem("core.referenced", ["Connector", key.identifier, usersTold(actor, users)]);
}
