/** Follows the executions of a project, as far as the follower may see them: each change, as lists show the execution. */
import { listed, seen } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { InProject } from "../../pipelines/index.ts";
import type { EventSink } from "../../platform/http/response/events.ts";
import type { GetProject } from "../../projects/index.ts";
import { KEEP_ALIVE_MS, retryMs } from "../../platform/pace.ts";
import { problem } from "../problems.ts";
import { snapshotBefore } from "../store/changes.ts";
import type { Entry } from "./project-changes.ts";
import { findEntriesSince, type FeedDeps, type ProjectFeed } from "./project-feed.ts";
import type { ProjectFeeds } from "./project-feeds.ts";

/** Characters of executions in one event. */
const EVENT_CHARACTERS = 64 * 1024;

/** The number of a transaction: all before it have ended, and the follower knows their changes. */
const POSITION = /^[1-9]\d{0,18}$/;

type Deps = FeedDeps & { readonly getProject: GetProject; readonly projectFeeds: ProjectFeeds };

/** Throws `project.not_found`, `access.not_permitted`, `execution.bad_position`. */
export type FollowProject = (
  actor: Actor,
  scope: InProject,
  lastEventId: string | undefined,
) => Promise<(sink: EventSink) => Promise<void>>;

export const makeFollowProject =
  (deps: Deps): FollowProject =>
  async (actor, scope, lastEventId) => {
    if (lastEventId !== undefined && !POSITION.test(lastEventId)) throw problem("execution.bad_position");
    const { accountId } = actor;
    listed(actor, "core_pipeline_view", { accountId, ...scope });
    const { id: projectId } = await deps.getProject(actor, scope.orgIdentifier, scope.projectIdentifier);
    // The stream ends when the actor loses a permission. A further one counts for the next stream.
    const visible = seen(actor, "core_pipeline_view", { accountId, ...scope });
    const isVisible = ({ pipelineIdentifier }: Entry): boolean => visible === "all" || visible.has(pipelineIdentifier);
    return (sink) =>
      deps.projectFeeds.follow({ accountId, projectId }, (feed) =>
        follow(deps, { feed, sink, isVisible, from: lastEventId }),
      );
  };

type Following = {
  readonly feed: ProjectFeed;
  readonly sink: EventSink;
  readonly isVisible: (entry: Entry) => boolean;
  readonly from: string | undefined;
};

async function follow(deps: Deps, { feed, sink, isVisible, from }: Following): Promise<void> {
  const { changes, project } = feed;
  const { elapsed } = deps.clock;
  let [retry, lastSent]: [number | undefined, number] = [retryMs(), elapsed()];
  async function send(entries: readonly Entry[] | undefined, id: string): Promise<void> {
    for (const piece of piecesOf(entries?.filter(isVisible))) {
      if (sink.closed.aborted) return;
      // Only the last one has the position: a follower that loses the stream before gets all of them again.
      await sink.send({ event: piece.event, data: piece.data, ...(piece.isLast && { id }), retry });
      [retry, lastSent] = [undefined, elapsed()];
    }
  }
  // What the feed finds from here on is sent below, so that nothing is missed between the two.
  let [at, horizon] = [changes.at(), feed.horizon()];
  const missed = from === undefined ? undefined : await findEntriesSince(deps, project, snapshotBefore(from));
  await send(missed, horizon);
  while (!sink.closed.aborted) {
    const silentMs = elapsed() - lastSent;
    const next = await feed.next(at, Math.max(0, KEEP_ALIVE_MS - silentMs), sink.closed);
    if (next === "deleted") return;
    // The changes of a project may be none that the follower sees.
    if ((next === "same" || silentMs >= KEEP_ALIVE_MS) && !sink.closed.aborted) {
      await sink.ping();
      lastSent = elapsed();
    }
    const entries = changes.since(at);
    [at, horizon] = [changes.at(), feed.horizon()];
    await send(entries, horizon);
  }
}

type Piece = { readonly event: "reset" | "executions"; readonly data: string; readonly isLast: boolean };

/** Events of a bounded size. `reset` if it is not known what has changed. */
function* piecesOf(entries: readonly Entry[] | undefined): Generator<Piece> {
  if (!entries) {
    yield { event: "reset", data: "{}", isLast: true };
    return;
  }
  let [content, length]: [string[], number] = [[], 0];
  for (const [nth, { json }] of entries.entries()) {
    content.push(json);
    length += json.length;
    const isLast = nth === entries.length - 1;
    if (length < EVENT_CHARACTERS && !isLast) continue;
    yield { event: "executions", data: `{"content":[${content.join(",")}]}`, isLast };
    [content, length] = [[], 0];
  }
}
