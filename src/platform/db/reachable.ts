/** Waits for a database that is not reachable yet, as long as waiting can help. */
import { setTimeout as pause } from "node:timers/promises";
import { Problem } from "../../core/problem.ts";
import { ConfigError } from "../config/config-error.ts";
import type { DbLog } from "./db.ts";
import { databaseProblem } from "./problems.ts";

export type RetryOptions = {
  /** Aborted when the database is no longer needed. */
  readonly signal: AbortSignal;
  /** Called before each pause. */
  readonly onWaiting: () => Promise<void>;
};

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

/** Faults that are temporary or repaired on the database's side, without a change of Railhead's configuration. */
const PASSING: ReadonlySet<string> = new Set([
  "db.unavailable",
  "db.busy",
  "db.too_slow",
  "db.conflict",
  "db.disk_full",
  "db.disk_failed",
]);
/** Faults of the value of DATABASE_URL. */
const MISCONFIGURED: ReadonlySet<string> = new Set(["db.refused", "migration.unsuitable_database"]);

/**
 * Runs the work again and again until the database of the address is reachable. Throws ConfigError for a fault that
 * waiting cannot repair, the reason of the signal when it is aborted, and any other error unchanged.
 */
export async function retryUntilReachable<T>(
  url: string,
  { log, waiting }: { readonly log: DbLog; readonly waiting: RetryOptions },
  work: () => Promise<T>,
): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      const known = error instanceof Problem ? error : databaseProblem(error);
      if (known && MISCONFIGURED.has(known.code)) throw misconfigured(known);
      if (!known || !PASSING.has(known.code) || isForbidden(known)) throw error;
      log.warn(
        { ...locationOf(url), reason: reasonOf(known), retryMs: pauseMs },
        "the database of DATABASE_URL cannot be used; trying again",
      );
      await waiting.onWaiting();
    }
    await pause(pauseMs, undefined, { signal: waiting.signal });
  }
}

/** Names the wrong variable and the driver's message. The address is omitted, because it may contain a password. */
const misconfigured = (known: Problem): ConfigError =>
  new ConfigError([
    known.code === "db.refused" ? `The database of DATABASE_URL cannot be used: ${reasonOf(known)}.` : known.message,
  ]);

/** After several addresses, the driver's error has no message of its own. */
function reasonOf({ cause, message }: Problem): string {
  if (!(cause instanceof Error)) return message;
  if (cause instanceof AggregateError && cause.message === "")
    return cause.errors.map((each: unknown) => (each instanceof Error ? each.message : String(each))).join("; ");
  return cause.message;
}

/** The operating system does not permit opening the socket. */
const isForbidden = ({ cause }: Problem): boolean => (cause as NodeJS.ErrnoException | undefined)?.code === "EACCES";

/** Location of the database, without user and password. */
export function locationOf(url: string): { readonly host: string; readonly database: string } {
  const parsed = URL.parse(url.replace("@/", "@localhost/"));
  const host = parsed?.searchParams.get("host") ?? parsed?.host ?? "";
  return { host: host || "localhost", database: parsed?.pathname.slice(1) ?? "" };
}
