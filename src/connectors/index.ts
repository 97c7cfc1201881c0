/** Connectors to registries, clusters and Git. Each connector type is one file in `types/`. */
import type { NewId } from "../core/ids.ts";
import { createExist, usedByRoute, type ListUsedBy } from "../access/index.ts";
import type { EmptyScope } from "../projects/index.ts";
import type { ResolveForStep } from "../secrets/index.ts";
import { createConnector } from "./create.ts";
import { deleteConnector } from "./delete.ts";
import { createDelegateTests } from "./connection-tests/delegate-tests.ts";
import { findUsedConnectors } from "./find-used.ts";
import { getConnector, isIdentifierFree } from "./get.ts";
import { listConnectors } from "./list/list.ts";
import { listByName } from "./list/by-name.ts";
import { openForDelegate, openSecrets, requireUsers, type OpenSecretsDeps } from "./connection-tests/open-secrets.ts";
import { connectorRoutes, testRoutes } from "./rest/connectors.ts";
import { PATH } from "./rest/query.ts";
import { overviewRoutes } from "./rest/overview.ts";
import { countConnectors } from "./list/count.ts";
import { deleteConnectorsOf } from "./store/connectors.ts";
import { testConnection, recordTest, type TestConnectionDeps } from "./connection-tests/run.ts";
import { resolveCluster } from "./resolve-cluster.ts";
import { updateConnector } from "./update.ts";
import { connectorReferences } from "./references.ts";
import type { ConnectorDeps } from "./secret-references.ts";

export type { FindUsedConnectors, UsedConnector } from "./find-used.ts";

export type { ResolveCluster, ResolvedCluster } from "./resolve-cluster.ts";

/** The slice without connection tests, which need the delegates (`createConnectionTests`). */
export function createConnectors(deps: ConnectorDeps & { readonly resolveForStep: ResolveForStep }) {
  const operations = {
    create: createConnector(deps),
    update: updateConnector(deps),
    delete: deleteConnector(deps),
    get: getConnector(deps),
    list: listConnectors(deps),
    isIdentifierFree: isIdentifierFree(deps),
  };
  const usedBy: ListUsedBy = async (actor, key, window) => {
    await operations.get(actor, key);
    return connectorReferences.listUsedBy(deps.db, actor, key, window);
  };
  return {
    ...operations,
    exist: createExist(deps, "connector"),
    findUsed: findUsedConnectors(deps),
    resolveCluster: resolveCluster(deps),
    noteUses: connectorReferences.note,
    emptyScope,
    routes: [
      ...overviewRoutes({ count: countConnectors(deps), listByName: listByName(deps) }),
      ...connectorRoutes(operations),
      usedByRoute({ noun: "connector", path: PATH, identifier: "images" }, usedBy),
    ],
  };
}

const emptyScope: EmptyScope = async (tx, scope) => {
  await connectorReferences.deleteReferencesOf(tx, scope);
  return deleteConnectorsOf(tx, scope);
};

/** Routes and background work of the tests; `lock` and `openSecrets` serve the tasks of delegates. */
export type ConnectionTests = ReturnType<typeof createConnectionTests>;

/** Connection tests. Built after the delegates slice, because delegates run them. */
export function createConnectionTests(
  deps: Omit<TestConnectionDeps, "requireUsers" | "openSecrets"> &
    OpenSecretsDeps & { readonly newId: NewId; readonly onError: (error: unknown) => void },
) {
  const onDelegate = createDelegateTests({ ...deps, record: recordTest(deps) });
  const requireKnownUsers = requireUsers(deps);
  const openAll = openSecrets(deps, requireKnownUsers);
  return {
    routes: testRoutes(testConnection({ ...deps, requireUsers: requireKnownUsers, openSecrets: openAll }, onDelegate)),
    /** Opens the secrets of a test for the delegate that has the lease of its task. */
    openSecrets: openForDelegate(deps, openAll),
    lock: onDelegate.lock,
    sweep: onDelegate.sweep,
    stop: onDelegate.stop,
  };
}
