import type { QueryResultRow } from "pg";

/** Runs one statement and returns its rows. Each connection prepares a statement once, by its text. */
export type Query = <R extends QueryResultRow = QueryResultRow>(
  text: string,
  values?: readonly unknown[],
) => Promise<R[]>;

/** What a statement of a store needs: the database or an open transaction. */
export type Store = { readonly query: Query };

/**
 * The same with each row as an array of values in column order, for frequent lists. The driver builds row objects
 * property by property, which is slow once it has seen many kinds of rows (30 µs of 180 for 100 rows). Statements of
 * one turn of the event loop share a connection, so they must not wait for locks (decision 0016).
 */
export type QueryTuples = <Row extends readonly unknown[]>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** Called for each row of a binary result. The driver reuses the memory of the columns afterwards. */
export type OnBinaryRow = (columns: readonly (Buffer | null)[]) => void;

/**
 * A SELECT of large `bytea` columns: columns as PostgreSQL sends them in binary format, `int8` as eight bytes. Values are
 * texts and integers. The statement is planned at each run.
 */
export type QueryBinary = (text: string, values: readonly (string | number)[], onRow: OnBinaryRow) => Promise<void>;

/** An open transaction. Keep it short: no network calls, sealing or waiting inside. */
export type Tx = {
  readonly query: Query;
  /** Registers a function that runs after the commit, in order; never after a rollback. */
  readonly afterCommit: (work: () => void) => void;
  /**
   * Registers a function that runs if the transaction did not commit or its outcome is unknown; it restores state in
   * memory.
   */
  readonly afterRollback: (work: () => void) => void;
};

/**
 * Called when something on a channel changed. It only wakes up a reader; a slow poll backs it (invariant 9). An empty
 * payload means that notifications may have been missed: listening has begun, for the first time or after a lost
 * connection.
 */
export type OnNotification = (payload: string) => void;

/** The database as stores see it. Rejects with the problems of problems.ts, or with the error of the statement. */
export type Db = {
  /** Runs one statement in its own transaction. */
  readonly query: Query;
  readonly tuples: QueryTuples;
  readonly binary: QueryBinary;
  readonly transaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
  /** Notifies a channel in its own transaction: NOTIFY inside a transaction makes all commits wait for each other. */
  readonly notify: (channel: string, payload: string) => Promise<void>;
  /** Calls `notified` for each NOTIFY on the channel, across reconnects. Returns a function that stops listening. */
  readonly listen: (channel: string, notified: OnNotification) => () => void;
  readonly close: () => Promise<void>;
};

/** The methods of a log that database code uses; a pino logger has them. */
/** `pid` is the server's own, in every line. */
type LogFields = { readonly [field: string]: unknown; readonly pid?: never };
export type DbLog = Readonly<Record<"debug" | "info" | "warn" | "error", (fields: LogFields, message: string) => void>>;
