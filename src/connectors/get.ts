import type { Actor } from "../core/actor.ts";
import { scopeOf } from "../core/reference.ts";
import type { Authorize } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { Connector, ConnectorKey } from "./connector.ts";
import { problem } from "./problems.ts";
import { findConnector } from "./store/connectors.ts";

type Deps = { readonly db: Db; readonly authorize: Authorize };

/** Returns one connector. Throws `connector.not_found`. */
export const getConnector =
  (deps: Deps) =>
  async (actor: Actor, key: ConnectorKey): Promise<Connector> => {
    deps.authorize(actor, "core_connector_view", scopeOf(actor.accountId, key), key.identifier);
    const connector = await findConnector(deps.db, actor.accountId, key);
    if (!connector) throw problem("connector.not_found", [key.identifier]);
    return connector;
  };

export type GetConnector = ReturnType<typeof getConnector>;

/** Whether a new connector may have this identifier in that scope. */
export const isIdentifierFree =
  (deps: Deps) =>
  async (actor: Actor, key: ConnectorKey): Promise<boolean> => {
    deps.authorize(actor, "core_connector_view", scopeOf(actor.accountId, key), key.identifier);
    return (await findConnector(deps.db, actor.accountId, key)) === undefined;
  };

export type IsIdentifierFree = ReturnType<typeof isIdentifierFree>;
