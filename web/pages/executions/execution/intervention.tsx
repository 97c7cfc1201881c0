import { useState } from "react";
import { fetchData } from "../../../api/client.ts";
import { executionIntervene } from "../../../api/operations.gen.ts";
import type { RunNode } from "../../../components/execution-store.ts";
import { useStore } from "../../../components/use-execution.ts";
import { isStage } from "../../../components/run-graph/node-kind.ts";
import { ancestorsOf } from "../../../components/run-graph/graph-state.ts";
import { useProjectScope } from "../../../routes/scope.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import styles from "./execution-page.module.css";
import { useRunPermissions } from "./permissions.ts";
import { useAction } from "./use-action.ts";

type Choice = { readonly type: string; readonly label: string; readonly effect?: string };

const CHOICES: readonly Choice[] = [
  { type: "Retry", label: "Retry" },
  { type: "Ignore", label: "Ignore the failure" },
  { type: "MarkAsSuccess", label: "Mark as success" },
  {
    type: "MarkAsFailure",
    label: "Mark as failed",
    effect: "The step counts as failed, and what follows a failure begins.",
  },
];
const ROLLBACKS: Readonly<Record<"group" | "stage" | "pipeline", Choice>> = {
  group: { type: "StepGroupRollback", label: "Roll back the group", effect: "The rollback steps of the group run." },
  stage: { type: "StageRollback", label: "Roll back the stage", effect: "The rollback steps of the stage run." },
  pipeline: {
    type: "PipelineRollback",
    label: "Roll back the pipeline",
    effect: "The rollback steps of all stages run that have been deployed.",
  },
};

/** What a person may decide about a failure that waits. The API refuses what does not fit the node. */
export function Intervention({ node }: { readonly node: RunNode }) {
  const scope = useProjectScope();
  const store = useStore();
  const { mayRun } = useRunPermissions();
  const { act, isBusy } = useAction();
  const [asked, setAsked] = useState<Choice>();
  const planExecutionId = store.summary()?.planExecutionId;
  if (!mayRun || planExecutionId === undefined) return null;
  const around = [...ancestorsOf(store, node.uuid)].flatMap((id) => store.node(id) ?? []);
  const rollbacks = [
    ...(around.some(({ stepType }) => stepType === "STEP_GROUP") ? [ROLLBACKS.group] : []),
    ...(around.some(isStage) ? [ROLLBACKS.stage] : []),
    ROLLBACKS.pipeline,
  ];
  const decide = ({ type, label }: Choice): Promise<boolean> =>
    act({
      run: () =>
        fetchData(executionIntervene, {
          path: { planExecutionId, nodeExecutionId: node.uuid },
          query: { ...scope, interruptType: type },
        }),
      done: `Decided: ${label.toLowerCase()}.`,
    });
  return (
    <Card title="Decide how to continue">
      <div className={styles.buttons}>
        {[...CHOICES, ...rollbacks].map((choice) => (
          <Button
            key={choice.type}
            variant={choice.type === "Retry" ? "primary" : "secondary"}
            busy={isBusy}
            onClick={() => (choice.effect === undefined ? void decide(choice) : setAsked(choice))}
          >
            {choice.label}
          </Button>
        ))}
      </div>
      {asked && (
        <ConfirmDialog
          open
          onClose={() => setAsked(undefined)}
          title={`${asked.label} after '${visibleText(node.name)}'?`}
          action={asked.label}
          busy={isBusy}
          onConfirm={() => void decide(asked).then((done) => done && setAsked(undefined))}
        >
          {asked.effect}
        </ConfirmDialog>
      )}
    </Card>
  );
}
