import type { Actor } from "../core/actor.ts";
import { fromWire, toWire, type Uuid } from "../core/ids.ts";
import type { Delegates, WaitingTask } from "../delegates/index.ts";
import { authorizeSomewhere } from "../access/index.ts";
import type { Mail } from "../mail/index.ts";
import type { MaybeInProject } from "../pipelines/index.ts";
import type { NodeState } from "../engine/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { ExecutionDetail } from "./execution.ts";
import type { GetExecution } from "./get.ts";
import { problem } from "./problems.ts";
import type { Plans } from "./advancing/plans.ts";
import { shownNodes, type ShownNode } from "./shown-nodes.ts";
import type { findQueueReason } from "./queue/reason.ts";
import { findExecutionOfNode, findExecutionsAround } from "./store/nodes.ts";
import { taskKey, type NodeExtras } from "./wire/graph.ts";

/** An execution with what its delegates know: who runs which step, and why a step waits (invariant 12). */
export type GetDetail = (
  actor: Actor,
  id: string,
  scope: MaybeInProject,
) => Promise<{ execution: ExecutionDetail; extras: NodeExtras }>;

/** By node: for whom it waits that waits for a lock, as far as the reader may know. */
export type FindLockReasons = (actor: Actor, executionId: Uuid) => Promise<ReadonlyMap<Uuid, string>>;

export type ServiceReasonsDeps = {
  readonly findLockReasons: FindLockReasons;
  readonly findDelayedMails: Mail["findDelayed"];
};

export type FindQueueReason = ReturnType<typeof findQueueReason>;

type DetailDeps = ServiceReasonsDeps & {
  readonly findQueueReason: FindQueueReason;
  readonly get: GetExecution;
  readonly delegates: Pick<Delegates, "waitingTasks" | "delegatesOf">;
};

const NO_REASONS: ReadonlyMap<Uuid, string> = new Map();

export const makeGetDetail =
  (deps: DetailDeps): GetDetail =>
  async (actor, id, scope) => {
    const execution = await deps.get(actor, id, scope);
    const [waiting, taken, queueReason, serviceReasons] = await Promise.all([
      deps.delegates.waitingTasks(actor.accountId, execution.id),
      deps.delegates.delegatesOf(actor.accountId, execution.id),
      execution.state.status === "queued" ? deps.findQueueReason(actor.accountId, execution) : undefined,
      findServiceReasons(deps, actor, execution),
    ]);
    const tasks = taskExtrasOf(execution.nodes, waiting, taken);
    return { execution, extras: { ...tasks, ...(queueReason !== undefined && { queueReason }), serviceReasons } };
  };

type Taken = Awaited<ReturnType<Delegates["delegatesOf"]>>[number];

/** What delegates know of nodes: of each its last task that waits, and who took which. */
export function taskExtrasOf(
  nodes: { readonly get: (id: string) => Pick<NodeState, "tasks"> | undefined },
  waiting: readonly WaitingTask[],
  taken: readonly Taken[],
): Omit<NodeExtras, "serviceReasons"> {
  const isLatest = (task: WaitingTask): boolean => nodes.get(task.nodeId)?.tasks === task.attempt;
  return {
    waitingFor: new Map(waiting.filter(isLatest).map((task) => [task.nodeId, reasonOfTask(task)])),
    delegates: new Map(
      taken.map((task) => [
        taskKey(task.nodeId, task.attempt),
        { id: task.delegateId, name: task.name, taskId: task.taskId },
      ]),
    ),
  };
}

/** Whether a service says more about what the node waits for than its state does. */
export const hasServiceReason = ({ reason: why }: Pick<NodeState, "reason">): boolean =>
  why?.kind === "lock" || why?.kind === "mail";

/** What services say of the nodes that wait for them, by node. */
export async function findServiceReasons(
  deps: ServiceReasonsDeps,
  actor: Actor,
  { id, nodes }: Pick<ExecutionDetail, "id" | "nodes">,
): Promise<ReadonlyMap<Uuid, string>> {
  const awaited = new Set(nodes.values().flatMap(({ reason: why }) => (why ? [why.kind] : [])));
  const [lockReasons, mailReasons] = await Promise.all([
    awaited.has("lock") ? deps.findLockReasons(actor, id) : NO_REASONS,
    awaited.has("mail") ? findMailReasons(deps, actor.accountId, id) : NO_REASONS,
  ]);
  return new Map([...lockReasons, ...mailReasons]);
}

/** By node: why its mail was not sent yet. */
async function findMailReasons(
  { findDelayedMails }: Pick<ServiceReasonsDeps, "findDelayedMails">,
  accountId: Uuid,
  executionId: Uuid,
): Promise<ReadonlyMap<Uuid, string>> {
  const delayed = await findDelayedMails(accountId, executionId);
  return new Map(
    delayed.map(({ nodeId, reason: why, nextTryAt }) => [
      nodeId,
      `${why} The next try is at ${new Date(nextTryAt).toISOString()}.`,
    ]),
  );
}

/** One node of an execution, by the node's id on the wire. Throws `execution.no_node`, also when the execution is of another scope. */
export type GetNode = (
  actor: Actor,
  nodeId: string,
  scope: MaybeInProject,
) => Promise<{ execution: ExecutionDetail; extras: NodeExtras; node: ShownNode }>;

export const makeGetNode =
  (deps: { db: Db; plans: Pick<Plans, "of">; detail: GetDetail }): GetNode =>
  async (actor, wireId, scope) => {
    authorizeSomewhere(actor, "core_pipeline_view");
    const nodeId = fromWire(wireId);
    const id = nodeId && (await executionOf(deps, actor.accountId, nodeId));
    const found = id && (await deps.detail(actor, toWire(id), scope));
    const node = found && shownNodes(found.execution).get(nodeId);
    if (!node) throw problem("execution.no_node", [wireId]);
    return { ...found, node };
  };

async function executionOf(
  { db, plans }: { readonly db: Db; readonly plans: Pick<Plans, "of"> },
  accountId: Uuid,
  nodeId: Uuid,
): Promise<Uuid | undefined> {
  const reached = await findExecutionOfNode(db, accountId, nodeId);
  if (reached) return reached;
  for (const id of await findExecutionsAround(db, accountId, nodeId)) {
    // A damaged plan has no nodes.
    const plan = await plans.of(db, { accountId, id }).catch(() => undefined);
    if (plan && Object.hasOwn(plan.nodes, nodeId)) return id;
  }
  return undefined;
}

type Waiting = Omit<WaitingTask, "nodeId" | "attempt">;

/** Why a task waits for a delegate. */
export function reasonOfTask(task: Waiting): string {
  const { selectors, isRunnable, incapable, unavailable } = task;
  if (!isRunnable && incapable.length > 0) return reasonOfKind(task);
  const why =
    selectors.length === 0
      ? "Waits for a delegate: none that is connected has a free slot."
      : `Waits for a delegate with all of the selectors [${selectors.join(", ")}]: none that is connected has them and a free slot.`;
  return [why, ...unavailable.map((one) => `${one}.`)].join(" ");
}

function reasonOfKind({ selectors, capability, incapable }: Waiting): string {
  const [kind, version] = capability.split("/");
  const matching = selectors.length === 0 ? "" : ` and has all of the selectors [${selectors.join(", ")}]`;
  return (
    `Waits for a delegate that can run '${kind}' version ${version}${matching}: none that is connected can. ` +
    `Update the delegate ${incapable.join(", ")}.`
  );
}
