/** Builds the parts of a delegate, once, low to high. */
import { mkdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { HEARTBEAT_MS, PROTOCOL_VERSION } from "../protocol/messages.ts";
import { createAvailability } from "./availability.ts";
import { createMasking } from "./output/masking.ts";
import { textOf, startError } from "./fault.ts";
import { type Folders, createFolders } from "./task-folder/task-folders.ts";
import { removeUnusedFolders } from "./runtime-folder/unused-folders.ts";
import {
  createTerminationMethodOf,
  findIsolation,
  type Isolation,
  launcherCommand,
  logIsolation,
  withNamespaces,
} from "./isolation/isolation.ts";
import { mayHaveSessionKeyring } from "./leftovers/keyrings.ts";
import { type Leftovers, createLeftovers } from "./leftovers/leftovers.ts";
import { type Launcher, createLauncher } from "./launcher/client.ts";
import type { Log } from "./log.ts";
import { type Options, DEFAULT_MAX_STEP_OUTPUT } from "./options.ts";
import { createKnownHosts } from "./remote/known-hosts.ts";
import { recordOwner } from "./work-folder/orphaned-folders.ts";
import { bootId } from "./processes/processes.ts";
import { hasQueues, publicFolders } from "./leftovers/public-folders.ts";
import { checkStepAccess } from "./isolation/check-access.ts";
import type { UserDatabase } from "./isolation/user-database.ts";
import { findTools, defaultSearchPath, type Tools } from "./tasks/step-command.ts";
import { openRuntimeFolder, type RuntimeFolder } from "./runtime-folder/runtime-folder.ts";
import { openSession } from "./session/session.ts";
import type { StepUser } from "./isolation/step-user.ts";
import { createTasks } from "./tasks/tasks.ts";
import type { Timers } from "./timers.ts";
import { defaultWorkDir, type WorkDir } from "./work-folder/work-dir.ts";
import { claimWorkFolder } from "./work-folder/claim.ts";
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

/** Folder of the work folder. */
const QUEUES = "queues";

export type Delegate = {
  /** Resolves with the server's message when it refuses this delegate. */
  readonly refused: Promise<string>;
  /** Stops the delegate. Steps continue; the next delegate on the same work folder recovers them. */
  readonly stop: () => Promise<void>;
};

/** @throws Fault when this machine, the work folder or the step user does not allow it */
export async function startDelegate(settings: Settings, deps: DelegateDeps): Promise<Delegate> {
  if (process.platform !== "linux")
    throw startError(
      `a delegate runs on Linux only: it follows and ends processes through /proc, which ${process.platform} lacks`,
    );
  const { log, timers, chance } = deps;
  const isRoot = process.getuid?.() === 0;
  const found = findIsolation(isRoot, settings.mayGainPrivileges === true);
  const path = settings.workDir ?? defaultWorkDir(settings.name, isRoot);
  const wanted = { path, stepUser: settings.stepUser, isNamed: found.unshare !== undefined };
  const { workDir, identity, secrets, restore, user, release } = await claimWorkFolder(wanted, deps);
  try {
    const runtimeFolder = openRuntimeFolder(secrets.path, secrets.earlier);
    const stepPath = settings.stepPath ?? defaultSearchPath(process.env["PATH"], isRoot);
    const tools = findTools(`${stepPath}:${process.env["PATH"] ?? ""}`);
    checkStepAccess(workDir, user, tools.bash, log);
    const boot = bootId();
    logStepUser(log, user, isRoot);
    logStart(log, settings, workDir);
    if (settings.belongsTo !== undefined) recordOwner(workDir, settings.belongsTo, log);
    const hiddenFolders = [settings.belongsTo, workDir.path, runtimeFolder.path].filter((path) => path !== undefined);
    const isolation = withNamespaces(found, user, hiddenFolders);
    logIsolation(log, isolation, user);
    removeUnusedMemory(log);
    const folders = createClearedFolders(workDir, log);
    const sessionReport = { report: (): void => {} };
    const availability = createAvailability({
      log,
      timers,
      folders: [workDir.path, runtimeFolder.path, ...(user.fullFolder === undefined ? [] : [user.fullFolder])],
      restore,
      onChange: () => sessionReport.report(),
    });
    const launcher = createDelegateLauncher(deps, { isolation, user, tools, runtimeFolder, workDir });
    const leftovers = createDelegateLeftovers(deps, launcher, user, workDir);
    const tasks = createTasks({
      leftovers,
      log,
      launcher,
      terminationMethodOf: createTerminationMethodOf(isolation),
      mayGainPrivileges: isolation.mayGainPrivileges,
      namespaces: isolation.namespaces,
      sessions: new Set(),
      folders,
      user,
      tools,
      bootId: boot,
      searchPath: stepPath,
      maxStepOutput: settings.maxStepOutput ?? DEFAULT_MAX_STEP_OUTPUT,
      runtimeFolder,
      masking: createMasking(),
      availability,
      knownHosts: createKnownHosts(settings.knownHosts, join(workDir.path, "known_hosts"), log),
      ...taskTimes(deps),
    });
    tasks.recover();
    const refusal = Promise.withResolvers<string>();
    const session = openSession({
      url: settings.socketUrl,
      token: settings.token,
      timers,
      chance,
      log,
      heartbeatMs: deps.heartbeatMs,
      hello: () => ({
        kind: "hello",
        protocol: PROTOCOL_VERSION,
        identity,
        name: settings.name,
        tags: [...settings.tags],
        host: hostname().slice(0, 255),
        version: readVersion(),
        bootId: boot,
        slots: settings.slots,
        holds: [...tasks.listLeases()],
        unavailable: availability.check(),
      }),
      unavailable: availability.check,
      handleMessage: tasks.handleMessage,
      onDisconnected: tasks.disconnect,
      refused: refusal.resolve,
    });
    sessionReport.report = session.report;
    return {
      refused: refusal.promise,
      stop: async () => {
        session.close();
        availability.stop();
        for (const part of [tasks, launcher]) part.detach();
        leftovers.stop();
        runtimeFolder.close();
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

const logStart = (log: Log, { tags, slots }: Settings, { path }: WorkDir): void =>
  log.info({ workDir: path, tags, slots }, "delegate starts");

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

type LauncherParts = {
  readonly isolation: Isolation;
  readonly user: StepUser;
  readonly tools: Tools;
  readonly runtimeFolder: RuntimeFolder;
  readonly workDir: WorkDir;
};

function createDelegateLauncher(
  { log, timers }: DelegateDeps,
  { isolation, user, tools, runtimeFolder, workDir }: LauncherParts,
): Launcher {
  const database = (): UserDatabase | undefined => {
    const { names } = user;
    return (
      names && {
        folder: join(workDir.path, "users"),
        sources: ["/etc/passwd", "/etc/group"],
        users: () => Array.from(names, ([id, name]) => ({ id, name, home: runtimeFolder.homeOf(id) })),
        shell: tools.bash,
      }
    );
  };
  return createLauncher({
    log,
    timers,
    command: launcherCommand(isolation, user, database, () => createQueueFolder(workDir, user)),
    folder: runtimeFolder.path,
    mkfifo: tools.mkfifo,
  });
}

/** A folder for launchers to show POSIX message queues in; undefined where they are shown, or nothing can be mounted. */
function createQueueFolder(workDir: WorkDir, user: StepUser): string | undefined {
  if (hasQueues() || !user.names) return undefined;
  const path = join(workDir.path, QUEUES);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
}

function createDelegateLeftovers(
  around: DelegateDeps,
  launcher: Launcher,
  user: StepUser,
  workDir: WorkDir,
): Leftovers {
  const { log, timers, pollMs } = around;
  const shared = publicFolders();
  const folders = (): readonly string[] => {
    const root = launcher.root();
    return root === undefined ? shared : [...shared, join(root, workDir.path, QUEUES)];
  };
  return createLeftovers({ log, timers, everyMs: pollMs, user, folders });
}

function logKeyring(log: Log, isRoot: boolean): void {
  if (isRoot && mayHaveSessionKeyring())
    log.warn(
      "the delegate may have a session keyring, which all steps would share; start it with KeyringMode=inherit, or outside of a login session",
    );
}

function logStepUser(log: Log, user: StepUser, isRoot: boolean): void {
  logKeyring(log, isRoot);
  switch (user.separation) {
    case "delegate": {
      const more = isRoot ? "root, and can do anything here" : "the delegate's own user, and can read its files";
      return log.warn({ user: user.name }, `steps run as ${more}`);
    }
    case "own users":
      return log.info("each task runs as a user of its own");
    case "own groups":
      return log.warn(
        { user: user.name },
        "steps run as one user, each task in a group of its own: they can end each other's processes, but not read each other's files",
      );
    case "nothing own":
      return log.warn(
        { user: user.name },
        "steps run as one user and can end and read each other's processes: this machine does not allow free user ids",
      );
  }
}

function readVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  const parsed: unknown = JSON.parse(text);
  const found = typeof parsed === "object" && parsed !== null && "version" in parsed ? parsed.version : undefined;
  return typeof found === "string" ? found.slice(0, 64) : "unknown";
}
