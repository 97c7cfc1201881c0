import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery, fetchData } from "../../../api/client.ts";
import { executionRetry, executionRetryStages } from "../../../api/operations.gen.ts";
import { lookOf } from "../../../components/execution-status.ts";
import type { Summary } from "../../../components/execution-store.ts";
import { useProjectScope } from "../../../routes/scope.ts";
import { Button } from "../../../ui/button.tsx";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { RadioGroup } from "../../../ui/radio-group.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import styles from "./execution-page.module.css";
import { useAction } from "./use-action.ts";
import { useOpenExecution } from "./use-open-execution.ts";

const FIRST_FAILED = "";

/** Asks at which stage the retry begins; those before it are not run again. */
export function RetryDialog({ summary, onClose }: { readonly summary: Summary; readonly onClose: () => void }) {
  const scope = useProjectScope();
  const { planExecutionId, pipelineIdentifier } = summary;
  const choices = useQuery(
    dataQuery(executionRetryStages, { path: { planExecutionId }, query: { ...scope, pipelineIdentifier } }),
  );
  const [from, setFrom] = useState(FIRST_FAILED);
  const [onlyFailed, setOnlyFailed] = useState(false);
  const { act, isBusy } = useAction();
  const open = useOpenExecution();
  const groups = choices.data?.groups ?? [];
  const chosen = groups.find(({ info }) => keyOf(info) === from);
  const retry = async (): Promise<void> => {
    const query = {
      ...scope,
      planExecutionId,
      ...(chosen && { retryStages: chosen.info.map(({ identifier }) => identifier).join(",") }),
      ...(onlyFailed && { runAllStages: false }),
    };
    const { planExecution } = await fetchData(executionRetry, { path: { identifier: pipelineIdentifier }, query });
    onClose();
    open(planExecution.uuid);
  };
  return (
    <Dialog
      open
      title={`Retry '${visibleText(summary.name)} #${summary.runSequence}'`}
      onClose={onClose}
      onSubmit={() => void act({ run: retry })}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={isBusy} disabled={choices.data?.isResumable !== true}>
            Retry execution
          </Button>
        </>
      }
    >
      <div className={styles.block}>
        <p className={styles.message}>
          The retry runs the same version with the same inputs. Stages before its beginning are not run again.
        </p>
        {choices.error && <Notice tone="failed">{messageOf(choices.error)}</Notice>}
        {choices.data?.errorMessage && <Notice tone="waiting">{choices.data.errorMessage}</Notice>}
        {choices.data === undefined ? (
          choices.error === null && <SkeletonLines />
        ) : (
          <RadioGroup
            label="Begin at"
            value={from}
            onChange={setFrom}
            options={[
              { value: FIRST_FAILED, label: "The first stage that has not succeeded" },
              ...groups.map(({ info }) => ({
                value: keyOf(info),
                label: info.map(({ name }) => visibleText(name)).join(", "),
                hint: info.map(({ status }) => lookOf(status).label).join(", "),
              })),
            ]}
          />
        )}
        {groups.some(({ info }) => info.length > 1) && (
          <Checkbox
            label="Of stages that run at the same time, only those that failed"
            checked={onlyFailed}
            onChange={setOnlyFailed}
          />
        )}
      </div>
    </Dialog>
  );
}

const keyOf = (stages: readonly { readonly identifier: string }[]): string =>
  stages.map(({ identifier }) => identifier).join(",");
