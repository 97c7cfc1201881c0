/** How to reach registries, clusters and git. A further type is one file in `types/`. */
import type { Permits } from "../identity/index.ts";
import { makeCreateConnector, type CreateConnectorDeps } from "./create.ts";
import { makeConnectorsExist } from "./exist.ts";
import { makeGetConnector } from "./get.ts";
import { connectorRoutes } from "./rest.ts";

export function makeConnectors(deps: CreateConnectorDeps & { readonly permits: Permits }) {
  const verbs = { create: makeCreateConnector(deps), get: makeGetConnector(deps) };
  return { ...verbs, exist: makeConnectorsExist(deps), routes: connectorRoutes(verbs) };
}
