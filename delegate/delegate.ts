/** Builds the parts of a delegate once, each after the parts that it needs. */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { HEARTBEAT_MS } from "../protocol/messages.ts";
import { PROTOCOL } from "../protocol/versions.ts";
import { type Availability, createAvailability } from "./availability.ts";
import { createMasking } from "./output/masking.ts";
import { textOf, startError } from "./fault.ts";
import { type Folders, createFolders } from "./task-folder/task-folders.ts";
import { removeUnusedFolders } from "./runtime-folder/unused-folders.ts";
import { createTerminationMethodOf, findIsolation } from "./isolation/isolation.ts";
import type { Log } from "./log.ts";
import { type Options, DEFAULT_MAX_STEP_OUTPUT } from "./options.ts";
import { createKnownHosts } from "./remote/known-hosts.ts";
import type { RuntimeFolder } from "./runtime-folder/runtime-folder.ts";
import { type OpenSession, openSession } from "./session/session.ts";
import { createDelegateLauncher, createDelegateLeftovers } from "./start/launcher.ts";
import { prepareSteps, type StepEnvironment } from "./start/step-environment.ts";
import { readOwnCluster } from "./kubernetes/own-cluster.ts";
import type { TasksDeps } from "./tasks/start-task.ts";
import { listKinds } from "./steps/table.ts";
import { createTasks, type Tasks } from "./tasks/tasks.ts";
import type { Timers } from "./timers.ts";
import { defaultWorkDir, journalsId, type WorkDir } from "./work-folder/work-dir.ts";
import { claimWorkFolder, type WorkFolder } from "./work-folder/claim.ts";
import { RUNTIME_PARENTS } from "./work-folder/runtime-path.ts";

export type Settings = Pick<
  Options,
  "socketUrl" | "name" | "tags" | "workDir" | "slots" | "stepUser" | "stepPath" | "belongsTo"
> & {
  /** File with the keys of hosts that steps may run on; undefined: the first key that a host shows is trusted. */
  readonly knownHosts?: string | undefined;
  readonly token: string;
  /** Steps may gain rights by set-user-id programs. */
  readonly mayGainPrivileges?: boolean;
  /** Bytes of output that are stored for each step. */
  readonly maxStepOutput?: number;
};

/** Dependencies that tests replace. Times in milliseconds. */
export type DelegateDeps = {
  readonly timers: Timers;
  readonly chance: () => number;
  readonly log: Log;
  /** From TERM to KILL when the server ends a task. */
  readonly graceMs: number;
  /** The same for processes that a step leaves behind; its result waits for their end. */
  readonly leftoverGraceMs: number;
  /** From a change of the output to its sending. */
  readonly flushMs: number;
  readonly pollMs: number;
  readonly heartbeatMs: number;
  /** The delegate's own access to a Kubernetes cluster; `readOwnCluster` outside of tests. */
  readonly ownCluster?: TasksDeps["ownCluster"];
};

/** The times in `DelegateDeps` outside of tests. */
export const defaultTimes = {
  graceMs: 5_000,
  leftoverGraceMs: 1_000,
  flushMs: 10,
  pollMs: 1_000,
  heartbeatMs: HEARTBEAT_MS,
} as const;

/** From KILL until a process counts as remaining. */
const DRAIN_MS = 2_000;

export type Delegate = {
  /** Resolves with the server's message when it refuses this delegate. */
  readonly refused: Promise<string>;
  /** Stops the delegate. Steps continue; the next delegate on the same work folder recovers them. */
  readonly stop: () => Promise<void>;
};

/** A delegate that starts, the work folder that it has claimed, and how steps run there. */
type Start = {
  readonly settings: Settings;
  readonly deps: DelegateDeps;
  readonly workFolder: WorkFolder;
  readonly environment: StepEnvironment;
};

/** @throws Fault when this machine, the work folder or the step user does not allow it */
export async function startDelegate(settings: Settings, deps: DelegateDeps): Promise<Delegate> {
  if (process.platform !== "linux")
    throw startError(
      `a delegate runs on Linux only: it follows and ends processes through /proc, which ${process.platform} lacks`,
    );
  const isRoot = process.getuid?.() === 0;
  const found = findIsolation(isRoot, settings.mayGainPrivileges === true);
  const path = settings.workDir ?? defaultWorkDir(settings.name, isRoot);
  const wanted = { path, stepUser: settings.stepUser, isNamed: found.unshare !== undefined };
  const workFolder = await claimWorkFolder(wanted, deps);
  try {
    const environment = prepareSteps({ settings, log: deps.log, isRoot, workFolder }, found);
    return startParts({ settings, deps, workFolder, environment });
  } catch (error) {
    await workFolder.release();
    throw error;
  }
}

function startParts(start: Start): Delegate {
  const { deps, workFolder, environment } = start;
  const { log, timers, pollMs } = deps;
  const { runtimeFolder } = environment;
  removeUnusedMemory(log);
  const folders = createClearedFolders(workFolder.workDir, log);
  let report = (): void => {};
  const availability = createAvailability({
    log,
    timers,
    folders: listNeededFolders(workFolder, runtimeFolder),
    restore: workFolder.restore,
    onChange: () => report(),
  });
  const launcher = createDelegateLauncher({ log, timers }, workFolder, environment);
  const leftovers = createDelegateLeftovers({ log, timers, everyMs: pollMs }, workFolder, launcher);
  const tasks = createDelegateTasks(start, { folders, availability, launcher, leftovers });
  tasks.recover();
  const refusal = Promise.withResolvers<string>();
  const session = openDelegateSession(start, { availability, tasks, refused: refusal.resolve });
  report = session.report;
  return {
    refused: refusal.promise,
    stop: async () => {
      session.close();
      availability.stop();
      for (const part of [tasks, launcher]) part.detach();
      leftovers.stop();
      runtimeFolder.close();
      await workFolder.release();
    },
  };
}

/** The folders without which no task can be taken. */
const listNeededFolders = ({ workDir, user }: WorkFolder, runtimeFolder: RuntimeFolder): readonly string[] => [
  workDir.path,
  runtimeFolder.path,
  ...(user.fullFolder === undefined ? [] : [user.fullFolder]),
];

type TaskParts = Pick<TasksDeps, "folders" | "availability" | "launcher" | "leftovers">;

function createDelegateTasks(
  { settings, deps, workFolder, environment }: Start,
  { folders, availability, launcher, leftovers }: TaskParts,
): Tasks {
  const { runtimeFolder, searchPath, tools, bootId, isolation } = environment;
  const { log } = deps;
  return createTasks({
    leftovers,
    log,
    launcher,
    terminationMethodOf: createTerminationMethodOf(isolation),
    mayGainPrivileges: isolation.mayGainPrivileges,
    namespaces: isolation.namespaces,
    sessions: new Set(),
    folders,
    user: workFolder.user,
    tools,
    bootId,
    searchPath,
    maxStepOutput: settings.maxStepOutput ?? DEFAULT_MAX_STEP_OUTPUT,
    runtimeFolder,
    masking: createMasking(),
    availability,
    ownCluster: deps.ownCluster ?? (() => readOwnCluster()),
    knownHosts: createKnownHosts(settings.knownHosts, join(workFolder.workDir.path, "known_hosts"), log),
    ...taskTimes(deps),
  });
}

type SessionParts = {
  readonly availability: Availability;
  readonly tasks: Tasks;
  readonly refused: (message: string) => void;
};

function openDelegateSession(
  { settings, deps, workFolder, environment }: Start,
  { availability, tasks, refused }: SessionParts,
): OpenSession {
  const bootId = journalsId(environment.bootId, workFolder.workDir);
  return openSession({
    url: settings.socketUrl,
    token: settings.token,
    timers: deps.timers,
    chance: deps.chance,
    log: deps.log,
    heartbeatMs: deps.heartbeatMs,
    hello: () => ({
      kind: "hello",
      protocol: PROTOCOL,
      kinds: listKinds(),
      identity: workFolder.identity,
      name: settings.name,
      tags: [...settings.tags],
      host: hostname().slice(0, 255),
      version: readVersion(),
      bootId,
      slots: settings.slots,
      holds: [...tasks.listLeases()],
      unavailable: availability.check(),
    }),
    unavailable: availability.check,
    handleMessage: tasks.handleMessage,
    onDisconnected: tasks.disconnect,
    refused,
  });
}

const taskTimes = ({ timers, flushMs, pollMs, graceMs, leftoverGraceMs }: DelegateDeps) => ({
  intervals: { timers, flushMs, pollMs },
  timeouts: { timers, graceMs, drainMs: DRAIN_MS },
  leftoverTimeouts: { timers, graceMs: leftoverGraceMs, drainMs: DRAIN_MS },
});

/** Removes unused folders in memory. */
function removeUnusedMemory(log: Log): void {
  removeUnusedFolders(log, RUNTIME_PARENTS).catch((error: unknown) =>
    log.warn({ error: textOf(error) }, "the search for unused folders in memory failed"),
  );
}

function createClearedFolders(workDir: WorkDir, log: Log): Folders {
  const folders = createFolders(workDir);
  folders.clear().catch((error: unknown) => log.warn({ error: textOf(error) }, "unused folders could not be removed"));
  return folders;
}

function readVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  const parsed: unknown = JSON.parse(text);
  const found = typeof parsed === "object" && parsed !== null && "version" in parsed ? parsed.version : undefined;
  return typeof found === "string" ? found.slice(0, 64) : "unknown";
}
