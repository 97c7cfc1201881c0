/**
 * The local delegate: a child process for trying things out. Its life hangs on
 * the pipe to its standard input, so that it ends with the server even when
 * that is killed; its steps go on, and the next one finds them in its work folder.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as rest } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Uuid } from "../../core/ids.ts";
import type { Log } from "../../platform/log/log.ts";
import type { LocalPass } from "./local-pass.ts";

const PROGRAM = fileURLToPath(new URL("../../../cli/railhead.js", import.meta.url));
const STOP_MS = 2_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** The delegate's own way of saying that the server refused it. */
const REFUSED = 3;
/** Ours of saying that there is nothing to start it with. */
const REVOKED = "revoked";

export type LocalDelegate = { readonly stop: () => Promise<void>; readonly pid: () => number | undefined };

export type LocalDelegateConfig = {
  /** Where the server listens. */
  readonly url: string;
  readonly accountId: Uuid;
  readonly dataDir: string;
  readonly delegateDir: string | undefined;
  /** PATH of the steps; undefined lets the delegate choose. */
  readonly stepPath: string | undefined;
  /** The file of the hosts that steps may run on; undefined: the first key that a host shows is believed. */
  readonly knownHosts: string | undefined;
};

export type LocalDelegateOptions = {
  readonly url: string;
  readonly workDir: string;
  /** Lying elsewhere, the work folder is removed some time after this folder is. */
  readonly belongsTo: string | undefined;
  readonly stepPath: string | undefined;
  readonly knownHosts: string | undefined;
  /** Asked for at each start of the program; undefined: an operator wants no local delegate. */
  readonly pass: () => Promise<LocalPass | undefined>;
  readonly log: Log;
};

export function startLocalDelegate(options: LocalDelegateOptions): LocalDelegate {
  let child: ChildProcess | undefined;
  const stopping = new AbortController();

  async function keepRunning(): Promise<void> {
    for (let pause = FIRST_PAUSE_MS; !stopping.signal.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const code = await runOnce().catch((error: unknown) => {
        options.log.error({ err: error }, "the local delegate could not be started");
        return null;
      });
      if (stopping.signal.aborted) return;
      if (code === REVOKED)
        return options.log.warn("the local delegate's token is revoked: the local delegate stays off");
      // A refusal may pass: another work folder has its name until that one has been silent for a minute.
      const what = code === REFUSED ? "was refused" : "ended";
      options.log.warn({ code, pauseMs: pause }, `the local delegate ${what}; it is started again`);
      await rest(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  async function runOnce(): Promise<number | null | typeof REVOKED> {
    const pass = await options.pass();
    if (!pass) return REVOKED;
    // The end may have come while the database was asked.
    if (stopping.signal.aborted) return null;
    const { url, workDir, belongsTo, stepPath, knownHosts } = options;
    const args = [PROGRAM, "delegate", "--local", "--url", url, "--name", pass.name, "--work-dir", workDir];
    if (belongsTo !== undefined) args.push("--belongs-to", belongsTo);
    if (stepPath !== undefined) args.push("--step-path", stepPath);
    if (knownHosts !== undefined) args.push("--known-hosts", knownHosts);
    // None of the server's environment, which may hold keys and passwords.
    const env = {
      PATH: process.env["PATH"],
      LANG: process.env["LANG"],
      HOME: process.env["HOME"],
      TMPDIR: process.env["TMPDIR"],
    };
    const started = spawn(process.execPath, args, { stdio: ["pipe", "inherit", "pipe"], env });
    child = started;
    passOn(started.stderr, options.log);
    // It may end before it has read its token.
    started.stdin.on("error", () => undefined);
    started.stdin.write(`${pass.token}\n`);
    const [code] = (await once(started, "exit")) as [number | null];
    child = undefined;
    return code;
  }

  const running = keepRunning();
  return {
    pid: () => child?.pid,
    async stop() {
      stopping.abort();
      child?.stdin?.end();
      const late = setTimeout(() => child?.kill("SIGKILL"), STOP_MS);
      await running;
      clearTimeout(late);
    },
  };
}

type Line = { readonly level?: number; readonly msg?: string; readonly [field: string]: unknown };

/** The delegate's log becomes part of ours; what is no log line of its own, such as a crash, is passed on as text. */
function passOn(stderr: Readable, log: Log): void {
  createInterface({ input: stderr }).on("line", (text) => {
    const { level = 40, msg, pid: _pid, time: _time, hostname: _hostname, name: _name, ...fields } = lineOf(text);
    const method = level >= 50 ? "error" : level >= 40 ? "warn" : level >= 30 ? "info" : "debug";
    log[method]({ part: "local delegate", ...fields }, msg ?? text);
  });
}

function lineOf(text: string): Line {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return { msg: text };
  }
}

/**
 * Where the local delegate works. Started as root its steps run as another user,
 * who must not enter the data directory, so it lies outside of that.
 */
export function localDelegateDir({
  dataDir,
  delegateDir,
}: Pick<LocalDelegateConfig, "dataDir" | "delegateDir">): Pick<LocalDelegateOptions, "workDir" | "belongsTo"> {
  if (delegateDir) return { workDir: delegateDir, belongsTo: undefined };
  if (process.getuid?.() !== 0) return { workDir: join(dataDir, "delegate"), belongsTo: undefined };
  const name = createHash("sha256").update(dataDir).digest("hex").slice(0, 12);
  return { workDir: join("/var/lib/railhead-delegate", name), belongsTo: dataDir };
}
