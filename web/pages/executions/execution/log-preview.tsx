import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { followStream } from "../../../api/event-stream.ts";
import { executionFollowLogs } from "../../../api/operations.gen.ts";
import type { RunNode } from "../../../components/execution-store.ts";
import { isEnded } from "../../../components/run-graph/node-kind.ts";
import { useLogBytes, useStore } from "../../../components/use-execution.ts";
import { useProjectScope } from "../../../routes/scope.ts";
import { ButtonLink } from "../../../ui/link.tsx";
import { plainLog } from "../../../util/plain-log.ts";
import styles from "./execution-page.module.css";
import { createLogTail, LINES, TAIL_BYTES } from "./log-tail.ts";

const route = getRouteApi("/projects/$org/$project/executions/$execution");

type Params = { readonly org: string; readonly project: string; readonly execution: string };

/** The page of the whole log, or of that of one attempt. */
export function logPath({ org, project, execution }: Params, node: string, attempt?: number): string {
  const path = `/projects/${org}/${project}/executions/${execution}/logs/${node}`;
  return attempt === undefined ? path : `${path}?attempt=${attempt}`;
}

/** The last lines of the step's log, live, and the way to all of it. */
export function LogPreview({ node }: { readonly node: RunNode }) {
  const params = route.useParams();
  const { text, isCut } = useLogTail(node.uuid);
  const bytes = useLogBytes(node.uuid);
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  return (
    <div className={styles.block}>
      <div className={styles.logTools}>
        <p className={styles.muted}>{isCut ? `The last ${LINES} lines` : text === "" ? "" : "The whole log"}</p>
        <ButtonLink size="small" icon="terminal" to={logPath(params, node.uuid)}>
          Open the log
        </ButtonLink>
      </div>
      {text === "" ? (
        <p className={styles.muted}>{noOutput(bytes, isEnded(node))}</p>
      ) : (
        <pre
          ref={box}
          className={styles.log}
          tabIndex={0}
          role="region"
          aria-label="Log"
          onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
            isAtEnd.current = scrollHeight - scrollTop - clientHeight < 8;
          }}
        >
          <bdi>{plainLog(text)}</bdi>
        </pre>
      )}
    </div>
  );
}

function noOutput(bytes: number, hasEnded: boolean): string {
  if (bytes > 0) return "Loading the log.";
  return hasEnded ? "The step wrote nothing." : "The step has written nothing yet.";
}

/** Follows the end of the node's log, from where it is now. */
function useLogTail(nodeExecutionId: string): { readonly text: string; readonly isCut: boolean } {
  const { orgIdentifier, projectIdentifier } = useProjectScope();
  const { execution } = route.useParams();
  const store = useStore();
  const [shown, setShown] = useState({ text: "", isCut: false });
  useEffect(() => {
    const stop = new AbortController();
    const from = Math.max(0, store.logBytes(nodeExecutionId) - TAIL_BYTES);
    const tail = createLogTail(from > 0);
    let frame: number | undefined;
    const show = (): void => {
      frame = undefined;
      setShown({ text: tail.text(), isCut: tail.isCut() });
    };
    const onEvent = ({ type, data }: { readonly type: string; readonly data: unknown }): void => {
      if (type !== "log") return;
      tail.add((data as { readonly text: string }).text);
      frame ??= requestAnimationFrame(show);
    };
    const query = { orgIdentifier, projectIdentifier, nodeExecutionId, from };
    void followStream(executionFollowLogs, { path: { planExecutionId: execution }, query }, { onEvent }, stop.signal);
    return () => {
      stop.abort();
      if (frame !== undefined) cancelAnimationFrame(frame);
    };
  }, [store, orgIdentifier, projectIdentifier, execution, nodeExecutionId]);
  return shown;
}
