import { Pool, Query as DriverQuery, type PoolClient } from "pg";
import { Problem } from "../../../core/problem.ts";
import { besideTransaction, outsideShares, type Share } from "./budget.ts";
import { clientConfig, type Connection } from "../connection.ts";
import type { Db, DbLog } from "../db.ts";
import { createLenders } from "./lenders.ts";
import { CopyQuery, withLiterals } from "./copy-query.ts";
import type { AskFor, Copy, LentTo } from "./lent.ts";
import { createListener, type Backoff } from "../notify/listen.ts";
import { databaseProblem, type problems } from "../problems.ts";
import { createStatements, type Statements } from "./statements.ts";
import { runTransaction } from "./transaction.ts";
import { TupleQuery } from "./tuple-query.ts";

export type DbOptions = {
  readonly connection: Connection;
  /** Application name in the database's lists; a name in the address takes precedence. */
  readonly name?: string | undefined;
  /** Most connections, without the listening one and that for statements beside a transaction. Default 10. */
  readonly max?: number;
  /**
   * Milliseconds to wait for a connection of a share. Default 10 000. The share of intake is half of the connections,
   * that of all delegates two thirds, that of senders without an actor and that of each caller a third.
   */
  readonly shareTimeout?: number;
  /** Milliseconds a statement may take; 0 = no limit. Default 30 000. */
  readonly statementTimeout?: number;
  /** Milliseconds to wait for a free or a new connection. Default 5 000. */
  readonly connectTimeout?: number;
  readonly log: DbLog;
  /** Gets errors without a caller: of a hook after a commit, or of a listener. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds before the listening connection is opened again; tests set a short time. */
  readonly listenBackoff?: Backoff;
};

const USUAL_CONNECTIONS = 10;
/** For statements beside open transactions. */
const RESERVED_CONNECTIONS = 1;
const STATEMENTS_AT_MOST = 1_000;
/** Requests of one network that wait for their authentication. A request uses some ten kilobytes. */
const UNAUTHENTICATED_AT_MOST = 1_000;
/** More than two idle connections are closed after this many milliseconds: each costs the database some megabytes. */
const IDLE_FOR = 60_000;

/** Opens the database. It connects at the first statement and reconnects after a lost connection. */
export function openDb(options: DbOptions): Db {
  const { connection, log, onError } = options;
  const waitMs = options.connectTimeout ?? 5_000;
  const config = {
    ...clientConfig(connection),
    ...(options.name === undefined ? {} : { application_name: options.name }),
    statement_timeout: options.statementTimeout ?? 30_000,
    connectionTimeoutMillis: waitMs,
  };
  const max = options.max ?? USUAL_CONNECTIONS;
  const pool = new Pool({
    ...config,
    max: max + RESERVED_CONNECTIONS,
    min: Math.min(2, options.max ?? 2),
    idleTimeoutMillis: IDLE_FOR,
  });
  // A connection that ends while it is idle tells the pool, one that is lent tells its client. Without
  // these two handlers either would end the process; the statement that is under way rejects anyway.
  pool.on("error", (error) => log.warn({ err: error }, "an idle connection to the database was lost"));
  pool.on("connect", (client) => client.on("error", () => {}));
  const lendAny = makeLend(pool, createStatements(STATEMENTS_AT_MOST));
  const currentLender = createLenders(lendAny, {
    most: max,
    waitMs,
    limitOf: (share) => ({
      most: mostOf(share, max),
      waitMs: options.shareTimeout ?? 10_000,
      mostWaiting: share === "unauthenticated" ? UNAUTHENTICATED_AT_MOST : Infinity,
    }),
    isLost: (error) => hasCode(error, "db.unavailable"),
  });
  const lend = (): Promise<LentTo> => currentLender().lend();
  const listener = createListener({ connection: config, log, onError, backoff: options.listenBackoff });
  let closing: Promise<void> | undefined;
  const query = makeQuery(lend);
  const tuples: AskFor = (text, values) => currentLender().tuples(text, values);
  return {
    query,
    tuples: againIfChanged(tuples),
    binary: (text, values, onRow) => borrow(lend, ({ copy }) => copy(withLiterals(text, values), onRow)),
    notify: async (channel, payload) => void (await query("select pg_notify($1, $2)", [channel, payload])),
    transaction: async (work) => {
      const { result, hooks } = await runTransaction(await lend(), (tx) => besideTransaction(() => work(tx)));
      for (const hook of hooks) outsideShares(() => runHook(hook, onError));
      return result;
    },
    listen: listener.listen,
    close: () => (closing ??= Promise.all([listener.close(), pool.end()]).then(() => {})),
  };
}

/** Connections of a share. */
function mostOf(share: Share, max: number): number {
  const part = share === "intake" ? max / 2 : share === "delegates" ? (max * 2) / 3 : max / 3;
  return Math.max(1, Math.floor(part));
}

const makeQuery = (lend: () => Promise<LentTo>): AskFor =>
  againIfChanged((text, values) => borrow(lend, ({ ask }) => ask(text, values)));

/** Runs one statement on a borrowed connection. */
async function borrow<T>(lend: () => Promise<LentTo>, run: (lent: LentTo) => Promise<T>): Promise<T> {
  const lent = await lend();
  try {
    const result = await run(lent);
    lent.release(false);
    return result;
  } catch (error) {
    // A connection that the database is about to close may still look healthy, so it is not reused.
    lent.release(hasCode(error, "db.unavailable"));
    throw error;
  }
}

/** Repeats a statement once if its plan had changed: it had not started. */
const againIfChanged =
  (ask: AskFor): AskFor =>
  async (text, values) => {
    try {
      return await ask(text, values);
    } catch (error) {
      if (hasCode(error, "db.plan_changed")) return ask(text, values);
      throw error;
    }
  };

function makeLend(pool: Pool, statements: Statements): () => Promise<LentTo> {
  return async () => {
    let client: PoolClient;
    try {
      client = await pool.connect();
    } catch (error) {
      throw databaseProblem(error) ?? error;
    }
    const ask = makeAsk(client, statements);
    const copy = makeCopy(client, statements);
    return { client, ask, copy, query: ask, release: (destroy) => client.release(destroy) };
  };
}

/**
 * Runs statements on one connection with the driver's query objects and a callback. With a plain description of the
 * query, the driver would copy it property by property and create two more promises.
 */
function makeAsk(client: PoolClient, statements: Statements): AskFor {
  return (text, values = [], rows) =>
    new Promise((resolve, reject) => {
      const answered = (error: Error | null | undefined, result: { readonly rows: never[] }): void => {
        if (error) reject(failed(statements, error));
        else resolve(result.rows);
      };
      const query: Named = rows
        ? new TupleQuery(text, values, answered)
        : new DriverQuery(text, [...values], answered as never);
      query.name = statements.nameOf(text);
      client.query(query);
    });
}

const makeCopy =
  (client: PoolClient, statements: Statements): Copy =>
  (text, onRow) =>
    new Promise((resolve, reject) => {
      const answered = (error: Error | undefined): void => {
        if (error) reject(failed(statements, error));
        else resolve();
      };
      client.query(new CopyQuery(text, onRow, answered));
    });

/** The driver prepares a named query once for each connection. */
type Named = DriverQuery & { name?: string | undefined };

function failed(statements: Statements, error: Error): Error {
  const known = databaseProblem(error) ?? error;
  if (hasCode(known, "db.plan_changed")) statements.renew();
  return known;
}

function hasCode(error: unknown, code: keyof typeof problems): boolean {
  return error instanceof Problem && error.code === code;
}

function runHook(hook: () => void, onError: (error: unknown) => void): void {
  try {
    hook();
  } catch (error) {
    onError(error);
  }
}
