/**
 * The local delegate: a child process for trial use. It ends when the pipe to its standard input closes, so also when
 * the server is killed. Its steps continue, and the next local delegate finds them in its work folder.
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
/** Exit code of the delegate after a refusal by the server. */
const REFUSED = 3;
/** Result when no token exists to start the delegate with. */
const REVOKED = "revoked";

export type LocalDelegate = { readonly stop: () => Promise<void>; readonly pid: () => number | undefined };

export type LocalDelegateConfig = {
  /** The address of the server. */
  readonly url: string;
  readonly accountId: Uuid;
  readonly dataDir: string;
  readonly delegateDir: string | undefined;
  /** PATH of the steps; undefined lets the delegate choose. */
  readonly stepPath: string | undefined;
  /** The file with host keys for steps on remote hosts; undefined trusts the first key that a host presents. */
  readonly knownHosts: string | undefined;
};

export type LocalDelegateOptions = {
  readonly url: string;
  readonly workDir: string;
  /** A work folder elsewhere is removed some time after this folder is removed. */
  readonly belongsTo: string | undefined;
  readonly stepPath: string | undefined;
  readonly knownHosts: string | undefined;
  /** Called at each start of the program; undefined if an operator has revoked the local delegate. */
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
      // A refusal may be temporary: another work folder keeps its name until it has been silent for a minute.
      const what = code === REFUSED ? "was refused" : "ended";
      options.log.warn({ code, pauseMs: pause }, `the local delegate ${what}; it is started again`);
      await rest(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  async function runOnce(): Promise<number | null | typeof REVOKED> {
    const pass = await options.pass();
    if (!pass) return REVOKED;
    // `stop` may have been called during the query.
    if (stopping.signal.aborted) return null;
    const { url, workDir, belongsTo, stepPath, knownHosts } = options;
    const args = [PROGRAM, "delegate", "--local", "--url", url, "--name", pass.name, "--work-dir", workDir];
    if (belongsTo !== undefined) args.push("--belongs-to", belongsTo);
    if (stepPath !== undefined) args.push("--step-path", stepPath);
    if (knownHosts !== undefined) args.push("--known-hosts", knownHosts);
    // Without the server's environment, which may contain keys and passwords.
    const env = {
      PATH: process.env["PATH"],
      LANG: process.env["LANG"],
      HOME: process.env["HOME"],
      TMPDIR: process.env["TMPDIR"],
    };
    const started = spawn(process.execPath, args, { stdio: ["pipe", "inherit", "pipe"], env });
    child = started;
    passOn(started.stderr, options.log);
    // The program may exit before it has read its token.
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

/** Forwards the delegate's log to the server's log. Other output, such as a crash, is forwarded as text. */
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
 * The work folder of the local delegate. As root, steps run as another user, which must not enter the data directory,
 * so it is outside of it.
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
