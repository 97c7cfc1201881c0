/** What goes on in all projects that an actor may see. */
import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import { authorizeSomewhere } from "../../access/index.ts";
import type { Delegates } from "../../delegates/index.ts";
import type { Reason, Status } from "../../engine/index.ts";
import type { Db } from "../../platform/db/db.ts";
import { reasonOfTask, type FindQueueReason } from "../detail.ts";
import { listByStatus, listWaitingNodes, type OverviewRow, type WaitingNode } from "../store/overview.ts";
import { seenBy } from "../visible.ts";

/** An execution, and why it waits; undefined if nothing of it does. */
export type OverviewExecution = OverviewRow & {
  readonly waitReason: string | undefined;
  readonly waitsSince: number | null;
};

export type Overview = {
  readonly running: readonly OverviewExecution[];
  readonly waiting: readonly OverviewExecution[];
  readonly failed: readonly OverviewRow[];
};

type Deps = {
  readonly db: Db;
  readonly findQueueReason: FindQueueReason;
  readonly delegates: Pick<Delegates, "waitingTasks">;
};

const RUNNING: readonly Status[] = ["running", "pausing"];
/** By the status, the kinds of reasons that it comes from. */
const WAITING: ReadonlyMap<Status, readonly Reason["kind"][]> = new Map([
  ["approvalWaiting", ["approval"]],
  ["inputWaiting", ["input"]],
  ["interventionWaiting", ["intervention"]],
  ["resourceWaiting", ["lock", "barrier"]],
  ["waiting", []],
  ["paused", ["pause"]],
  ["queued", []],
]);
const FAILED: readonly Status[] = ["failed", "errored", "expired"];

/** Of each status, so many executions of the account are looked through for those that the actor may see. */
const AMONG = 2_000;

/** The newest of each kind. */
export const getOverview =
  (deps: Deps) =>
  async (actor: Actor, size: number): Promise<Overview> => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_pipeline_view");
    const list = (statuses: readonly Status[]): Promise<OverviewRow[]> =>
      listByStatus(deps.db, accountId, { statuses, conditions: seenBy(actor) }, { limit: size, among: AMONG });
    const [running, waiting, failed] = await Promise.all([list(RUNNING), list([...WAITING.keys()]), list(FAILED)]);
    const open = [...running, ...waiting];
    const nodes =
      open.length === 0
        ? []
        : await listWaitingNodes(
            deps.db,
            accountId,
            open.map(({ id }) => id),
          );
    const byExecution = Map.groupBy(nodes, ({ executionId }) => executionId);
    const explained = (rows: readonly OverviewRow[]): Promise<readonly OverviewExecution[]> =>
      Promise.all(rows.map((row) => explain(deps, accountId, row, byExecution.get(row.id) ?? [])));
    return { running: await explained(running), waiting: await explained(waiting), failed };
  };

export type GetOverview = ReturnType<typeof getOverview>;

async function explain(
  deps: Deps,
  accountId: Uuid,
  row: OverviewRow,
  nodes: readonly WaitingNode[],
): Promise<OverviewExecution> {
  if (row.status === "queued")
    return { ...row, waitReason: await deps.findQueueReason(accountId, row), waitsSince: row.createdAt };
  const kinds = WAITING.get(row.status) ?? [];
  const node = nodes.find(({ reason }) => kinds.includes(reason.kind)) ?? nodes[0];
  if (node) return { ...row, waitReason: node.reason.message, waitsSince: node.startedAt };
  const [task] = await deps.delegates.waitingTasks(accountId, row.id);
  return { ...row, waitReason: task && reasonOfTask(task), waitsSince: null };
}
