/**
 * The feeds of the executions that are followed on this server. Followers of an execution share one. It outlives its
 * last follower for some seconds, for one that reconnects.
 */
import type { Uuid } from "../../core/ids.ts";
import { atMostEvery } from "../../platform/jobs/at-most-every.ts";
import { problem } from "../problems.ts";
import type { RunKey } from "../store/advance.ts";
import { findPositions } from "../store/following.ts";
import type { Wakeups } from "../wakeups.ts";
import { createExecutionFeed, type ExecutionFeed } from "./execution-feed.ts";
import type { ReadDeps } from "./read-execution.ts";

/** Nodes of all followed executions. One takes about four kilobytes. */
const MOST_NODES = { ofAccount: 25_000, ofAll: 50_000 } as const;
const IDLE_MS = 10_000;
/** Why a task waits changes without an event of its execution. */
const REASONS_MS = 5_000;
const RETRY_SECONDS = 5;

type Deps = ReadDeps & {
  readonly wakeups: Pick<Wakeups, "subscribe">;
  readonly mostNodes?: Readonly<Record<keyof typeof MOST_NODES, number>>;
};

type Shared = {
  readonly run: RunKey;
  readonly loading: Promise<ExecutionFeed | undefined>;
  readonly unsubscribe: () => void;
  feed: ExecutionFeed | undefined;
  followers: number;
  idle: NodeJS.Timeout | undefined;
};

export type ExecutionFeeds = ReturnType<typeof createExecutionFeeds>;

export function createExecutionFeeds(deps: Deps) {
  const { mostNodes = MOST_NODES } = deps;
  const all = new Map<Uuid, Shared>();

  function remove(shared: Shared): void {
    shared.unsubscribe();
    clearTimeout(shared.idle);
    shared.feed?.stop();
    if (all.get(shared.run.id) === shared) all.delete(shared.run.id);
  }

  function removeSoon(shared: Shared): void {
    if (shared.followers > 0) return;
    clearTimeout(shared.idle);
    shared.idle = setTimeout(() => remove(shared), IDLE_MS).unref();
  }

  const sizeOf = (isCounted: (shared: Shared) => boolean): number =>
    [...all.values()].filter(isCounted).reduce((sum, { feed }) => sum + (feed?.view.nodes.size() ?? 0), 0);

  /** Throws `execution.too_many_followed`. */
  function makeRoom({ accountId }: RunKey, nodes = 1): void {
    const isFull = (): boolean =>
      sizeOf(() => true) + nodes > mostNodes.ofAll ||
      sizeOf(({ run }) => run.accountId === accountId) + nodes > mostNodes.ofAccount;
    for (const shared of all.values()) if (isFull() && shared.feed && shared.followers === 0) remove(shared);
    if (isFull()) throw problem("execution.too_many_followed", [], { retryAfter: RETRY_SECONDS });
  }

  function start(run: RunKey): Shared {
    makeRoom(run);
    const unsubscribe = deps.wakeups.subscribe(run.id, () => shared.feed?.wake());
    const loading = loaded(run, () => shared);
    const shared: Shared = { run, loading, unsubscribe, feed: undefined, followers: 0, idle: undefined };
    all.set(run.id, shared);
    loading.then(
      (feed) => {
        if (!feed || all.get(run.id) !== shared) return remove(shared);
        // What has happened since the reading.
        feed.wake();
        removeSoon(shared);
      },
      () => remove(shared),
    );
    return shared;
  }

  async function loaded(run: RunKey, own: () => Shared): Promise<ExecutionFeed | undefined> {
    const feed = await createExecutionFeed(deps, run, () => own().followers > 0);
    // Its size is known only now.
    makeRoom(run, feed?.view.nodes.size());
    own().feed = feed;
    return feed;
  }

  function sharedOf(run: RunKey): Shared {
    const shared = all.get(run.id);
    if (!shared?.feed?.isOver()) return shared ?? start(run);
    remove(shared);
    return start(run);
  }

  const wakeWaiting = atMostEvery(REASONS_MS, deps.clock, async () => {
    for (const { feed } of all.values()) {
      const { waitingFor, queueReason } = feed?.view.reading().extras ?? {};
      if (waitingFor?.size || queueReason !== undefined) feed?.wake();
    }
  });

  return {
    /** Throws `execution.too_many_followed`. Undefined for an execution that does not exist. */
    load: (run: RunKey): Promise<ExecutionFeed | undefined> => sharedOf(run).loading,
    /** Calls `work` with the feed; it stays until the promise settles. */
    async follow(run: RunKey, work: (feed: ExecutionFeed) => Promise<void>): Promise<void> {
      const shared = sharedOf(run);
      shared.followers += 1;
      clearTimeout(shared.idle);
      try {
        const feed = await shared.loading;
        if (feed) await work(feed);
      } finally {
        shared.followers -= 1;
        if (all.get(run.id) === shared) removeSoon(shared);
      }
    },
    /** Wakes the feeds of executions that have changed, in case a notification was lost (invariant 9). */
    poll: async (): Promise<void> => {
      const followed = [...all.values()].filter(({ followers, feed }) => followers > 0 && feed);
      if (followed.length === 0) return;
      await wakeWaiting();
      const runs = followed.map(({ run }) => run);
      const positions = new Map((await findPositions(deps.db, runs)).map((position) => [position.id, position]));
      for (const { run, feed } of followed) {
        const found = positions.get(run.id);
        const isSame = found?.revision === feed?.view.reading().revision && found?.logBytes === feed?.view.logs.sum();
        if (!isSame) feed?.wake();
      }
    },
    stop: (): void => {
      for (const shared of all.values()) remove(shared);
    },
  };
}
