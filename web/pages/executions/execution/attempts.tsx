import { getRouteApi } from "@tanstack/react-router";
import type { RunNode } from "../../../components/execution-store.ts";
import { isStep } from "../../../components/run-graph/node-kind.ts";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { Link } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import { Duration } from "../../../ui/time.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import styles from "./execution-page.module.css";
import { LogText } from "./failure-report.tsx";
import { logPath } from "./log-preview.tsx";
import { Outputs, outputsOf } from "./outputs.tsx";

const route = getRouteApi("/projects/$org/$project/executions/$execution");

/** The attempts before the last one, the newest first. */
export function Attempts({ node }: { readonly node: RunNode }) {
  const params = route.useParams();
  return (
    <ol className={styles.list} reversed>
      {node.earlierAttempts.toReversed().map((one) => (
        <li key={one.attempt} className={styles.attempt}>
          <div className={styles.attemptHead}>
            <strong>Attempt {one.attempt}</strong>
            <StatusBadge status={one.status} />
            <Duration startedAt={one.startTs} endedAt={one.endTs ?? undefined} />
            {one.exitCode !== null && <span>exit code {one.exitCode}</span>}
            {one.delegateInfoList.map(({ id, name }) => (
              <span key={id}>
                on <Name>{name}</Name>
              </span>
            ))}
            {isStep(node) && <Link to={logPath(params, node.uuid, one.attempt)}>Log</Link>}
          </div>
          {one.failureInfo && <p className={styles.message}>{visibleText(one.failureInfo.message)}</p>}
          {one.failureInfo?.logTail && (
            <LogText label={`Last lines of attempt ${one.attempt}`} text={one.failureInfo.logTail} />
          )}
          {outputsOf(one.outcomes).length > 0 && <Outputs outputs={outputsOf(one.outcomes)} />}
        </li>
      ))}
    </ol>
  );
}
