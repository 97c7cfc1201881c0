import { fromWire, toWire, type Uuid } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import { ConfigError } from "../platform/config/config.ts";
import type { Db } from "../platform/db/db.ts";
import { openForCommand, type Opened } from "./open.ts";
import { problem } from "./problems.ts";
import { accountIds } from "./store.ts";

/** Exit code: 0 success, 1 a negative result, 2 failure. */
export type ExitCode = 0 | 1 | 2;

const FAILED: ExitCode = 2;

/**
 * Opens the database, runs `work` and closes, also on Ctrl-C and when the terminal closes. Standard error gets the
 * message of a problem that the operator can solve, and the stack of any other error.
 */
export async function runCommand(work: Work): Promise<ExitCode> {
  const interrupted = new AbortController();
  // Under nohup, SIGHUP has a listener already (scripts/guard.js).
  const hangup = process.listenerCount("SIGHUP") > 0 ? [] : (["SIGHUP"] as const);
  for (const name of ["SIGINT", "SIGTERM", ...hangup] as const) process.once(name, () => interrupted.abort());
  // The reader of a pipe may close it early: `railhead audit export | head`.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    interrupted.abort();
  });
  return attempt(work, interrupted.signal).catch((error: unknown): ExitCode => {
    if (!interrupted.signal.aborted) printError(error);
    return FAILED;
  });
}

type Work = (opened: Opened, signal: AbortSignal) => Promise<ExitCode>;

async function attempt(work: Work, signal: AbortSignal): Promise<ExitCode> {
  const opened = await openForCommand();
  try {
    return await work(opened, signal);
  } finally {
    await opened.close();
  }
}

function printError(error: unknown): void {
  const known = error instanceof ConfigError || error instanceof Problem;
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  process.stderr.write(`${known ? message : (stack ?? message)}\n`);
}

/** Writes a line to standard output and waits while the reader is slow. */
export function printLine(line: string): Promise<void> {
  return new Promise((resolve) => {
    if (process.stdout.write(`${line}\n`)) resolve();
    else process.stdout.once("drain", resolve).once("close", resolve);
  });
}

/** All accounts, or the named one. Throws `command.no_account` and `command.unknown_account`. */
export async function namedAccounts(db: Db, named: string | undefined): Promise<readonly Uuid[]> {
  const all = await accountIds(db);
  if (all.length === 0) throw problem("command.no_account");
  if (named === undefined) return all;
  const id = fromWire(named);
  if (!id || !all.includes(id)) throw problem("command.unknown_account", [named.slice(0, 80)]);
  return [id];
}

/** The named account; without a name the only account. Throws `command.which_account` when there are several. */
export async function oneAccount(db: Db, named: string | undefined): Promise<Uuid> {
  const [first, ...others] = await namedAccounts(db, named);
  if (!first) throw problem("command.no_account");
  if (others.length === 0) return first;
  const some = [first, ...others].slice(0, 10).map(toWire).join(", ");
  throw problem("command.which_account", [String(others.length + 1), some]);
}

/** Parses epoch milliseconds or ISO 8601 into epoch milliseconds. Throws `command.bad_option`. */
export function parseMoment(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const at = /^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isSafeInteger(at) && at >= 0) return at;
  throw problem("command.bad_option", [option, text.slice(0, 80), "a date (2027-01-31T08:00:00Z) or milliseconds"]);
}
