import { fromWire, toWire, type Uuid } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import { ConfigError } from "../platform/config/config.ts";
import type { Db } from "../platform/db/db.ts";
import { openForCommand, type Opened } from "./open.ts";
import { problem } from "./problems.ts";
import { accountIds } from "./store.ts";

/** What a command answers to the shell: it is so, it is not so, it could not be done. */
export type ExitCode = 0 | 1 | 2;

const COULD_NOT: ExitCode = 2;

/**
 * Opens, does the work and closes, also on Ctrl-C and when the terminal closes. What the operator can mend is told in its own words on standard error, anything else with its stack.
 */
export async function runCommand(work: Work): Promise<ExitCode> {
  const interrupted = new AbortController();
  // Under nohup something listens to SIGHUP already (scripts/guard.js).
  const hangup = process.listenerCount("SIGHUP") > 0 ? [] : (["SIGHUP"] as const);
  for (const name of ["SIGINT", "SIGTERM", ...hangup] as const) process.once(name, () => interrupted.abort());
  // Whoever reads our output may have enough: `railhead audit export | head`.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    interrupted.abort();
  });
  return attempt(work, interrupted.signal).catch((error: unknown): ExitCode => {
    if (!interrupted.signal.aborted) tell(error);
    return COULD_NOT;
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

function tell(error: unknown): void {
  const known = error instanceof ConfigError || error instanceof Problem;
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  process.stderr.write(`${known ? message : (stack ?? message)}\n`);
}

/** Writes a line, and waits while whoever reads it is behind. */
export function say(line: string): Promise<void> {
  return new Promise((resolve) => {
    if (process.stdout.write(`${line}\n`)) resolve();
    else process.stdout.once("drain", resolve).once("close", resolve);
  });
}

/** All accounts, or the one that was named. Throws `command.unknown_account`. */
export async function namedAccounts(db: Db, named: string | undefined): Promise<readonly Uuid[]> {
  const all = await accountIds(db);
  if (all.length === 0) throw problem("command.no_account");
  if (named === undefined) return all;
  const id = fromWire(named);
  if (!id || !all.includes(id)) throw problem("command.unknown_account", [named.slice(0, 80)]);
  return [id];
}

/** The account that was named; without a name the only one there is. */
export async function oneAccount(db: Db, named: string | undefined): Promise<Uuid> {
  const [first, ...others] = await namedAccounts(db, named);
  if (!first) throw problem("command.no_account");
  if (others.length === 0) return first;
  const some = [first, ...others].slice(0, 10).map(toWire).join(", ");
  throw problem("command.which_account", [String(others.length + 1), some]);
}

/** A moment as milliseconds or as ISO 8601. Throws `command.bad_option`. */
export function momentOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const at = /^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isSafeInteger(at) && at >= 0) return at;
  throw problem("command.bad_option", [option, text.slice(0, 80), "a date (2027-01-31T08:00:00Z) or milliseconds"]);
}
