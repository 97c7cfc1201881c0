import type { Actor } from "../core/actor.ts";
import type { Authorize } from "../identity/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { Connector } from "./connector.ts";
import { problem } from "./problems.ts";
import { findConnector, type ConnectorKey } from "./store.ts";

/** Throws `connector.not_found`. */
export type GetConnector = (actor: Actor, key: ConnectorKey) => Promise<Connector>;

export const makeGetConnector =
  (deps: { db: Db; authorize: Authorize }): GetConnector =>
  async (actor, key) => {
    deps.authorize(actor, "core_connector_view", { accountId: actor.accountId });
    const connector = await findConnector(deps.db, actor.accountId, key);
    if (!connector) throw problem("connector.not_found", [key.identifier]);
    return connector;
  };
