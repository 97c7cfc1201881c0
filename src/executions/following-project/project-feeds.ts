/** The feeds of the projects that are followed on this server. Followers of a project share one. */
import type { Uuid } from "../../core/ids.ts";
import { findChangedProjects, type ProjectKey } from "../store/changes.ts";
import type { Wakeups } from "../wakeups.ts";
import { createProjectFeed, type FeedDeps, type ProjectFeed } from "./project-feed.ts";

/** Of the entries that are kept for followers. */
const MOST_CHARACTERS = { ofProject: 1024 * 1024, ofAll: 32 * 1024 * 1024 } as const;

type Deps = FeedDeps & {
  readonly wakeups: Pick<Wakeups, "subscribe">;
  readonly mostCharacters?: Readonly<Record<keyof typeof MOST_CHARACTERS, number>>;
};

type Shared = {
  readonly project: ProjectKey;
  readonly loading: Promise<ProjectFeed | undefined>;
  readonly unsubscribe: () => void;
  feed: ProjectFeed | undefined;
  followers: number;
};

export type ProjectFeeds = ReturnType<typeof createProjectFeeds>;

export function createProjectFeeds(deps: Deps) {
  const { mostCharacters = MOST_CHARACTERS } = deps;
  const all = new Map<Uuid, Shared>();

  const mostOfEach = (): number => Math.min(mostCharacters.ofProject, mostCharacters.ofAll / Math.max(1, all.size));

  function remove(shared: Shared): void {
    shared.unsubscribe();
    shared.feed?.stop();
    if (all.get(shared.project.projectId) === shared) all.delete(shared.project.projectId);
  }

  function start(project: ProjectKey): Shared {
    const unsubscribe = deps.wakeups.subscribe(project.projectId, () => shared.feed?.wake());
    const loading = load(project, () => shared);
    const shared: Shared = { project, loading, unsubscribe, feed: undefined, followers: 0 };
    all.set(project.projectId, shared);
    return shared;
  }

  async function load(project: ProjectKey, own: () => Shared): Promise<ProjectFeed | undefined> {
    const feed = await createProjectFeed(deps, project, mostOfEach);
    own().feed = feed;
    // What has changed since its snapshot.
    feed?.wake();
    return feed;
  }

  function sharedOf(project: ProjectKey): Shared {
    const shared = all.get(project.projectId);
    if (shared && !shared.feed?.isOver()) return shared;
    if (shared) remove(shared);
    return start(project);
  }

  return {
    /** Calls `work` with the feed; it stays until the promise settles. Does nothing for a project that does not exist. */
    async follow(project: ProjectKey, work: (feed: ProjectFeed) => Promise<void>): Promise<void> {
      const shared = sharedOf(project);
      shared.followers += 1;
      try {
        const feed = await shared.loading;
        if (feed) await work(feed);
      } finally {
        shared.followers -= 1;
        if (shared.followers === 0) remove(shared);
      }
    },
    /** Wakes the feeds of projects that have changed, in case a notification was lost (invariant 9). */
    poll: async (): Promise<void> => {
      const feeds = [...all.values()].flatMap(({ feed }) => feed ?? []);
      if (feeds.length === 0) return;
      const asked = feeds.map((feed) => ({ ...feed.project, snapshot: feed.snapshot() }));
      for (const id of await findChangedProjects(deps.db, asked)) all.get(id)?.feed?.wake();
    },
    stop: (): void => {
      for (const shared of all.values()) remove(shared);
    },
  };
}
