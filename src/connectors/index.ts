/** How to reach registries, clusters and git. A further type is one file in `types/`. */
import { makeCreateConnector, type CreateConnectorDeps } from "./create.ts";
import { makeGetConnector } from "./get.ts";
import { connectorRoutes } from "./rest.ts";

export function makeConnectors(deps: CreateConnectorDeps) {
  const verbs = { create: makeCreateConnector(deps), get: makeGetConnector(deps) };
  return { ...verbs, routes: connectorRoutes(verbs) };
}
