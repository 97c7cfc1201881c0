import type { FindRunningSteps, RunningStep } from "../delegates/index.ts";
import type { Uuid } from "../core/ids.ts";
import { nameOf } from "../engine/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { Plans } from "./advancing/plans.ts";
import { findNodesById } from "./store/advance.ts";
import { listListed } from "./store/lists.ts";
import { seenBy } from "./visible.ts";

/** Finds the steps that tasks of delegates run. */
export const findRunningSteps =
  ({ db, plans }: { readonly db: Db; readonly plans: Pick<Plans, "of"> }): FindRunningSteps =>
  async (actor, asked) => {
    const { accountId } = actor;
    const runIds = [...new Set(asked.map(({ runId }) => runId))];
    const window = { limit: runIds.length, offset: 0 };
    const listed = await listListed(db, accountId, [{ is: "executionIn", value: runIds }, ...seenBy(actor)], window);
    const executions = new Map(listed.map((execution) => [execution.id, execution]));
    const visible = asked.filter(({ runId }) => executions.has(runId));
    const nodeIds = visible.map(({ nodeId }) => nodeId);
    const nodes = await findNodesById(db, accountId, nodeIds);
    const found = new Map<Uuid, RunningStep>();
    for (const { runId, nodeId } of visible) {
      const execution = executions.get(runId);
      if (!execution) continue;
      // A damaged plan names no steps.
      const plan = await plans.of(db, { accountId, id: runId }).catch(() => undefined);
      const node = nodes.get(nodeId);
      const definition = plan?.nodes[node?.definition ?? nodeId];
      const { pipelineIdentifier, pipelineName, runSequence, orgIdentifier, projectIdentifier } = execution;
      found.set(nodeId, {
        ...{ executionId: runId, nodeId, stepName: definition ? nameOf(definition, node) : "" },
        ...{ pipelineIdentifier, pipelineName, runSequence, orgIdentifier, projectIdentifier },
      });
    }
    return found;
  };
