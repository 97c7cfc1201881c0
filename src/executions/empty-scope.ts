import { toWire } from "../core/ids.ts";
import { commonProblem } from "../core/problems.ts";
import type { Delegates } from "../delegates/index.ts";
import type { EmptyScope } from "../projects/index.ts";
import { deleteDeployments } from "./store/deployments.ts";
import { deleteExecutions, deleteSequences, findUnfinished, someExecutions } from "./store/empty-scope.ts";

/** Removes the history of a project, in steps of this many executions so that no statement takes long. */
const AT_ONCE = 500;

export const makeEmptyScope =
  (deps: { delegates: Pick<Delegates, "forgetRuns"> }): EmptyScope =>
  async (tx, { accountId, projectIdentifier, projectId }) => {
    if (projectId === null) return [];
    let count = 0;
    const running = await findUnfinished(tx, accountId, projectId);
    if (running) throw inUse(projectIdentifier, `the running execution ${toWire(running)}`);
    for (;;) {
      const ids = await someExecutions(tx, accountId, projectId, AT_ONCE);
      if (ids.length === 0) break;
      if (!(await deps.delegates.forgetRuns(tx, accountId, ids)))
        throw inUse(projectIdentifier, "a task that its delegate has not ended yet");
      await deleteExecutions(tx, accountId, ids);
      count += ids.length;
    }
    await deleteDeployments(tx, accountId, projectId);
    await deleteSequences(tx, accountId, projectId);
    return count === 0 ? [] : [{ type: "PIPELINE_EXECUTION", count, identifiers: [] }];
  };

const inUse = (project: string, by: string): Error => commonProblem("core.referenced", ["Project", project, by]);
