import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../../../api/api-error.ts";
import { dataQuery, fetchData } from "../../../api/client.ts";
import { executionAbort, executionList, executionRerun } from "../../../api/operations.gen.ts";
import { isFinalStatus } from "../../../components/execution-status.ts";
import type { Summary } from "../../../components/execution-store.ts";
import { useProjectScope } from "../../../routes/scope.ts";
import { Button } from "../../../ui/button.tsx";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import { useRunPermissions } from "./permissions.ts";
import { RetryDialog } from "./retry-dialog.tsx";
import { useOpenExecution } from "./use-open-execution.ts";
import { useAction } from "./use-action.ts";

/** What can be done with the whole execution now, as far as the user may do it. */
export function ExecutionActions({ summary }: { readonly summary: Summary }) {
  return isFinalStatus(summary.status) ? <EndedActions summary={summary} /> : <RunningActions summary={summary} />;
}

type ActionsProps = { readonly summary: Summary };

function RunningActions({ summary }: ActionsProps) {
  const scope = useProjectScope();
  const { mayRun, mayEnd } = useRunPermissions();
  const { act, isBusy } = useAction();
  const [isAsking, setIsAsking] = useState(false);
  const path = { planExecutionId: summary.planExecutionId };
  const interrupt = (interruptType: string, done: string): Promise<boolean> =>
    act({ run: () => fetchData(executionAbort, { path, query: { ...scope, interruptType } }), done });
  const isPaused = summary.status === "Paused" || summary.status === "Pausing";
  const title = `${visibleText(summary.name)} #${summary.runSequence}`;
  return (
    <>
      {mayRun &&
        (isPaused ? (
          <Button icon="play" busy={isBusy} onClick={() => void interrupt("Resume", "The execution was resumed.")}>
            Resume
          </Button>
        ) : (
          <Button
            icon="pause"
            busy={isBusy}
            onClick={() => void interrupt("Pause", "Nothing new starts. What runs continues to its end.")}
          >
            Pause
          </Button>
        ))}
      {mayEnd && (
        <Button icon="stop" onClick={() => setIsAsking(true)}>
          Abort
        </Button>
      )}
      <ConfirmDialog
        open={isAsking}
        onClose={() => setIsAsking(false)}
        title={`Abort '${title}'?`}
        action="Abort execution"
        busy={isBusy}
        onConfirm={() =>
          void interrupt("AbortAll", "The execution is being aborted.").then((done) => done && setIsAsking(false))
        }
      >
        Everything that runs is ended. Nothing is rolled back.
      </ConfirmDialog>
    </>
  );
}

function EndedActions({ summary }: ActionsProps) {
  const { mayRun } = useRunPermissions();
  const { act, isBusy } = useAction();
  const open = useOpenExecution();
  const rerun = useRerun();
  const lastSuccess = useLastSuccess();
  const [isRetrying, setIsRetrying] = useState(false);
  if (!mayRun) return null;
  const { planExecutionId, pipelineIdentifier, status, canRetry } = summary;
  const runAgain = (original: string): Promise<boolean> =>
    act({ run: async () => open(await rerun(original, pipelineIdentifier)) });
  return (
    <>
      {status !== "Success" && (
        <Menu trigger={<Button trailingIcon="chevron-down">More</Button>}>
          <MenuItem
            icon="history"
            onSelect={() =>
              void act({
                run: async () => open(await rerun(await lastSuccess(pipelineIdentifier), pipelineIdentifier)),
              })
            }
          >
            Run the last success again
          </MenuItem>
          {canRetry && (
            <MenuItem icon="refresh" onSelect={() => void runAgain(planExecutionId)}>
              Run all again
            </MenuItem>
          )}
        </Menu>
      )}
      {canRetry ? (
        <Button variant="primary" icon="retry" onClick={() => setIsRetrying(true)}>
          Retry
        </Button>
      ) : (
        <Button variant="primary" icon="refresh" busy={isBusy} onClick={() => void runAgain(planExecutionId)}>
          Run again
        </Button>
      )}
      {isRetrying && <RetryDialog summary={summary} onClose={() => setIsRetrying(false)} />}
    </>
  );
}

/** Starts the newest version of the pipeline with the inputs of that execution. */
function useRerun() {
  const scope = useProjectScope();
  return async (originalExecutionId: string, identifier: string): Promise<string> => {
    const path = { originalExecutionId, identifier };
    return (await fetchData(executionRerun, { path, query: scope })).planExecution.uuid;
  };
}

/** The newest execution of the pipeline that succeeded. */
function useLastSuccess() {
  const scope = useProjectScope();
  const client = useQueryClient();
  return async (pipelineIdentifier: string): Promise<string> => {
    const query = { ...scope, pipelineIdentifier, size: 1, status: ["Success"], countAtMost: 1 };
    const { content } = await client.query({ ...dataQuery(executionList, { query }), staleTime: 0 });
    const [last] = content;
    if (last === undefined)
      throw new ApiError({ status: 404, code: "NO_SUCCESS", message: "This pipeline has not succeeded yet." });
    return last.planExecutionId;
  };
}
