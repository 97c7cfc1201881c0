/** Stops a platform behind a statement, so that a test decides what happens before it goes on. */
import type { Db, Query } from "../../src/platform/db/db.ts";

export type Gate = {
  /** The platform's database is to be this one. */
  readonly wrapDb: (db: Db) => Db;
  /** Stops it behind the next statement like this: its answer comes when `open` is called. */
  readonly stopAt: (text: RegExp) => { readonly reached: Promise<void>; readonly open: () => void };
  /**
   * Does the work and waits for the lookup of ready tasks that it causes. If the notifications of ready tasks are ignored,
   * the delegate's session expects no waiting task afterwards, and a new run is leased to it at once.
   */
  readonly afterLookup: <T>(work: () => Promise<T>) => Promise<T>;
  /** From now on the platform does not receive the notifications of this channel. */
  readonly ignore: (channel: string) => void;
  /** Ends every stop and every ignored channel. */
  readonly forget: () => void;
};

export function createSessionGuard(): Gate {
  const ignored = new Set<string>();
  let gate: { readonly text: RegExp; readonly reached: () => void; readonly open: Promise<void> } | undefined;
  const gated =
    (query: Query): Query =>
    async (text, values) => {
      // Before the statement is sent: one that is already under way when the test sets the gate does not count.
      const mine = gate?.text.test(text) ? gate : undefined;
      const rows = await query<never>(text, values);
      if (mine && mine === gate) {
        gate = undefined;
        mine.reached();
        await mine.open;
      }
      return rows;
    };
  const stopAt: Gate["stopAt"] = (text) => {
    const [reached, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    gate = { text, reached: reached.resolve, open: open.promise };
    return { reached: reached.promise, open: open.resolve };
  };
  return {
    wrapDb: (db) => ({
      ...db,
      query: gated(db.query),
      transaction: (work) => db.transaction((tx) => work({ ...tx, query: gated(tx.query) })),
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
      gate = undefined;
      ignored.clear();
    },
  };
}
