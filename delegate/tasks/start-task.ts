/** Starts a script: creates its folders, files and secrets, and sends the order to the launcher. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ShellTask } from "../../protocol/work/shell.ts";
import type { Availability } from "../availability.ts";
import type { ConnectionTaskDeps } from "./connection-task.ts";
import { codeOf, isFull, UnusableInputError, textOf } from "../fault.ts";
import { type Folders, keyOf } from "../task-folder/task-folders.ts";
import type { Meta } from "../task-folder/journal.ts";
import type { TerminationMethod } from "../processes/terminate.ts";
import type { Leftovers } from "../leftovers/leftovers.ts";
import type { Launcher } from "../launcher/client/client.ts";
import type { StepOrder } from "../launcher/messages.ts";
import { unstartedRunner } from "../launcher/client/recorded.ts";
import { withStepNamespaces, type Namespaces } from "../isolation/namespaces.ts";
import { createKubeconfig } from "../kubernetes/kubeconfig.ts";
import { FEEDER } from "../remote/script.ts";
import { prepareRemote } from "../remote/prepare.ts";
import {
  findSsh,
  createStepOrder,
  type Program,
  findUnusableInput,
  createScriptProgram,
  type Tools,
  withKubeconfig,
  withSecretVariables,
} from "./step-command.ts";
import type { RuntimeFolder } from "../runtime-folder/runtime-folder.ts";
import type { StepSecrets } from "../runtime-folder/task-files.ts";
import type { Lease } from "../output/shipper.ts";
import { nameOf, type StepOwner, type StepUser } from "../isolation/step-user.ts";
import { removeTaskFolders } from "./remove-task.ts";
import { createReturnedTask } from "./returned-task.ts";
import { type LeasedTask, createTask, type TaskDeps } from "./task.ts";
import { paths } from "../task-folder/paths.ts";

export type TasksDeps = TaskDeps & {
  readonly folders: Folders;
  readonly user: StepUser;
  readonly tools: Tools;
  readonly bootId: string;
  readonly searchPath: string;
  /** Bytes of output that are stored for each step. */
  readonly maxStepOutput: number;
  readonly runtimeFolder: RuntimeFolder;
  readonly launcher: Launcher;
  /** How the processes of a task with this owner are terminated. */
  readonly terminationMethodOf: (owner: StepOwner | undefined) => TerminationMethod;
  readonly mayGainPrivileges: boolean;
  readonly namespaces: Namespaces | undefined;
  readonly leftovers: Pick<Leftovers, "retry" | "releaseUser">;
  readonly availability: Availability;
  readonly ownCluster: ConnectionTaskDeps["ownCluster"];
};

export const ALREADY_STARTED = "This delegate has started this task before; it is not started again.";
const NO_SSH =
  "The delegate's machine has no program 'ssh' in the steps' search path, which running a step on another host needs; install it, as with the package openssh-client.";

/** Starts a script, or returns why it did not start. */
export function startShell(deps: TasksDeps, lease: Lease, work: ShellTask): LeasedTask | string {
  const full = work.secrets && deps.runtimeFolder.receiveError(lease);
  if (isFull(full)) return returnTask(deps, lease, full);
  const missing = work.secrets && deps.runtimeFolder.findMissing(lease, work.secrets.uses);
  const noSsh = work.target && findSsh(deps.searchPath) === undefined ? NO_SSH : undefined;
  return findUnusableInput(work) ?? missing ?? noSsh ?? startWithUser(deps, lease, work);
}

/** Starts the task, or returns why it did not start. */
function startWithUser(deps: TasksDeps, lease: Lease, work: ShellTask): LeasedTask | string {
  let owner: StepOwner | undefined;
  try {
    owner = deps.user.allocate(work.target ? "ssh" : "script");
  } catch (error) {
    return returnTask(deps, lease, error);
  }
  return startAs(deps, { lease, work, owner });
}

/** A task to start as a user. */
type Start = { readonly lease: Lease; readonly work: ShellTask; readonly owner: StepOwner | undefined };

function createMeta(
  deps: TasksDeps,
  { lease, work, owner }: Start,
  received: Pick<Meta, "receivedAt" | "receivedElapsed">,
): Meta {
  return {
    ...lease,
    cookie: randomBytes(24).toString("base64url"),
    ...received,
    bootId: deps.bootId,
    owner: deps.user.separation === "nothing own" ? null : (owner ?? null),
    ending: deps.terminationMethodOf(owner),
    ...(deps.mayGainPrivileges ? { mayGainPrivileges: true } : {}),
    outputs: work.outputs,
    ...(work.secrets || work.kubernetes ? { secrets: true } : {}),
    ...(work.target ? { remote: { host: work.target.host, port: work.target.port } } : {}),
  };
}

/** When the task started on this machine. `startedElapsed` is undefined after a restart of the machine. */
export function startTimesOf(
  meta: Meta | undefined,
  { bootId, intervals: { timers } }: TasksDeps,
): { readonly startedAt: number; readonly startedElapsed: number | undefined } {
  return {
    startedAt: meta?.receivedAt ?? timers.now(),
    startedElapsed: meta?.bootId === bootId ? meta.receivedElapsed : undefined,
  };
}

/** Returns a task whose preparation failed: another delegate may run it, or this one later. */
export function returnTask(deps: TasksDeps, lease: Lease, error: unknown): LeasedTask {
  deps.availability.reportFailure(error);
  return createReturnedTask(lease, `The delegate could not prepare the task: ${textOf(error)}`);
}

function startAs(deps: TasksDeps, start: Start): LeasedTask | string {
  const { lease, work, owner } = start;
  const { user } = deps;
  const { timers } = deps.intervals;
  const received = { receivedAt: timers.now(), receivedElapsed: timers.elapsed() };
  const meta = createMeta(deps, start, received);
  let folder: string;
  try {
    folder = deps.folders.create(meta, owner);
  } catch (error) {
    deps.log.error({ ...lease, error: textOf(error) }, "a task could not be prepared");
    if (owner) user.release(owner);
    const before = ["EEXIST", "ENOTEMPTY"].includes(codeOf(error) ?? "");
    return before ? ALREADY_STARTED : returnTask(deps, lease, error);
  }
  const record = { lease, folder, meta, ...startTimesOf(meta, deps), begunAt: timers.elapsed() };
  let stepSecrets: InstalledSecrets | undefined;
  try {
    stepSecrets = writeTaskFiles(deps, start, folder);
    const unmaskable = stepSecrets && deps.masking.findRefusal(stepSecrets.masks);
    if (unmaskable) {
      stepSecrets = undefined;
      throw new UnusableInputError(unmaskable.message);
    }
    const order = createStepOrder({
      key: keyOf(lease),
      tools: deps.tools,
      folder,
      cookie: meta.cookie,
      owner,
      userName: nameOf(user, owner),
      searchPath: deps.searchPath,
      maxStepOutput: deps.maxStepOutput,
      endsUser: meta.ending === "user" && !deps.mayGainPrivileges,
      program: createProgram(deps, { lease, work, owner, folder, cookie: meta.cookie }, stepSecrets),
    });
    const task = createTask(deps, {
      ...record,
      runner: deps.launcher.run(applyNamespaces(deps, lease, order)),
      masks: stepSecrets?.masks ?? "none",
    });
    task.follow();
    return task;
  } catch (error) {
    deps.log.error({ ...lease, error: textOf(error) }, "a task could not be started");
    if (isFull(error)) {
      // This releases the user, too, once its home link is gone.
      removeTaskFolders(deps, { lease, folder, owner, isClean: () => true });
      return returnTask(deps, lease, error);
    }
    // The folder stays until the server has acknowledged the end: it prevents a second start of the task.
    const task = createTask(deps, { ...record, runner: unstartedRunner, masks: stepSecrets?.masks ?? "none" });
    if (error instanceof UnusableInputError) void task.collect(error.message, "refused");
    else void task.collect(`The delegate could not start the script: ${textOf(error)}`);
    return task;
  }
}

/**
 * Writes the script and the secrets into the runtime folder. @throws the system's error; UnusableInputError for
 * unusable credentials of a cluster
 */
function writeTaskFiles(
  { runtimeFolder, user, ownCluster }: TasksDeps,
  { lease, work, owner }: Start,
  folder: string,
): InstalledSecrets | undefined {
  const { target, outputs } = work;
  const script = target ? FEEDER : work.script;
  runtimeFolder.prepare(lease, { owner, script, hasOutputs: outputs.length > 0 || target !== undefined });
  if (owner && user.names?.has(owner.uid)) runtimeFolder.linkHome(owner.uid, paths(folder).work);
  return installSecrets({ runtimeFolder, ownCluster }, { lease, work, owner });
}

/** `kubeconfig`: the path of its file. */
type InstalledSecrets = StepSecrets & { readonly kubeconfig: string | undefined };

function installSecrets(
  { runtimeFolder, ownCluster }: Pick<TasksDeps, "runtimeFolder" | "ownCluster">,
  { lease, work, owner }: Start,
): InstalledSecrets | undefined {
  const { secrets, kubernetes } = work;
  if (!secrets && !kubernetes) return undefined;
  const uses = secrets?.uses ?? [];
  const secret = (nth: number) => ({
    label: uses[nth]?.label ?? "",
    value: runtimeFolder.valueOf(lease, nth).toString(),
  });
  const config = kubernetes && createKubeconfig(kubernetes, { secret, ownCluster });
  const installed = runtimeFolder.installSecrets(lease, { uses, masks: config?.masks ?? [] }, owner);
  const file = config && { name: "kubeconfig", text: config.text, mode: 0o600 };
  return { ...installed, kubeconfig: file && runtimeFolder.writeSecretFile(lease, owner, file) };
}

/** A task whose folders and files are there. */
type PreparedTask = Start & { readonly folder: string; readonly cookie: string };

/** Adds name spaces to the order where steps have no users of their own. */
function applyNamespaces({ namespaces, runtimeFolder, tools }: TasksDeps, lease: Lease, order: StepOrder): StepOrder {
  if (!namespaces) return order;
  const files = runtimeFolder.pathOfTask(lease);
  const { outputs } = runtimeFolder.filesOf(lease);
  const ids = order.ids ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const parts = {
    folder: order.folder,
    files,
    outputs: existsSync(outputs) ? outputs : undefined,
    table: join(files, "mounts"),
  };
  return withStepNamespaces(order, { namespaces, bash: tools.bash, parts, ids });
}

/** @throws the system's error, and the errors of `withSecretVariables` */
function createProgram(deps: TasksDeps, task: PreparedTask, secrets: InstalledSecrets | undefined): Program {
  const { tools, runtimeFolder, searchPath, knownHosts } = deps;
  const { lease, owner, folder, cookie } = task;
  const { secretValues = [], kubeconfig } = secrets ?? {};
  const work = withSecretVariables(withKubeconfig(task.work, kubeconfig), secretValues);
  const files = runtimeFolder.filesOf(lease);
  const { target } = task.work;
  if (!target) return createScriptProgram(tools, files, work);
  const ssh = findSsh(searchPath);
  if (ssh === undefined) throw new Error(NO_SSH);
  const writeSecretFile = (name: string, text: string): string =>
    runtimeFolder.writeSecretFile(lease, owner, { name, text });
  const step = { folder, files, owner, cookie, work: { ...work, target }, secretValues, writeSecretFile };
  return prepareRemote(step, { ssh, tools, knownHosts });
}
