import { useQuery } from "@tanstack/react-query";
import { dataQuery } from "../../api/client.ts";
import { approvalListPending, projectList } from "../../api/operations.gen.ts";
import { CopyAs } from "../../components/copy-as.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ButtonLink, Link } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { SkeletonLines } from "../../ui/skeleton.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { useTitle } from "../../util/use-title.ts";
import { Approvals } from "./approvals.tsx";
import styles from "./home.module.css";

const SHOWN = 10;
const projects = { pageSize: SHOWN, sortOrders: "lastModifiedAt,DESC" };

/** What waits for the user in all projects, and the way to them. */
export function HomePage() {
  useTitle("Overview");
  const list = useQuery(dataQuery(projectList, { query: projects }));
  return (
    <>
      <PageHeader
        title="Overview"
        actions={
          <CopyAs
            requests={[
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
        <div className={styles.columns}>
          <Approvals scope={{}} />
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
