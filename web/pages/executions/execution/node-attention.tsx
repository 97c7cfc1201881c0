import { lazy, Suspense } from "react";
import type { RunNode } from "../../../components/execution-store.ts";
import { isEnded } from "../../../components/run-graph/node-kind.ts";
import { Notice } from "../../../ui/notice.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import { Approval } from "./approval.tsx";
import { FailureReport } from "./failure-report.tsx";
import { Intervention } from "./intervention.tsx";
import styles from "./execution-page.module.css";

// It brings a YAML parser, which few executions need.
const InputForm = lazy(async () => ({ default: (await import("./input-form.tsx")).InputForm }));

/** Why the node failed or waits, and what a person can decide about it. */
export function NodeAttention({ node }: { readonly node: RunNode }) {
  const { failureInfo, waitReason, status, stepType } = node;
  const isWaiting = !isEnded(node) && waitReason !== null;
  return (
    <>
      {failureInfo.message !== "" && <FailureReport failure={failureInfo} status={status} />}
      {isWaiting && (
        <Notice tone="waiting" title="Why it waits">
          <p className={styles.message}>{visibleText(waitReason)}</p>
        </Notice>
      )}
      {isEnded(node) && waitReason !== null && <p className={styles.muted}>{visibleText(waitReason)}</p>}
      {status === "InterventionWaiting" && <Intervention node={node} />}
      {stepType === "PlatformApproval" && status !== "NotStarted" && <Approval node={node} />}
      {status === "InputWaiting" && (
        <Suspense fallback={<SkeletonLines />}>
          <InputForm node={node} />
        </Suspense>
      )}
    </>
  );
}
