import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo, useSyncExternalStore } from "react";
import { dataQuery } from "../../../api/client.ts";
import { executionInputsV2 } from "../../../api/operations.gen.ts";
import { isFinalStatus } from "../../../components/execution-status.ts";
import type { ExecutionStore } from "../../../components/execution-store.ts";
import { isBad } from "../../../components/run-graph/graph-state.ts";
import { isEnded, isStep, kindOf, shownChildren } from "../../../components/run-graph/node-kind.ts";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { useNode, useStore, useSummary } from "../../../components/use-execution.ts";
import { useProjectScope } from "../../../routes/scope.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { CodeBlock } from "../../../ui/code-block.tsx";
import { ButtonPathLink } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import { Changes } from "./changes.tsx";
import { FailureReport } from "./failure-report.tsx";
import { logPath } from "./log-preview.tsx";
import { NodeAttention } from "./node-attention.tsx";
import styles from "./execution-page.module.css";

const route = getRouteApi("/projects/$org/$project/executions/$execution");

const MOST = 5;

type OverviewProps = { readonly onSelect: (id: string) => void };

/** What needs attention in the whole execution: failures and what waits for a person. Then its changes and its inputs. */
export function Overview({ onSelect }: OverviewProps) {
  const summary = useSummary();
  const urgent = useUrgentNodes();
  if (summary === undefined) return null;
  const { executionErrorInfo, status } = summary;
  return (
    <section className={styles.block} aria-label="Overview">
      {executionErrorInfo && urgent.length === 0 && (
        <FailureReport failure={{ ...executionErrorInfo, failureTypeList: [] }} status={status} />
      )}
      {urgent.slice(0, MOST).map((id) => (
        <UrgentNode key={id} id={id} onSelect={onSelect} />
      ))}
      {urgent.length > MOST && <p className={styles.muted}>{urgent.length - MOST} more need attention.</p>}
      {urgent.length === 0 && executionErrorInfo === null && (
        <p className={styles.muted}>
          {isFinalStatus(status) ? "Nothing failed." : "Nothing has failed, and nothing waits for a person."} Select a
          stage or step to see its log and outputs.
        </p>
      )}
      <Changes planExecutionId={summary.planExecutionId} pipelineIdentifier={summary.pipelineIdentifier} />
      <Inputs planExecutionId={summary.planExecutionId} />
    </section>
  );
}

function UrgentNode({ id, onSelect }: OverviewProps & { readonly id: string }) {
  const params = route.useParams();
  const node = useNode(id);
  if (node === undefined) return null;
  return (
    <article className={styles.block} aria-label={visibleText(node.name)}>
      <header className={styles.panelHeader}>
        <h2 className={styles.panelTitle} title={visibleText(node.name)}>
          <Name>{node.name}</Name>
        </h2>
        {isStep(node) && node.failureInfo.message !== "" && (
          <ButtonPathLink size="small" path={logPath(params, id)}>
            Open the log
          </ButtonPathLink>
        )}
        <Button size="small" onClick={() => onSelect(id)}>
          Show step
        </Button>
        <div className={styles.panelMeta}>
          <StatusBadge status={node.status} />
          <span>{kindOf(node)}</span>
        </div>
      </header>
      <NodeAttention node={node} />
    </article>
  );
}

/** The values with which it was started. */
function Inputs({ planExecutionId }: { readonly planExecutionId: string }) {
  const scope = useProjectScope();
  const { data } = useQuery(dataQuery(executionInputsV2, { path: { planExecutionId }, query: scope }));
  if (data?.inputSetYaml == null || data.inputSetYaml === "") return null;
  return (
    <Card title="Inputs">
      <CodeBlock label="Inputs of the execution" code={visibleText(data.inputSetYaml)} maxHeight="20rem" wrap />
    </Card>
  );
}

const WAITS_FOR_PERSON: ReadonlySet<string> = new Set(["ApprovalWaiting", "InterventionWaiting", "InputWaiting"]);

/** Steps that failed, and nodes that wait for a person: those first, because they can go on. */
function urgentNodes(store: ExecutionStore): readonly string[] {
  const waiting: string[] = [];
  const failed: string[] = [];
  const look = (id: string): void => {
    const node = store.node(id);
    if (node === undefined) return;
    if (WAITS_FOR_PERSON.has(node.status)) waiting.push(id);
    else if (isStep(node) && isEnded(node) && isBad(node) && node.failureInfo.message !== "") failed.push(id);
    for (const child of shownChildren(store, id)) look(child);
  };
  look(store.structure().rootId ?? "");
  return [...waiting, ...failed];
}

function useUrgentNodes(): readonly string[] {
  const store = useStore();
  // Text, so that equal lists are the same.
  const ids = useSyncExternalStore(store.subscribe, () => urgentNodes(store).join(" "));
  return useMemo(() => ids.split(" ").filter((id) => id !== ""), [ids]);
}
