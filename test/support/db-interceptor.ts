/** Stops a platform after a statement, so that the test decides what happens before the platform continues. */
import type { Db, Query } from "../../src/platform/db/db.ts";

export type DbInterceptor = {
  /** Pass it to the platform as `wrapDb`. */
  readonly wrapDb: (db: Db) => Db;
  /**
   * Stops the platform after the next statement that matches. The platform gets the rows when the test calls `open`.
   */
  readonly stopAt: (text: RegExp) => { readonly reached: Promise<void>; readonly open: () => void };
  /**
   * Does the work and waits for the lookup of ready tasks that it causes. If the notifications of ready tasks are
   * ignored, the delegate's session then expects no pending task, and a new run is leased to it at once.
   */
  readonly afterLookup: <T>(work: () => Promise<T>) => Promise<T>;
  /** Drops the notifications of this channel from now on. */
  readonly ignore: (channel: string) => void;
  /** Removes the stop and the ignored channels. */
  readonly forget: () => void;
};

export function createDbInterceptor(): DbInterceptor {
  const ignored = new Set<string>();
  let stop: { readonly text: RegExp; readonly reached: () => void; readonly open: Promise<void> } | undefined;
  const intercepted =
    (query: Query): Query =>
    async (text, values) => {
      // Read before the statement is sent: a statement that was sent before `stopAt` does not count.
      const mine = stop?.text.test(text) ? stop : undefined;
      const rows = await query<never>(text, values);
      if (mine && mine === stop) {
        stop = undefined;
        mine.reached();
        await mine.open;
      }
      return rows;
    };
  const stopAt: DbInterceptor["stopAt"] = (text) => {
    const [reached, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    stop = { text, reached: reached.resolve, open: open.promise };
    return { reached: reached.promise, open: open.resolve };
  };
  return {
    wrapDb: (db) => ({
      ...db,
      query: intercepted(db.query),
      transaction: (work) => db.transaction((tx) => work({ ...tx, query: intercepted(tx.query) })),
      listen: (channel, notified) =>
        db.listen(channel, (payload) => (ignored.has(channel) ? undefined : notified(payload))),
    }),
    stopAt,
    afterLookup: async (work) => {
      const lookup = stopAt(/skip locked/);
      const result = await work();
      await lookup.reached;
      lookup.open();
      return result;
    },
    ignore: (channel) => void ignored.add(channel),
    forget: () => {
      stop = undefined;
      ignored.clear();
    },
  };
}
