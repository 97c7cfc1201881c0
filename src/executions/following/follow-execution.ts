/**
 * Follows an execution: first a snapshot, or what has changed since the position that the follower resumes from, then
 * each change, and at last its end.
 */
import type { Actor } from "../../core/actor.ts";
import { FORMAT, isFinal, type InstanceId } from "../../engine/index.ts";
import type { MaybeInProject } from "../../pipelines/index.ts";
import type { Db } from "../../platform/db/db.ts";
import type { EventSink } from "../../platform/http/response/events.ts";
import { findServiceReasons, hasServiceReason, type ServiceReasonsDeps } from "../detail.ts";
import type { GetListed } from "../get.ts";
import { problem } from "../problems.ts";
import { findChangedIds } from "../store/following.ts";
import { restStatus } from "../wire/status.ts";
import type { ExecutionFeed } from "./execution-feed.ts";
import type { ExecutionFeeds } from "./execution-feeds.ts";
import { KEEP_ALIVE_MS, retryMs } from "../../platform/pace.ts";
import { parsePosition, positionText, type Position } from "./position.ts";
import { NO_REASONS, type ServiceReasons } from "./reading.ts";
import { sendBatch, type Batch } from "./send-batch.ts";

/** What services say of waiting nodes changes without an event of the execution. */
const REASONS_MS = 5_000;
type Deps = ServiceReasonsDeps & {
  readonly db: Db;
  readonly getListed: GetListed;
  readonly feeds: ExecutionFeeds;
};

/**
 * `ended`: the follower has seen the end. Throws `execution.not_found`, `execution.bad_position`,
 * `execution.too_many_followed`.
 */
export type FollowExecution = (
  actor: Actor,
  id: string,
  scope: MaybeInProject,
  lastEventId: string | undefined,
) => Promise<"ended" | ((sink: EventSink) => Promise<void>)>;

export const makeFollowExecution =
  (deps: Deps): FollowExecution =>
  async (actor, id, scope, lastEventId) => {
    const from = lastEventId === undefined ? undefined : parsePosition(lastEventId);
    if (lastEventId !== undefined && !from) throw problem("execution.bad_position");
    const execution = await deps.getListed(actor, id, scope);
    if (from?.hasEnded && isFinal(execution.status)) return "ended";
    const run = { accountId: actor.accountId, id: execution.id };
    if (!(await deps.feeds.load(run))) throw problem("execution.not_found", [id]);
    return (sink) => deps.feeds.follow(run, (feed) => follow(deps, { actor, feed, sink, from }));
  };

type Following = {
  readonly actor: Actor;
  readonly feed: ExecutionFeed;
  readonly sink: EventSink;
  readonly from: Position | undefined;
};

async function follow(deps: Deps, { actor, feed, sink, from }: Following): Promise<void> {
  const { view } = feed;
  const services = createReasonReader(deps, actor, feed);
  let { since, nodes, isResumed } = await beginning(deps, feed, from);
  let retry: number | undefined = retryMs();
  while (!sink.closed.aborted) {
    const { reasons, stale } = await services.read();
    const [at, hasEnded, position] = [view.at(), view.hasEnded(), view.position()];
    const batch = { since, isResumed, nodes: nodes.union(stale), reasons, position: positionText(position), retry };
    const isSilent = !(await sendBatch(sink, view, batch));
    if (!isSilent) retry = undefined;
    if (hasEnded) {
      const status = restStatus(view.reading().execution.status);
      const id = positionText({ ...position, hasEnded });
      return sink.send({ event: "end", data: JSON.stringify({ status }), id, retry });
    }
    [since, nodes, isResumed] = [at, new Set(), false];
    const next = await feed.next(at, services.areWaiting() ? REASONS_MS : KEEP_ALIVE_MS, sink.closed);
    if (next === "deleted") return;
    if (next === "same" && !sink.closed.aborted) await sink.ping();
  }
}

/** Where a follower begins. It gets a snapshot if nodes may have disappeared since its position. */
async function beginning(
  { db }: Deps,
  { run, view, refresh }: ExecutionFeed,
  from: Position | undefined,
): Promise<Pick<Batch, "since" | "nodes" | "isResumed">> {
  const all = { since: -1, nodes: new Set<InstanceId>(), isResumed: false };
  if (!from) return all;
  // Another replica may have been ahead of this one.
  if (from.revision > view.position().revision) await refresh();
  // What the view learns from here on is changed since then, so that nothing is missed between the two.
  const since = view.at();
  const changed = await findChangedIds(db, run, from.revision);
  const { revision, shape } = view.position();
  if (from.revision > revision || from.shape !== shape || view.reading().format !== FORMAT) return all;
  return { since, nodes: view.nodes.affectedBy(changed), isResumed: true };
}

/** Reads what services say of waiting nodes, as far as the follower may know, and of which nodes it is something else now. */
function createReasonReader(deps: Deps, actor: Actor, { view }: ExecutionFeed) {
  let sent: ServiceReasons = NO_REASONS;
  const waiting = (): InstanceId[] =>
    view
      .reading()
      .execution.nodes.values()
      .filter(hasServiceReason)
      .map(({ id }) => id)
      .toArray();
  return {
    areWaiting: (): boolean => waiting().length > 0,
    async read(): Promise<{ readonly reasons: ServiceReasons; readonly stale: ReadonlySet<InstanceId> }> {
      const nodes = waiting();
      if (nodes.length === 0) return { reasons: NO_REASONS, stale: new Set() };
      const reasons: ServiceReasons = await findServiceReasons(deps, actor, view.reading().execution);
      const stale = new Set(nodes.filter((node) => reasons.get(node) !== sent.get(node)));
      sent = reasons;
      return { reasons, stale };
    },
  };
}
