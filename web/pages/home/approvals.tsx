import { useQuery } from "@tanstack/react-query";
import { dataQuery } from "../../api/client.ts";
import { approvalListPending } from "../../api/operations.gen.ts";
import type { Scope } from "../../api/permissions.ts";
import { projectPath } from "../../api/recent-project.ts";
import { StatusIcon } from "../../components/status-icon.tsx";
import { Card } from "../../ui/card.tsx";
import { PathLink } from "../../ui/link.tsx";
import { Name } from "../../ui/name.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import styles from "./home.module.css";

const SHOWN = 20;

/** What waits for the decision of the user. It is decided on the page of the execution, which shows what it is about. */
export function Approvals({ scope }: { readonly scope: Scope }) {
  const { data, error } = useQuery(dataQuery(approvalListPending, { query: { ...scope, mine: true, size: SHOWN } }));
  const waiting = data?.content ?? [];
  return (
    <Card title="Waiting for your approval" flush>
      {error !== null && <p className={styles.none}>The approvals could not be loaded.</p>}
      {data !== undefined && waiting.length === 0 && <p className={styles.none}>Nothing waits for you.</p>}
      <ul className={styles.rows}>
        {waiting.map((one) => (
          <li key={one.id} className={styles.row}>
            <StatusIcon status="ApprovalWaiting" />
            <PathLink
              look="quiet"
              path={`${projectPath({ org: one.orgIdentifier, project: one.projectIdentifier })}/executions/${one.planExecutionId}`}
              search={{ node: one.nodeExecutionId }}
              className={styles.name}
            >
              <Name>{one.pipelineName}</Name> #{one.runSequence}
            </PathLink>
            <span className={styles.detail}>
              <Name>{one.stageName}</Name>:{" "}
              {one.details.approvalMessage === "" ? one.stepName : one.details.approvalMessage}
            </span>
            <span className={styles.when}>
              since <RelativeTime at={one.createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
