/** What is told of many executions together: counts, deployments, differences. */
import { getChanges } from "./changes/changes.ts";
import { listDeployedServices, listDeployments } from "./deployments/list.ts";
import { getMeasures } from "./deployments/measures.ts";
import { getOverview } from "./overview/overview.ts";
import { getStatistics } from "./statistics/statistics.ts";

type Deps = Parameters<typeof getChanges>[0] &
  Parameters<typeof getMeasures>[0] &
  Parameters<typeof getOverview>[0] &
  Parameters<typeof getStatistics>[0];

export const createReports = (deps: Deps) => ({
  statistics: getStatistics(deps),
  overview: getOverview(deps),
  changes: getChanges(deps),
  listDeployments: listDeployments(deps),
  listDeployedServices: listDeployedServices(deps),
  measures: getMeasures(deps),
});
