import { useState } from "react";
import { fetchData } from "../../../api/client.ts";
import { executionInterruptNode, executionRetry } from "../../../api/operations.gen.ts";
import { isFinalStatus } from "../../../components/execution-status.ts";
import type { ExecutionStore, RunNode } from "../../../components/execution-store.ts";
import { ancestorsOf, isBad } from "../../../components/run-graph/graph-state.ts";
import { isEnded, isStage, isStep, shownChildren } from "../../../components/run-graph/node-kind.ts";
import { useStore, useSummary } from "../../../components/use-execution.ts";
import { useProjectScope } from "../../../routes/scope.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import { useRunPermissions } from "./permissions.ts";
import { useAction } from "./use-action.ts";
import { useOpenExecution } from "./use-open-execution.ts";

type Interrupt = "Abort" | "MarkAsSuccess" | "MarkAsFailure";

const ASKED: Readonly<Record<Interrupt, { readonly label: string; readonly effect: string }>> = {
  Abort: { label: "Abort", effect: "It and everything below it are ended." },
  MarkAsSuccess: { label: "Mark as success", effect: "The step is ended and counts as succeeded." },
  MarkAsFailure: { label: "Mark as failed", effect: "The step is ended and counts as failed." },
};

/** What can be done with one node now: end it, or retry the execution from it. */
export function NodeActions({ node }: { readonly node: RunNode }) {
  const store = useStore();
  const summary = useSummary();
  const { mayRun, mayEnd } = useRunPermissions();
  const [asked, setAsked] = useState<Interrupt>();
  if (summary === undefined) return null;
  if (isFinalStatus(summary.status)) {
    const from = mayRun && summary.canRetry && isBad(node) ? retryFrom(store, node) : undefined;
    return from && <RetryFromHere from={from} />;
  }
  if (isEnded(node) || node.status === "NotStarted" || node.stepType === "PIPELINE_SECTION") return null;
  const canMark = mayRun && isStep(node) && node.stepType !== "PlatformApproval";
  if (!mayEnd) return null;
  return (
    <>
      <Menu
        trigger={
          <IconButton icon="more" size="small" label={`Actions of ${visibleText(node.name)}`} variant="secondary" />
        }
      >
        {canMark && (
          <MenuItem icon="check" onSelect={() => setAsked("MarkAsSuccess")}>
            Mark as success
          </MenuItem>
        )}
        {mayRun && isStep(node) && (
          <MenuItem icon="close" onSelect={() => setAsked("MarkAsFailure")}>
            Mark as failed
          </MenuItem>
        )}
        <MenuItem icon="stop" danger onSelect={() => setAsked("Abort")}>
          Abort
        </MenuItem>
      </Menu>
      {asked && <ConfirmInterrupt node={node} interrupt={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

type ConfirmInterruptProps = {
  readonly node: RunNode;
  readonly interrupt: Interrupt;
  readonly onClose: () => void;
};

function ConfirmInterrupt({ node, interrupt, onClose }: ConfirmInterruptProps) {
  const scope = useProjectScope();
  const store = useStore();
  const { act, isBusy } = useAction();
  const { label, effect } = ASKED[interrupt];
  const planExecutionId = store.summary()?.planExecutionId ?? "";
  const run = (): Promise<unknown> =>
    fetchData(executionInterruptNode, {
      path: { planExecutionId, nodeExecutionId: node.uuid },
      query: { ...scope, interruptType: interrupt },
    });
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`${label}: '${visibleText(node.name)}'?`}
      action={label}
      busy={isBusy}
      onConfirm={() => void act({ run }).then((done) => done && onClose())}
    >
      {effect}
    </ConfirmDialog>
  );
}

type From = { readonly stage: string; readonly step: string | undefined };

/** Steps and groups of a stage's own list can begin a retry; nodes within them are retried with their stage. */
function retryFrom(store: ExecutionStore, node: RunNode): From | undefined {
  const around = [...ancestorsOf(store, node.uuid)].flatMap((id) => store.node(id) ?? []);
  const stage = around.find(isStage);
  if (stage === undefined || stage.strategyMetadata !== null) return undefined;
  const section = store.node(store.parent(node.uuid) ?? "");
  // A stage that was rolled back starts from its beginning.
  const wasRolledBack = shownChildren(store, stage.uuid).some((id) => store.node(id)?.identifier === "rollbackSteps");
  const isListed = section?.stepType === "NG_SECTION" && section.identifier === "steps" && !wasRolledBack;
  return { stage: stage.identifier, step: isListed ? node.identifier : undefined };
}

function RetryFromHere({ from }: { readonly from: From }) {
  const scope = useProjectScope();
  const store = useStore();
  const open = useOpenExecution();
  const { act, isBusy } = useAction();
  const retry = async (): Promise<void> => {
    const summary = store.summary();
    const query = {
      ...scope,
      planExecutionId: summary?.planExecutionId ?? "",
      retryStages: from.stage,
      ...(from.step !== undefined && { retryStep: from.step }),
    };
    const path = { identifier: summary?.pipelineIdentifier ?? "" };
    open((await fetchData(executionRetry, { path, query })).planExecution.uuid);
  };
  return (
    <Button size="small" icon="retry" busy={isBusy} onClick={() => void act({ run: retry })}>
      {from.step === undefined ? "Retry this stage" : "Retry from here"}
    </Button>
  );
}
