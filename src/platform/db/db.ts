import type { QueryResultRow } from "pg";

/** Runs one statement and answers its rows. Statements are prepared once per connection, by their text. */
export type Query = <R extends QueryResultRow = QueryResultRow>(
  text: string,
  values?: readonly unknown[],
) => Promise<R[]>;

/**
 * The same, each row as the list of its values in the order of the columns: for lists that many ask for. The driver
 * makes an object of a row property by property, slowly once it has seen many kinds of rows (30 µs of 180 for 100 rows).
 * Those of one turn of the event loop share a connection, so they must not wait for locks (decision 0016).
 */
export type QueryTuples = <Row extends readonly unknown[]>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** An open transaction. Keep it short: no network call, no sealing, no waiting inside. */
export type Tx = {
  readonly query: Query;
  /** Runs after the commit, in order; never when the transaction is rolled back. */
  readonly afterCommit: (work: () => void) => void;
  /** Runs when the transaction did not commit, as far as anybody can tell: gives back what was set aside in memory. */
  readonly afterRollback: (work: () => void) => void;
};

/**
 * Says that something on `channel` changed. Only ever a wake-up: a slow poll stands behind it (invariant 9).
 * An empty payload says "look yourself": listening has begun, at first or again after a lost
 * connection, and notifications before that moment were missed.
 */
export type Notified = (payload: string) => void;

export type Db = {
  /** One statement, one commit of its own. */
  readonly query: Query;
  readonly tuples: QueryTuples;
  readonly transaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
  /** Wakes the listeners of a channel, in a commit of its own: inside a transaction NOTIFY makes all commits queue up. */
  readonly notify: (channel: string, payload: string) => Promise<void>;
  /** Calls `notified` for each NOTIFY on the channel, across reconnects; answers how to stop. */
  readonly listen: (channel: string, notified: Notified) => () => void;
  readonly close: () => Promise<void>;
};

/** What the database's machinery needs of a log; pino's logger is one. */
/** `pid` is the server's own, in every line. */
type LogFields = { readonly [field: string]: unknown; readonly pid?: never };
export type DbLog = Readonly<Record<"debug" | "info" | "warn" | "error", (fields: LogFields, message: string) => void>>;
