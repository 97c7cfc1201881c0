/** Stops a platform behind a statement, so that a test decides what happens before it goes on. */
import type { Db, Query } from "../../src/platform/db/db.ts";

export type Gate = {
  /** The platform's database is to be this one. */
  readonly wrapDb: (db: Db) => Db;
  /** Stops it behind the next statement like this: its answer comes when `open` is called. */
  readonly stopAt: (text: RegExp) => { readonly reached: Promise<void>; readonly open: () => void };
  /** Stops it nowhere any more. */
  readonly forget: () => void;
};

export function makeGate(): Gate {
  let gate: { readonly text: RegExp; readonly reached: () => void; readonly open: Promise<void> } | undefined;
  const gated =
    (query: Query): Query =>
    async (text, values) => {
      const rows = await query<never>(text, values);
      if (gate?.text.test(text)) {
        const { reached, open } = gate;
        gate = undefined;
        reached();
        await open;
      }
      return rows;
    };
  return {
    wrapDb: (db) => ({
      ...db,
      query: gated(db.query),
      transaction: (work) => db.transaction((tx) => work({ ...tx, query: gated(tx.query) })),
    }),
    stopAt: (text) => {
      const [reached, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      gate = { text, reached: reached.resolve, open: open.promise };
      return { reached: reached.promise, open: open.resolve };
    },
    forget: () => (gate = undefined),
  };
}
