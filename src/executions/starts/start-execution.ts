import type { Json, NodeState, Plan } from "../../engine/index.ts";
import { actorId, type Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { toWire, type NewId, type Uuid } from "../../core/ids.ts";
import type { Audit } from "../../audit/index.ts";
import type { Authorize } from "../../access/index.ts";
import type { InProject, PreparedRun, StageSelection } from "../../pipelines/index.ts";
import type { SettingValue } from "../../settings/index.ts";
import type { Tx } from "../../platform/db/db.ts";
import { sendTogether } from "../../platform/db/send-together.ts";
import type { Advance } from "../advancing/advance.ts";
import type { Plans } from "../advancing/plans.ts";
import { findLimits, hasLimit } from "../queue/limits.ts";
import type { RerunInfo, TriggeredBy, TriggerType } from "../execution.ts";
import { claimRetry } from "../retry/claim.ts";
import type { RetryOf, Started } from "../started.ts";
import { deploymentsIn } from "../deployments/changes.ts";
import type { DeploymentChange } from "../deployments/deployment.ts";
import type { NodeChange } from "../node-rows.ts";
import { saveDeployments } from "../store/deployments.ts";
import { insertExecution, nextSequence } from "../store/executions.ts";
import { saveStartEvent } from "../store/queue.ts";
import { startTimers, timersOf } from "../store/timers.ts";
import type { Wakeups } from "../wakeups.ts";

type StartDeps = {
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly advance: Pick<Advance, "begin" | "queue">;
  readonly settingValue: SettingValue;
  /** Starts queued executions of the account as far as the limits allow, soon. */
  readonly serveQueue: (accountId: Uuid) => void;
  readonly plans: Pick<Plans, "keep">;
  readonly wakeups: Pick<Wakeups, "wake">;
  readonly clock: Clock;
  readonly newId: NewId;
};

/** `reuse`: the nodes of the earlier execution that are not run again, with the definitions of the new plan. */
export type Retry = RetryOf & { readonly reuse: (plan: Plan) => readonly NodeState[] };

export type Start = {
  readonly scope: InProject;
  readonly pipelineIdentifier: string;
  readonly prepared: PreparedRun;
  readonly inputYaml: string | null;
  readonly notes?: string | null;
  readonly rerunInfo?: RerunInfo | null;
  readonly retry?: Retry;
  /** The one that the run was prepared with. */
  readonly selection?: StageSelection | undefined;
  readonly triggerType: TriggerType;
  readonly triggeredBy: TriggeredBy;
  /** What `<+trigger.…>` reads; null for a run that was started by hand. */
  readonly trigger: {
    readonly type: string;
    readonly payload: Json;
    readonly header: Readonly<Record<string, string>>;
  } | null;
  /** Statements of the caller about the new execution. They travel with those that create it. */
  readonly alongside?: (id: Uuid) => Promise<void>;
};

function deploymentsOfStart(plan: Plan, nodes: readonly NodeChange[]): readonly DeploymentChange[] {
  const reached = new Map(nodes.map(({ node }) => [node.id, node]));
  return deploymentsIn(plan, (node) => reached.get(node), nodes);
}

/**
 * Makes an execution and its first tasks inside the caller's transaction. Throws `pipeline.unresolved_variable`, and with
 * a trigger the problems of RequirePrincipals: the transaction may have waited for seconds.
 */
export type StartExecution = (tx: Tx, actor: Actor, start: Start) => Promise<Started>;

export const makeStartExecution =
  (deps: StartDeps): StartExecution =>
  async (tx, actor, start) => {
    const { accountId } = actor;
    const { prepared, scope } = start;
    deps.authorize(actor, "core_pipeline_execute", { accountId, ...scope }, start.pipelineIdentifier);
    const runSequence = await nextSequence(tx, accountId, prepared.pipelineId);
    // Made in one go with the ids of its nodes: by a node's id the execution is found (store/nodes.ts).
    const [id, createdAt] = [deps.newId(), deps.clock.now()];
    const plan = prepared.plan(
      {
        account: { identifier: toWire(accountId) },
        org: { identifier: scope.orgIdentifier },
        project: { identifier: scope.projectIdentifier, name: prepared.projectName },
        execution: {
          id: toWire(id),
          sequenceId: runSequence,
          startTs: createdAt,
          triggerType: start.triggerType,
          triggeredBy: { name: start.triggeredBy.name, email: start.triggeredBy.email ?? "" },
        },
        trigger: start.trigger,
      },
      deps.newId,
    );
    // The engine's first answer goes into the insert itself: one write, not two.
    const event = start.retry ? { reused: start.retry.reuse(plan) } : {};
    // With a limit, all executions pass through the queue, so that they begin in their order.
    const isQueued = hasLimit(await findLimits(deps.settingValue, accountId, scope));
    const { projectId, pipelineId, version } = prepared;
    const begun = isQueued
      ? deps.advance.queue(plan)
      : deps.advance.begin(tx, { accountId, projectId, id, queueId: pipelineId }, plan, { at: createdAt, ...event });
    if (isQueued)
      tx.afterCommit(() => {
        deps.wakeups.wake(projectId);
        deps.serveQueue(accountId);
      });
    const { triggerType, triggeredBy, inputYaml, notes = null, rerunInfo = null } = start;
    const retryOf = start.retry && { parentId: start.retry.parentId, rootId: start.retry.rootId };
    // The row of the execution goes first, because the others refer to it.
    const [length, , , state] = await sendTogether(
      () =>
        insertExecution(tx, {
          accountId,
          id,
          projectId,
          pipelineId,
          pipelineVersion: version,
          runSequence,
          plan,
          state: begun.state,
          nodes: begun.nodes,
          triggerType,
          triggeredBy,
          startedBy: actorId(actor),
          inputYaml,
          notes,
          rerunInfo,
          retryOf,
          principals: prepared.principals,
          allowStageExecutions: prepared.allowStageExecutions,
          selectedStages: prepared.selectedStages,
          expressionValues: start.selection?.expressionValues,
          createdAt,
        }),
      () => saveDeployments(tx, { accountId, id }, deploymentsOfStart(plan, begun.nodes)),
      () => startTimers(tx, { accountId, id }, timersOf(begun.effects).started),
      () => begun.perform(),
      async () => (isQueued && start.retry ? saveStartEvent(tx, accountId, id, event) : undefined),
      () =>
        deps.audit.record(tx, actor, {
          operation: "execution.start",
          resourceType: "PIPELINE",
          resourceId: start.pipelineIdentifier,
          scope,
          after: {
            ...{ execution: toWire(id), runSequence, pipelineVersion: version },
            ...(retryOf && { retryOf: toWire(retryOf.parentId) }),
            ...(prepared.selectedStages && { stages: prepared.selectedStages }),
          },
        }),
      async () => retryOf && claimRetry(tx, accountId, { parentId: retryOf.parentId, id }),
      async () => start.alongside?.(id),
      // Last, because the statements before it may wait. The check locks nothing, so a withdrawal never waits for it.
      async () => (start.trigger ? prepared.requirePrincipals(tx) : undefined),
    );
    deps.plans.keep(id, { plan, length });
    return { id, runSequence, state, createdAt, version, triggerType, triggeredBy, rerunInfo, retryOf };
  };
