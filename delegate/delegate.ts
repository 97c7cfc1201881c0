/** Builds the parts of a delegate, once, low to high. */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { HEARTBEAT_MS, PROTOCOL_VERSION } from "../protocol/messages.ts";
import { makeMasking } from "./conceal.ts";
import { textOf, unable } from "./fault.ts";
import { makeFolders } from "./folders.ts";
import { lockWorkDir } from "./lock.ts";
import type { Log } from "./log.ts";
import type { Options } from "./options.ts";
import { makeKnownHosts } from "./remote/known-hosts.ts";
import { noteOwner, removeOrphans } from "./orphans.ts";
import { bootId } from "./processes.ts";
import { checkReach } from "./reach.ts";
import { findTools, searchPath } from "./run.ts";
import { openSafe } from "./safe.ts";
import { openSession } from "./session.ts";
import { REGISTRY } from "./step-ids.ts";
import { type StepUser, stepUser } from "./step-user.ts";
import { makeTasks } from "./tasks.ts";
import type { Timers } from "./timers.ts";
import { defaultWorkDir, identityOf, prepareWorkDir } from "./work-dir.ts";

export type Settings = Pick<
  Options,
  "socketUrl" | "name" | "tags" | "workDir" | "slots" | "stepUser" | "stepPath" | "belongsTo"
> & {
  /** Hosts that steps may run on; undefined: whoever is met first is believed. */
  readonly knownHosts?: string | undefined;
  readonly token: string;
};

/** Everything that tests choose. Times in milliseconds. */
export type Surroundings = {
  readonly timers: Timers;
  readonly chance: () => number;
  readonly log: Log;
  /** From TERM to KILL when the server ends a task. */
  readonly graceMs: number;
  /** The same for what a step leaves behind: its result waits for that. */
  readonly leftoverGraceMs: number;
  /** From a change of the output to its sending. */
  readonly flushMs: number;
  readonly pollMs: number;
  readonly heartbeatMs: number;
};

export const usualTimes = {
  graceMs: 5_000,
  leftoverGraceMs: 1_000,
  flushMs: 10,
  pollMs: 1_000,
  heartbeatMs: HEARTBEAT_MS,
} as const;

/** From KILL until we give up waiting for a process to go. */
const DRAIN_MS = 2_000;

export type Delegate = {
  /** Settles with the server's words when it refuses this delegate. */
  readonly refused: Promise<string>;
  /** Takes nothing more. Steps go on; the next delegate on the same work folder takes them up. */
  readonly stop: () => Promise<void>;
};

/** @throws Fault when this machine, the work folder or the step user does not allow it */
export async function startDelegate(settings: Settings, around: Surroundings): Promise<Delegate> {
  if (process.platform !== "linux")
    throw unable(
      `a delegate runs on Linux only: it follows and ends processes through /proc, which ${process.platform} lacks`,
    );
  const { log, timers, chance } = around;
  const isRoot = process.getuid?.() === 0;
  const workDir = prepareWorkDir(settings.workDir ?? defaultWorkDir(settings.name, isRoot), isRoot);
  const identity = identityOf(workDir);
  const release = await lockWorkDir(identity, workDir.path);
  try {
    const user = stepUser(settings.stepUser, { registry: REGISTRY, workDir: workDir.path, identity, chance });
    const stepPath = settings.stepPath ?? searchPath(process.env["PATH"], isRoot);
    const tools = findTools(`${stepPath}:${process.env["PATH"] ?? ""}`);
    checkReach(workDir, user, tools.bash);
    const boot = bootId();
    tellUser(log, user, isRoot);
    log.info({ workDir: workDir.path, tags: settings.tags, slots: settings.slots }, "delegate starts");
    if (settings.belongsTo !== undefined) {
      noteOwner(workDir, settings.belongsTo);
      removeOrphans(workDir, log).catch((error: unknown) =>
        log.warn({ error: textOf(error) }, "work folders without an owner could not be looked for"),
      );
    }
    const safe = openSafe(workDir, identity, isRoot);
    if (!safe.inMemory)
      log.warn(
        { folder: safe.path },
        "this machine has no file system in memory; secrets of running steps lie on a disk",
      );
    const folders = makeFolders(workDir);
    folders
      .clear()
      .catch((error: unknown) => log.warn({ error: textOf(error) }, "unused folders could not be removed"));
    const tasks = makeTasks({
      log,
      sessions: new Set(),
      folders,
      user,
      tools,
      bootId: boot,
      searchPath: stepPath,
      safe,
      masking: makeMasking(),
      knownHosts: makeKnownHosts(settings.knownHosts, join(workDir.path, "known_hosts"), log),
      rhythm: { timers, flushMs: around.flushMs, pollMs: around.pollMs },
      patience: { timers, graceMs: around.graceMs, drainMs: DRAIN_MS },
      leftoverPatience: { timers, graceMs: around.leftoverGraceMs, drainMs: DRAIN_MS },
    });
    tasks.recover();
    const refusal = Promise.withResolvers<string>();
    const close = openSession({
      url: settings.socketUrl,
      token: settings.token,
      timers,
      chance,
      log,
      heartbeatMs: around.heartbeatMs,
      hello: () => ({
        kind: "hello",
        protocol: PROTOCOL_VERSION,
        identity,
        name: settings.name,
        tags: [...settings.tags],
        host: hostname().slice(0, 255),
        version: version(),
        bootId: boot,
        slots: settings.slots,
        holds: [...tasks.holds()],
      }),
      take: tasks.take,
      disconnected: tasks.disconnect,
      refused: refusal.resolve,
    });
    return {
      refused: refusal.promise,
      stop: async () => {
        close();
        tasks.leave();
        safe.close();
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

function tellUser(log: Log, user: StepUser, isRoot: boolean): void {
  switch (user.apart) {
    case "delegate": {
      const more = isRoot ? "root, and can do anything here" : "the delegate's own user, and can read its files";
      return log.warn({ user: user.name }, `steps run as ${more}`);
    }
    case "own users":
      return log.info("steps run as users without a name, each task as one of its own");
    case "own groups":
      return log.warn(
        { user: user.name },
        "steps run as one user, each task in a group of its own: they can end one another, but not read one another's work",
      );
    case "nothing own":
      return log.warn(
        { user: user.name },
        "steps run as one user and may end and read one another: ids cannot be chosen freely here",
      );
  }
}

function version(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  const parsed: unknown = JSON.parse(text);
  const found = typeof parsed === "object" && parsed !== null && "version" in parsed ? parsed.version : undefined;
  return typeof found === "string" ? found.slice(0, 64) : "unknown";
}
