/** The tasks leased to this delegate, and the handling of the server's messages about them. */
import { statSync } from "node:fs";
import type { ToDelegate, ToServer, Work } from "../../protocol/messages.ts";
import { recoverInProcessTask } from "./in-process-task.ts";
import { examineJournal } from "./recovery.ts";
import { ALREADY_STARTED, startTimesOf, type TasksDeps } from "./start-task.ts";
import { kindOf } from "../steps/table.ts";
import { textOf } from "../fault.ts";
import { type FoundTask, keyOf } from "../task-folder/task-folders.ts";
import { claimBack, type Journal, readJournal } from "../task-folder/journal.ts";
import { createRecordedRunner, unstartedRunner } from "../launcher/client/recorded.ts";
import { removeTaskFolders } from "./remove-task.ts";
import { createReturnedTask } from "./returned-task.ts";
import type { Lease, Link } from "../output/shipper.ts";
import { type LeasedTask, createTask } from "./task.ts";
import { paths } from "../task-folder/paths.ts";

/** Messages about tasks; the session itself handles `refused`. */
export type TaskMessage = Exclude<ToDelegate, { kind: "refused" }>;

type MessageOfTask = Exclude<TaskMessage, { kind: "welcome" }>;
type FinishedMessage = Extract<ToServer, { kind: "finished" }>;
type RunMessage = Extract<TaskMessage, { kind: "run" }>;

export type Tasks = {
  /** Leases of all tasks, for `hello`. */
  readonly listLeases: () => readonly Lease[];
  /** Recovers the tasks of an earlier delegate from the work folder. */
  readonly recover: () => void;
  /** Handles the message. Returns why the message is illegal, otherwise undefined. */
  readonly handleMessage: (message: TaskMessage, link: Link) => string | undefined;
  /** The connection is closed; the tasks continue. */
  readonly disconnect: () => void;
  /** The delegate ends; the tasks do not. */
  readonly detach: () => void;
};

const MAX_REPORTED_LEASES = 4096;
/** Past leases that are remembered: a repeated `run` of one of them starts nothing. */
const MAX_PAST_LEASES = 10_000;

/** The tasks of a delegate, by `keyOf` of their leases. */
type TasksState = {
  readonly deps: TasksDeps;
  readonly tasks: Map<string, LeasedTask>;
  readonly pastLeases: Set<string>;
};

/** Begins without tasks; `recover` is called once before the first connection. */
export function createTasks(deps: TasksDeps): Tasks {
  const tasks = new Map<string, LeasedTask>();
  const state: TasksState = { deps, tasks, pastLeases: new Set() };
  return {
    listLeases: () => [...tasks.values()].slice(0, MAX_REPORTED_LEASES).map(({ lease }) => lease),
    recover: () => {
      for (const found of deps.folders.scan()) tasks.set(keyOf(found), tryRecoverTask(deps, found));
      removeOtherFiles(deps, tasks);
      if (tasks.size > 0) deps.log.info({ tasks: tasks.size }, "recovered the tasks of an earlier delegate");
    },
    handleMessage: (message, link) => {
      if (message.kind === "welcome") return handleWelcome(state, message, link);
      return forTaskAlone(deps, leaseOf(message), () => handleTaskMessage(state, message, link));
    },
    disconnect: () => {
      deps.runtimeFolder.discardAll();
      for (const task of tasks.values()) task.disconnect();
    },
    detach: () => {
      for (const task of tasks.values()) task.detach();
    },
  };
}

/** Nothing else of the message, which may hold a secret: leases are logged. */
const leaseOf = ({ task, epoch }: Lease): Lease => ({ task, epoch });

function handleWelcome(
  state: TasksState,
  message: Extract<TaskMessage, { kind: "welcome" }>,
  link: Link,
): string | undefined {
  const { deps, tasks } = state;
  const named = new Set([...message.keep, ...message.drop].map(keyOf));
  const unnamed = [...tasks.keys()].slice(0, MAX_REPORTED_LEASES).find((key) => !named.has(key));
  if (unnamed !== undefined) return `welcome says nothing of the held task ${unnamed}`;
  for (const { offset, ...lease } of message.keep)
    forTaskAlone(deps, lease, () => tasks.get(keyOf(lease))?.connect(link, offset));
  for (const lease of message.drop) forTaskAlone(deps, lease, () => dropTask(state, lease));
  return undefined;
}

function handleTaskMessage(state: TasksState, message: MessageOfTask, link: Link): string | undefined {
  const lease = leaseOf(message);
  const task = state.tasks.get(keyOf(lease));
  switch (message.kind) {
    case "run":
      handleRun(state, message, link);
      return undefined;
    case "secret":
      if (!task && !state.pastLeases.has(keyOf(lease))) state.deps.runtimeFolder.receive(message);
      return undefined;
    case "cancel":
      if (task) void task.cancel();
      else rejectRun(state, lease, link);
      return undefined;
    case "drop":
      dropTask(state, lease);
      return undefined;
    case "logAck":
      return task?.acknowledge(message.offset) === false ? "logAck names bytes that were never sent" : undefined;
    case "finishedAck":
      if (task && !task.hasEnded()) return "finishedAck for a task that has not ended";
      if (task) removeTask(state, task);
      return undefined;
  }
}

function handleRun({ deps, tasks, pastLeases }: TasksState, message: RunMessage, link: Link): void {
  const lease = leaseOf(message);
  const key = keyOf(lease);
  // A repeated `run`: the task continues.
  if (tasks.has(key)) return;
  const task = pastLeases.has(key) ? ALREADY_STARTED : tryStartTask(deps, lease, message.work);
  forTaskAlone(deps, lease, () => deps.runtimeFolder.discard(lease));
  if (typeof task === "string") return link.send(createLostMessage(deps, lease, task));
  tasks.set(key, task);
  task.connect(link, 0);
}

/** Rejects a task that has not started: its secrets and its `run` may still arrive. */
function rejectRun({ deps, pastLeases }: TasksState, lease: Lease, link: Link): void {
  rememberLease(pastLeases, keyOf(lease));
  deps.runtimeFolder.discard(lease);
  link.send(createLostMessage(deps, lease, "This delegate does not hold the task."));
}

function dropTask(state: TasksState, lease: Lease): void {
  const { deps, tasks } = state;
  const task = tasks.get(keyOf(lease));
  deps.runtimeFolder.discard(lease);
  if (!task) return;
  deps.log.info({ ...lease }, "the server no longer knows this task; it is stopped");
  task
    .drop()
    .then(() => removeTask(state, task))
    .catch((error: unknown) => logFailure(deps, lease, error));
}

function removeTask({ deps, tasks, pastLeases }: TasksState, task: LeasedTask): void {
  const key = keyOf(task.lease);
  task.disconnect();
  removeTaskFolders(deps, task);
  tasks.delete(key);
  rememberLease(pastLeases, key);
}

function rememberLease(pastLeases: Set<string>, key: string): void {
  pastLeases.add(key);
  const oldest = pastLeases.size > MAX_PAST_LEASES ? pastLeases.values().next().value : undefined;
  if (oldest !== undefined) pastLeases.delete(oldest);
}

/** An error while one task is handled is logged; the other tasks are not concerned. */
function forTaskAlone<T>(deps: TasksDeps, lease: Lease, handle: () => T): T | undefined {
  try {
    return handle();
  } catch (error) {
    logFailure(deps, lease, error);
    return undefined;
  }
}

const logFailure = ({ log }: TasksDeps, lease: Lease, error: unknown): void =>
  log.error({ ...lease, error: textOf(error) }, "a message about a task could not be handled");

function removeOtherFiles({ runtimeFolder, log }: TasksDeps, tasks: ReadonlyMap<string, LeasedTask>): void {
  runtimeFolder
    .removeOtherTasks([...tasks.values()].map(({ lease }) => lease))
    .catch((error: unknown) =>
      log.warn(
        { error: textOf(error) },
        "files of earlier tasks in memory could not be removed; the next start tries again",
      ),
    );
}

/** When the task of an earlier delegate ended, in epoch milliseconds; without elapsed times the journal's file time. */
function endTimeOf(folder: string, { meta, exit }: Journal, deps: TasksDeps): number | undefined {
  if (!exit) return undefined;
  const { startedAt, startedElapsed } = startTimesOf(meta, deps);
  if (startedElapsed === undefined || exit.elapsed === undefined)
    return Math.round(statSync(paths(folder).journal).mtimeMs);
  return startedAt + Math.max(0, Math.round(exit.elapsed - startedElapsed));
}

function createLostMessage({ intervals }: TasksDeps, lease: Lease, message: string): FinishedMessage {
  const at = intervals.timers.now();
  return {
    kind: "finished",
    ...lease,
    offset: 0,
    data: "",
    startedAt: at,
    endedAt: at,
    outcome: { kind: "lost", message: message.slice(0, 1024) },
  };
}

function tryStartTask(deps: TasksDeps, lease: Lease, work: Work): LeasedTask | string {
  try {
    return startOrReturnTask(deps, lease, work);
  } catch (error) {
    deps.log.error({ ...lease, error: textOf(error) }, "a task could not be started");
    return `The delegate could not start the task: ${textOf(error)}`;
  }
}

/** Returns the task to the server, before anything is created for it, if the disk is short of space. */
function startOrReturnTask(deps: TasksDeps, lease: Lease, work: Work): LeasedTask | string {
  const kind = kindOf(work);
  if (!kind) return `This delegate cannot run work of kind '${work.kind}' version ${work.version}.`;
  const reason = kind.needsFiles ? deps.availability.check() : undefined;
  return reason === undefined ? kind.start(deps, lease, work) : createReturnedTask(lease, `The delegate ${reason}.`);
}

/** A task whose record cannot be used is lost; the others are not concerned. */
function tryRecoverTask(deps: TasksDeps, found: FoundTask): LeasedTask {
  try {
    return recoverTask(deps, found);
  } catch (error) {
    const { folder, task, epoch } = found;
    deps.log.error({ task, epoch, error: textOf(error) }, "a task of an earlier delegate could not be recovered");
    const lease = { task, epoch };
    const held = createTask(deps, {
      ...{ lease, folder, meta: undefined, runner: unstartedRunner, masks: "lost" },
      ...startTimesOf(undefined, deps),
    });
    void held.collect(`The delegate could not read the record of the task: ${textOf(error)}`);
    return held;
  }
}

function recoverTask(deps: TasksDeps, found: FoundTask): LeasedTask {
  const { folder, task, epoch } = found;
  const isUnstarted = claimBack(folder);
  const journal = readJournal(folder);
  const decision = examineJournal(journal, deps.bootId, isUnstarted);
  const owner = journal.meta?.owner ?? undefined;
  if (owner) deps.user.reserve(owner);
  if (decision.kind === "return") return createReturnedTask({ task, epoch }, decision.reason, { folder, owner });
  if (journal.meta?.kind !== undefined)
    return recoverInProcessTask(deps, { lease: { task, epoch }, folder, meta: journal.meta });
  const leasedTask = createTask(deps, {
    lease: { task, epoch },
    folder,
    meta: journal.meta,
    runner: createRecordedRunner(folder, journal, { bootId: deps.bootId, timeouts: deps.timeouts }),
    masks: journal.meta?.secrets ? (deps.runtimeFolder.readMasksOf({ task, epoch }) ?? "lost") : "none",
    ...startTimesOf(journal.meta, deps),
    endedAt: endTimeOf(folder, journal, deps),
  });
  switch (decision.kind) {
    case "watch":
      leasedTask.follow();
      break;
    case "cancel":
      void leasedTask.cancel();
      break;
    case "end":
      void leasedTask.collect(decision.lostBecause);
      break;
  }
  return leasedTask;
}
