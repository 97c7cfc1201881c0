import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { dataQuery } from "../../api/client.ts";
import { approvalListPending, executionOverview, projectList } from "../../api/operations.gen.ts";
import { CopyAs } from "../../components/copy-as.tsx";
import { Card, Section } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ButtonLink, Link } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { SkeletonLines } from "../../ui/skeleton.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { useTitle } from "../../util/use-title.ts";
import { LastFailures, overviewRequest, RunningNow, useOverview, WaitingNow } from "./account-executions.tsx";
import { Approvals } from "./approvals.tsx";
import { parseHomeSearch } from "./home-search.ts";
import { MeasuresTable } from "./measures-table.tsx";
import { RangeControl } from "./range-control.tsx";
import styles from "./home.module.css";

const route = getRouteApi("/");
const SHOWN = 10;
const projects = { pageSize: SHOWN, sortOrders: "lastModifiedAt,DESC" };

/** What runs, waits and failed in all projects, how they deliver, and the way to them. */
export function HomePage() {
  useTitle("Overview");
  const { days = 30 } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useQuery(dataQuery(projectList, { query: projects }));
  const overview = useOverview();
  return (
    <>
      <PageHeader
        title="Overview"
        actions={
          <CopyAs
            requests={[
              { label: "List what runs, waits and failed", operation: executionOverview, ...overviewRequest },
              { label: "List projects", operation: projectList, query: projects },
              { label: "List what waits for your approval", operation: approvalListPending, query: { mine: true } },
            ]}
          />
        }
      />
      {list.data?.totalItems === 0 ? (
        <EmptyState
          icon="flag"
          title="Welcome to Railhead"
          actions={
            <ButtonLink to="/account/projects" variant="primary">
              Create the first project
            </ButtonLink>
          }
        >
          A project holds pipelines with their environments, services, connectors and secrets. Its overview then leads
          through the next steps.
        </EmptyState>
      ) : (
        <div className={styles.page}>
          <div className={styles.columns}>
            <RunningNow {...overview} />
            <WaitingNow {...overview} />
            <Approvals scope={{}} />
            <LastFailures {...overview} />
          </div>
          {list.data !== undefined && (
            <Section
              title="Delivery"
              description="Deployments to production environments, by project."
              actions={
                <RangeControl
                  value={days}
                  onChange={(value) => void navigate({ search: parseHomeSearch({ days: value }) })}
                />
              }
            >
              <MeasuresTable projects={list.data.content.map(({ project }) => project)} range={days} />
            </Section>
          )}
          <Card title="Projects" flush actions={<Link to="/account/projects">All projects</Link>}>
            {list.data === undefined ? (
              <SkeletonLines lines={4} />
            ) : (
              <ul className={styles.rows}>
                {list.data.content.map(({ project, lastModifiedAt }) => (
                  <li key={`${project.orgIdentifier}/${project.identifier}`} className={styles.row}>
                    <Link
                      look="quiet"
                      to="/projects/$org/$project"
                      params={{ org: project.orgIdentifier, project: project.identifier }}
                      className={styles.name}
                    >
                      {project.name}
                    </Link>
                    <span className={styles.detail}>
                      {project.orgIdentifier} / {project.identifier}
                    </span>
                    <span className={styles.when}>
                      changed <RelativeTime at={lastModifiedAt} />
                    </span>
                  </li>
                ))}
              </ul>
            )}
          </Card>
        </div>
      )}
    </>
  );
}
