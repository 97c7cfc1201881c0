import { getRouteApi } from "@tanstack/react-router";
import { deploymentMeasures, executionList, executionStatistics } from "../../api/operations.gen.ts";
import { useMayOnSome } from "../../api/permissions.ts";
import { CopyAs } from "../../components/copy-as.tsx";
import { useProjectScope } from "../../routes/scope.ts";
import { Section } from "../../ui/card.tsx";
import { Notice } from "../../ui/notice.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { useTitle } from "../../util/use-title.ts";
import { projectRoute } from "../../routes/project-route.ts";
import { Approvals } from "./approvals.tsx";
import { FAILED_STATUSES, FailedExecutions, listRequest, OPEN_STATUSES, OpenExecutions } from "./executions.tsx";
import { GettingStarted } from "./getting-started.tsx";
import { parseHomeSearch } from "./home-search.ts";
import { ProjectMeasures } from "./measures.tsx";
import { RangeControl } from "./range-control.tsx";
import { StatisticsCharts, statisticsRequest } from "./statistics.tsx";
import { useLiveProject } from "./use-live-project.ts";
import styles from "./home.module.css";

const route = getRouteApi("/projects/$org/$project/");

/** What happens in one project: what runs, waits and failed, and how it went by day. */
export function ProjectHomePage() {
  const { project } = projectRoute.useLoaderData();
  const scope = useProjectScope();
  const { days = 30 } = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMayOnSome(scope);
  const connection = useLiveProject(scope);
  useTitle("Overview", project.name);
  return (
    <>
      <PageHeader
        title={project.name}
        meta={project.description === "" ? undefined : project.description}
        actions={
          <CopyAs
            requests={[
              { label: "List what runs", operation: executionList, ...listRequest(scope, OPEN_STATUSES) },
              { label: "List failures", operation: executionList, ...listRequest(scope, FAILED_STATUSES) },
              {
                label: "Count executions",
                operation: executionStatistics,
                ...statisticsRequest(scope, days, new Date()),
              },
              {
                label: "Measure delivery",
                operation: deploymentMeasures,
                ...statisticsRequest(scope, days, new Date()),
              },
            ]}
          />
        }
      />
      {connection === "lost" && (
        <Notice tone="waiting">The connection is lost. What you see may be out of date.</Notice>
      )}
      {may(executionList) ? (
        <div className={styles.page}>
          <GettingStarted scope={scope} />
          <div className={styles.columns}>
            <OpenExecutions scope={scope} />
            <Approvals scope={scope} />
          </div>
          <FailedExecutions scope={scope} />
          <Section
            title="Executions"
            actions={
              <RangeControl
                value={days}
                onChange={(value) => void navigate({ search: parseHomeSearch({ days: value }) })}
              />
            }
          >
            <StatisticsCharts scope={scope} range={days} />
          </Section>
          <Section title="Delivery" description="Deployments to production environments in the same range.">
            <ProjectMeasures scope={scope} range={days} />
          </Section>
        </div>
      ) : (
        <Notice>You may not see the executions of this project.</Notice>
      )}
    </>
  );
}
