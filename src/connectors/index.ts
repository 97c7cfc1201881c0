/** How to reach registries, clusters and git. A further type is one file in `types/`. */
import type { NewId } from "../core/ids.ts";
import { makeExist, makeFindIds } from "../access/index.ts";
import type { EmptyScope } from "../projects/index.ts";
import { makeCreateConnector } from "./create.ts";
import { makeDeleteConnector } from "./delete.ts";
import { makeDelegateTests } from "./delegate-tests.ts";
import { makeGetConnector, makeIsIdentifierFree } from "./get.ts";
import { makeListConnectors } from "./list.ts";
import { makeListByName } from "./list-by-name.ts";
import { makeOpenForDelegate, makeOpenSecrets, makeRequireUsers, type OpenSecretsDeps } from "./open-secrets.ts";
import { connectorRoutes, testRoutes } from "./rest.ts";
import { overviewRoutes } from "./rest-overview.ts";
import { makeCountConnectors } from "./stats.ts";
import { deleteConnectorsOf } from "./store/connectors.ts";
import { makeTestConnection, recordTest, type TestConnectionDeps } from "./test-connection.ts";
import { makeUpdateConnector } from "./update.ts";
import { connectorUses } from "./uses.ts";
import type { ConnectorDeps } from "./verbs.ts";

export function makeConnectors(deps: ConnectorDeps) {
  const verbs = {
    create: makeCreateConnector(deps),
    update: makeUpdateConnector(deps),
    delete: makeDeleteConnector(deps),
    get: makeGetConnector(deps),
    list: makeListConnectors(deps),
    isIdentifierFree: makeIsIdentifierFree(deps),
  };
  return {
    ...verbs,
    exist: makeExist(deps, "connector"),
    findIds: makeFindIds(deps, "connector"),
    noteUses: connectorUses.note,
    emptyScope,
    routes: [
      ...overviewRoutes({ count: makeCountConnectors(deps), listByName: makeListByName(deps) }),
      ...connectorRoutes(verbs),
    ],
  };
}

const emptyScope: EmptyScope = async (tx, scope) => {
  await connectorUses.forgetAt(tx, scope);
  return deleteConnectorsOf(tx, scope);
};

export type ConnectionTests = ReturnType<typeof makeConnectionTests>;

/** The tests of connections; built once there are delegates to carry them out. */
export function makeConnectionTests(
  deps: Omit<TestConnectionDeps, "requireUsers" | "openSecrets"> &
    OpenSecretsDeps & { readonly newId: NewId; readonly onError: (error: unknown) => void },
) {
  const onDelegate = makeDelegateTests({ ...deps, record: recordTest(deps) });
  const requireUsers = makeRequireUsers(deps);
  const openSecrets = makeOpenSecrets(deps, requireUsers);
  return {
    routes: testRoutes(makeTestConnection({ ...deps, requireUsers, openSecrets }, onDelegate)),
    /** For the delegate that holds the task of a test. */
    openSecrets: makeOpenForDelegate(deps, openSecrets),
    lock: onDelegate.lock,
    sweep: onDelegate.sweep,
    stop: onDelegate.stop,
  };
}
