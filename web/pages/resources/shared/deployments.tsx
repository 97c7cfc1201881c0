import { useQuery } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery, type DataOf } from "../../../api/client.ts";
import { deploymentList, deploymentListServices, type DeploymentContent } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { usePageScope } from "../../../routes/scope.ts";
import { Section } from "../../../ui/card.tsx";
import { Link } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { TagList } from "../../../ui/tag.tsx";
import { RelativeTime } from "../../../ui/time.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import styles from "./resources.module.css";

type Deployed = DataOf<typeof deploymentListServices>["content"][number];
/** Whether the resource is an environment or a service. The other one tells its deployments apart. */
export type DeploymentSide = "environment" | "service";

const MOST = 100;
const SHOWN_IN_CELL = 3;

const filterOf = (side: DeploymentSide, identifier: string) =>
  side === "environment" ? { environmentIdentifier: identifier } : { serviceIdentifier: identifier };
const otherOf = (side: DeploymentSide, one: Pick<Deployed, "serviceIdentifier" | "environmentIdentifier">): string =>
  side === "environment" ? one.serviceIdentifier : one.environmentIdentifier;
const versionOf = ({ running }: Deployed): string => (running === null ? "–" : (running.version ?? "no version"));

export const deployedRequest = (scope: Required<Scope>, side: DeploymentSide, identifier: string) => ({
  query: { ...scope, ...filterOf(side, identifier), size: MOST },
});
export const historyRequest = (scope: Required<Scope>, side: DeploymentSide, identifier: string) => ({
  query: { ...scope, ...filterOf(side, identifier), size: 20 },
});

type SideProps = { readonly side: DeploymentSide; readonly identifier: string };

/** What is deployed, in a row of a project's list. */
export function DeployedCell({ side, identifier }: SideProps) {
  const { orgIdentifier, projectIdentifier } = usePageScope();
  const isInProject = orgIdentifier !== undefined && projectIdentifier !== undefined;
  const scope = { orgIdentifier: orgIdentifier ?? "", projectIdentifier: projectIdentifier ?? "" };
  const { data } = useQuery({
    ...dataQuery(deploymentListServices, deployedRequest(scope, side, identifier)),
    enabled: isInProject,
  });
  const running = data?.content.filter((one) => one.running !== null) ?? [];
  if (running.length === 0) return data === undefined ? null : <span className={styles.quiet}>Nothing yet</span>;
  const more = running.length - SHOWN_IN_CELL;
  return (
    <TagList
      tags={[
        ...running.slice(0, SHOWN_IN_CELL).map((one) => `${otherOf(side, one)} ${versionOf(one)}`),
        ...(more > 0 ? [`${more} more`] : []),
      ]}
    />
  );
}

type DeploymentsProps = SideProps & { readonly scope: Required<Scope> };

/** The versions that run, and the history. */
export function Deployments({ side, identifier, scope }: DeploymentsProps) {
  const deployed = useQuery(dataQuery(deploymentListServices, deployedRequest(scope, side, identifier)));
  const history = useQuery(dataQuery(deploymentList, historyRequest(scope, side, identifier)));
  const error = deployed.error ?? history.error;
  if (error !== null) return <Notice tone="failed">{messageOf(error)}</Notice>;
  if (deployed.data === undefined || history.data === undefined) return <SkeletonLines lines={6} />;
  return (
    <>
      <Section title="Deployed versions">
        {deployed.data.content.length === 0 && <p className={styles.quiet}>Nothing was deployed yet.</p>}
        <ul className={styles.rows} aria-label="Deployed versions">
          {deployed.data.content.map((one) => (
            <DeployedRow key={otherOf(side, one)} side={side} deployed={one} scope={scope} />
          ))}
        </ul>
      </Section>
      {history.data.content.length > 0 && (
        <Section title="Last deployments">
          <ul className={styles.rows} aria-label="Last deployments">
            {history.data.content.map((one) => (
              <li key={one.deploymentId} className={styles.deployment}>
                <RunOf deployment={one} scope={scope} />
                <span className={styles.facts}>
                  {`${visibleText(otherOf(side, one))} ${visibleText(one.version ?? "")}`}
                </span>
                <span className={styles.when}>
                  <RelativeTime at={one.startTs} />
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

type DeployedRowProps = {
  readonly side: DeploymentSide;
  readonly deployed: Deployed;
  readonly scope: Required<Scope>;
};

/** The version that runs. If the last deployment is another one, it says what became of it. */
function DeployedRow({ side, deployed, scope }: DeployedRowProps) {
  const { running, latest } = deployed;
  return (
    <li className={styles.deployment}>
      <span className={styles.facts}>
        <Name>{otherOf(side, deployed)}</Name> <strong>{visibleText(versionOf(deployed))}</strong>
      </span>
      <span className={styles.when}>
        {running === null ? (
          "never succeeded"
        ) : (
          <>
            deployed <RelativeTime at={running.endTs ?? running.startTs} />
          </>
        )}
      </span>
      {latest.deploymentId !== running?.deploymentId && (
        <span className={styles.latest}>
          <span className={styles.quiet}>Last deployment</span>
          <RunOf deployment={latest} scope={scope} />
          <span className={styles.facts}>{visibleText(latest.version ?? "")}</span>
        </span>
      )}
    </li>
  );
}

type RunOfProps = {
  readonly deployment: Pick<
    DeploymentContent,
    "status" | "planExecutionId" | "isExecutionDeleted" | "pipelineName" | "runSequence"
  >;
  readonly scope: Required<Scope>;
};

/** The status of a deployment with its execution, which may have been deleted since. */
function RunOf({ deployment, scope }: RunOfProps) {
  const { status, planExecutionId, isExecutionDeleted, pipelineName, runSequence } = deployment;
  const name = (
    <>
      <Name>{pipelineName}</Name> #{runSequence}
    </>
  );
  return (
    <>
      <StatusBadge status={status} />
      {isExecutionDeleted ? (
        <span>{name}</span>
      ) : (
        <Link
          to="/projects/$org/$project/executions/$execution"
          params={{ org: scope.orgIdentifier, project: scope.projectIdentifier, execution: planExecutionId }}
        >
          {name}
        </Link>
      )}
    </>
  );
}
