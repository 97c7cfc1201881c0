/** The feeds of the accounts whose delegates are followed on this server. Followers of an account share one. */
import type { Uuid } from "../../core/ids.ts";
import { createDelegateFeed, type DelegateFeed, type FeedDeps } from "./delegate-feed.ts";

type Shared = { readonly feed: DelegateFeed; readonly loading: Promise<void>; followers: number };

export type DelegateFeeds = ReturnType<typeof createDelegateFeeds>;

export function createDelegateFeeds(deps: FeedDeps) {
  const all = new Map<Uuid, Shared>();

  function start(accountId: Uuid): Shared {
    const feed = createDelegateFeed(deps, accountId);
    const shared: Shared = { feed, loading: feed.read(), followers: 0 };
    all.set(accountId, shared);
    return shared;
  }

  return {
    /** Calls `work` with the feed, after its first reading. The feed stays until the promise settles. */
    async follow(accountId: Uuid, work: (feed: DelegateFeed) => Promise<void>): Promise<void> {
      const shared = all.get(accountId) ?? start(accountId);
      shared.followers += 1;
      try {
        await shared.loading;
        await work(shared.feed);
      } finally {
        shared.followers -= 1;
        if (shared.followers === 0) {
          shared.feed.stop();
          all.delete(accountId);
        }
      }
    },
    /** Reads all delegates that are followed. Called after changes, and repeatedly. */
    wake: (): void => {
      for (const { feed } of all.values()) feed.wake();
    },
    stop: (): void => {
      for (const { feed } of all.values()) feed.stop();
      all.clear();
    },
  };
}
