import type { Actor } from "../../core/actor.ts";
import { fromWire } from "../../core/ids.ts";
import { scopeOf } from "../../core/reference.ts";
import { authorizeSomewhere, permits } from "../../access/index.ts";
import type { Db } from "../../platform/db/db.ts";
import type { Connector, ConnectorKey } from "../connector.ts";
import { findConnectors } from "../store/overview.ts";

/**
 * Returns connectors by full name, `account/org/project/identifier`, in the order of the names, each once. Omits
 * connectors that do not exist, belong to another account, or that the actor may not see.
 */
export const listByName =
  (deps: { db: Db }) =>
  async (actor: Actor, names: readonly string[]): Promise<readonly Connector[]> => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_connector_view");
    const keys = [...new Set(names)]
      .flatMap((name) => keyIn(actor, name))
      .filter((key) => permits(actor, "core_connector_view", scopeOf(accountId, key), key.identifier));
    return keys.length === 0 ? [] : findConnectors(deps.db, accountId, keys);
  };

export type ListByName = ReturnType<typeof listByName>;

function keyIn({ accountId }: Actor, name: string): readonly ConnectorKey[] {
  const [account = "", ...parts] = name.split("/");
  const identifier = parts.pop() ?? "";
  const [orgIdentifier = null, projectIdentifier = null] = parts;
  return fromWire(account) === accountId ? [{ orgIdentifier, projectIdentifier, identifier }] : [];
}
