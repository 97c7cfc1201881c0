import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Page, Window } from "../../core/page.ts";
import type { Db } from "../../platform/db/db.ts";
import { selectRunningTasks, type RunningTask } from "../store/running-tasks.ts";
import type { GetDelegate } from "./get.ts";

/** The step of an execution that a task runs. */
export type RunningStep = {
  readonly executionId: Uuid;
  readonly nodeId: Uuid;
  readonly stepName: string;
  readonly pipelineIdentifier: string;
  readonly pipelineName: string;
  readonly runSequence: number;
  readonly orgIdentifier: string;
  readonly projectIdentifier: string;
};

/** The steps of those nodes whose executions the actor may see, by the node's id. */
export type FindRunningSteps = (
  actor: Actor,
  nodes: readonly { readonly runId: Uuid; readonly nodeId: Uuid }[],
) => Promise<ReadonlyMap<Uuid, RunningStep>>;

/** A task of a delegate. `step` is null for a connection test, and if the actor may not see the execution. */
export type ListedTask = RunningTask & { readonly step: RunningStep | null };

type Deps = { readonly db: Db; readonly get: GetDelegate; readonly findRunningSteps: FindRunningSteps };

/** Lists the tasks that a delegate runs, those that it has had longest first. Throws `delegate.not_found`. */
export const listDelegateTasks =
  ({ db, get, findRunningSteps }: Deps) =>
  async (actor: Actor, delegateId: string, { limit, offset }: Window): Promise<Page<ListedTask>> => {
    const { id, slotsInUse } = await get(actor, delegateId);
    const tasks = await selectRunningTasks(db, { accountId: actor.accountId, delegateId: id }, { limit, offset });
    const steps = tasks.length === 0 ? undefined : await findRunningSteps(actor, tasks);
    const items = tasks.map((task) => ({ ...task, step: steps?.get(task.nodeId) ?? null }));
    return { items, limit, offset, total: async () => slotsInUse };
  };

export type ListDelegateTasks = ReturnType<typeof listDelegateTasks>;
