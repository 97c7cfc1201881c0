import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import type { DbLog } from "../../db.ts";
import { spawnOptionsFor } from "./run-program.ts";
import { diskFullFrom } from "../files/disk.ts";
import type { DatabaseFolders } from "../files/folders.ts";
import { sendSignal } from "./processes.ts";
import { SETTINGS, type Settings } from "./settings.ts";
import { problem } from "../problems.ts";

/** One running PostgreSQL: the process that listens and starts all others. */
export type Postmaster = {
  readonly pid: number;
  /** Resolves, never rejects, when it has ended, with its exit and its last output. */
  readonly ended: Promise<PostmasterExit>;
  /** Keeps this process alive until PostgreSQL has ended. */
  readonly hold: () => void;
};

export type PostmasterExit = { readonly how: string; readonly output: string };

const READY_CHECKED_EVERY = 10;
const RECOVERY_MENTIONED_EVERY = 10_000;
const LINES_KEPT = 20;
const LAST_WORDS_WITHIN = 100;

export type Launch = {
  readonly folders: DatabaseFolders;
  readonly programs: string;
  readonly socketDir: string;
  readonly settings: Settings;
  readonly log: DbLog;
};

/**
 * Starts PostgreSQL and waits until it accepts connections, however long recovery takes. Rejects with
 * `embedded.disk_full` or `embedded.start_failed` when it ends before that.
 */
export async function startPostmaster(launch: Launch, abortSignal: AbortSignal): Promise<Postmaster> {
  const { folders } = launch;
  const postmaster = spawnPostmaster(launch);
  let waited = 0;
  let ended: PostmasterExit | undefined;
  void postmaster.ended.then((it) => (ended = it));
  while (!(await isReady(folders.cluster, postmaster.pid))) {
    if (ended) {
      const full = await diskFullFrom(ended.output, folders.root, "start");
      throw full ?? problem("embedded.start_failed", [folders.cluster, ended.how, ended.output]);
    }
    if (abortSignal.aborted) {
      await stopPostmaster(postmaster);
      throw abortSignal.reason;
    }
    await pause(READY_CHECKED_EVERY);
    waited += READY_CHECKED_EVERY;
    if (waited % RECOVERY_MENTIONED_EVERY === 0)
      launch.log.info({ seconds: waited / 1000 }, "the database is recovering");
  }
  return postmaster;
}

/** Milliseconds before a clean shutdown becomes an abrupt one. The server has ten seconds in all. */
const FAST_WITHIN = 6_000;
const QUIT_WITHIN = 2_500;

/** Stops it: open transactions are rolled back, and all data is written. Resolves when it has ended. */
export async function stopPostmaster(postmaster: Postmaster): Promise<void> {
  postmaster.hold();
  await terminateProcess(postmaster.pid, async (milliseconds) => {
    const timeUp = new AbortController();
    const late = pause(milliseconds, false, { signal: timeUp.signal }).catch(() => false);
    const inTime = await Promise.race([postmaster.ended.then(() => true), late]);
    timeUp.abort();
    return inTime;
  });
  await postmaster.ended;
}

/**
 * Stops a postmaster with growing force. `hasEndedWithin` waits for the given milliseconds and returns whether it has
 * ended. SIGQUIT and SIGKILL lose nothing that was committed: the next start recovers it.
 */
export async function terminateProcess(
  pid: number,
  hasEndedWithin: (milliseconds: number) => Promise<boolean>,
): Promise<void> {
  sendSignal(pid, "SIGINT");
  if (await hasEndedWithin(FAST_WITHIN)) return;
  sendSignal(pid, "SIGQUIT");
  if (await hasEndedWithin(QUIT_WITHIN)) return;
  sendSignal(pid, "SIGKILL");
}

function spawnPostmaster({ folders, programs, socketDir, settings, log }: Launch): Postmaster {
  const all = { ...SETTINGS, unix_socket_directories: socketDir, ...settings };
  const args = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  // A session of its own: Ctrl-C must reach only this process, which still needs the database for its shutdown.
  const child = spawn(join(programs, "bin", "postgres"), ["-D", folders.cluster, ...args], {
    ...spawnOptionsFor(folders.account, folders.run),
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  child.unref();
  const said = follow(child, log);
  // Its last output may arrive after its end. A surviving backend, however, holds the pipe open.
  const silent = once(child, "close").catch(() => {});
  const ended = once(child, "exit").then(
    async () => {
      await Promise.race([silent, pause(LAST_WORDS_WITHIN)]);
      return { how: child.signalCode ?? `exit code ${child.exitCode}`, output: said() };
    },
    (error: unknown) => ({ how: error instanceof Error ? error.message : String(error), output: said() }),
  );
  return { pid: child.pid ?? 0, ended, hold: () => child.ref() };
}

/** Forwards its output and stores the last lines for the error message. */
function follow(child: ChildProcess, log: DbLog): () => string {
  const last: string[] = [];
  if (child.stderr) {
    // Surviving backends hold this pipe too; it must not keep this process alive.
    if (child.stderr instanceof Socket) child.stderr.unref();
    createInterface({ input: child.stderr }).on("line", (line) => {
      last.push(line);
      if (last.length > LINES_KEPT) last.shift();
      log[/^(FATAL|PANIC|WARNING):/.test(line) ? "warn" : "debug"]({ source: "postgres" }, line);
    });
  }
  return () => last.join("\n");
}

/** Line 1 of this file is the pid; line 8 is `ready` once it accepts connections. No log has to be parsed. */
async function isReady(cluster: string, pid: number): Promise<boolean> {
  const lines = (await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
  return Number(lines[0]) === pid && lines[7]?.trim() === "ready";
}
