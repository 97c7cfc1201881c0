/** All tasks that this delegate holds, and what the server's messages do to them. */
import { statSync } from "node:fs";
import type { ConnectionTask, ShellTask, ToDelegate } from "../../protocol/messages.ts";
import { examine } from "./recovery.ts";
import { begin, RAN_BEFORE, startOf, type TasksDeps } from "./start-task.ts";
import { textOf } from "../fault.ts";
import { type Found, keyOf } from "../task-folder/task-folders.ts";
import { claimBack, type Journal, readJournal } from "../task-folder/journal.ts";
import { recordedRunner } from "../launcher/recorded.ts";
import { createReturned } from "./returned-task.ts";
import type { Lease, Link } from "../output/shipper.ts";
import { type HeldTask, createTask } from "./task.ts";
import { paths } from "../task-folder/paths.ts";

/** What is said to a session about its tasks; `refused` is the session's own matter. */
export type TaskMessage = Exclude<ToDelegate, { kind: "refused" }>;

export type Tasks = {
  /** For `hello`. */
  readonly holds: () => readonly Lease[];
  /** Takes up what an earlier delegate left in the work folder. */
  readonly recover: () => void;
  /** Does what the message says. The text says why the message is illegal. */
  readonly take: (message: TaskMessage, link: Link) => string | undefined;
  /** The connection is gone; everything goes on. */
  readonly disconnect: () => void;
  /** The delegate ends; the tasks do not. */
  readonly leave: () => void;
};

const MAX_HOLDS = 4096;
/** Ended tasks kept in mind: a repeated `run` of one of them starts nothing. */
const MAX_REMEMBERED = 10_000;

export function createTasks(deps: TasksDeps): Tasks {
  const held = new Map<string, HeldTask>();
  const forgotten = new Set<string>();
  const { log } = deps;

  const forget = (task: HeldTask): void => {
    const key = keyOf(task.lease);
    const { folder } = task;
    task.disconnect();
    deps.safe.remove(task.lease);
    if (task.owner) deps.safe.unlinkHome(task.owner.uid);
    if (folder !== undefined) removeFolder(deps, task, folder);
    held.delete(key);
    remember(key);
  };

  const remember = (key: string): void => {
    forgotten.add(key);
    const oldest = forgotten.size > MAX_REMEMBERED ? forgotten.values().next().value : undefined;
    if (oldest !== undefined) forgotten.delete(oldest);
  };

  /** Ends what is not begun: its secrets may still be on their way, and its `run` after them. */
  const neverBegin = (lease: Lease, link: Link): void => {
    remember(keyOf(lease));
    deps.safe.forget(lease);
    lost(deps, link, lease, "This delegate does not hold the task.");
  };

  const drop = (lease: Lease): void => {
    const task = held.get(keyOf(lease));
    deps.safe.forget(lease);
    if (!task) return;
    log.info({ ...lease }, "the server no longer knows this task; it is stopped");
    void task.drop().then(() => forget(task));
  };

  const run = (lease: Lease, work: ShellTask | ConnectionTask, link: Link): void => {
    const key = keyOf(lease);
    // The server repeats itself; the task goes on as it is.
    if (held.has(key)) return;
    const task = forgotten.has(key) ? RAN_BEFORE : beginOrReturn(deps, lease, work);
    deps.safe.forget(lease);
    if (typeof task === "string") return lost(deps, link, lease, task);
    held.set(key, task);
    task.connect(link, 0);
  };

  const welcome = (message: Extract<TaskMessage, { kind: "welcome" }>, link: Link): string | undefined => {
    const named = new Set([...message.keep, ...message.drop].map(keyOf));
    const silent = [...held.keys()].slice(0, MAX_HOLDS).find((key) => !named.has(key));
    if (silent !== undefined) return `welcome says nothing of the held task ${silent}`;
    for (const { offset, ...lease } of message.keep) held.get(keyOf(lease))?.connect(link, offset);
    for (const lease of message.drop) drop(lease);
    return undefined;
  };

  return {
    holds: () => [...held.values()].slice(0, MAX_HOLDS).map(({ lease }) => lease),
    recover: () => {
      for (const found of deps.folders.scan()) held.set(keyOf(found), recover(deps, found));
      deps.safe.clear([...held.values()].map(({ lease }) => lease));
      if (held.size > 0) log.info({ tasks: held.size }, "took up the tasks of an earlier delegate");
    },
    take: (message, link) => {
      if (message.kind === "welcome") return welcome(message, link);
      const lease = { task: message.task, epoch: message.epoch };
      const task = held.get(keyOf(lease));
      switch (message.kind) {
        case "run":
          run(lease, message.work, link);
          return undefined;
        case "secret":
          if (!task && !forgotten.has(keyOf(lease))) deps.safe.take(message);
          return undefined;
        case "cancel":
          if (task) void task.cancel();
          else neverBegin(lease, link);
          return undefined;
        case "drop":
          drop(lease);
          return undefined;
        case "logAck":
          return task?.acked(message.offset) === false ? "logAck names bytes that were never sent" : undefined;
        case "finishedAck":
          if (task && !task.hasEnded()) return "finishedAck for a task that has not ended";
          if (task) forget(task);
          return undefined;
      }
    },
    disconnect: () => {
      deps.safe.forgetAll();
      for (const task of held.values()) task.disconnect();
    },
    leave: () => {
      for (const task of held.values()) task.leave();
    },
  };
}

/** When the task of an earlier delegate ended: by what has passed since its start, or else by the time of the journal. */
function endOf(folder: string, { meta, exit }: Journal, deps: TasksDeps): number | undefined {
  if (!exit) return undefined;
  const { startedAt, startedElapsed } = startOf(meta, deps);
  if (startedElapsed === undefined || exit.elapsed === undefined)
    return Math.round(statSync(paths(folder).journal).mtimeMs);
  return startedAt + Math.max(0, Math.round(exit.elapsed - startedElapsed));
}

function removeFolder({ folders, leftovers, log }: TasksDeps, task: HeldTask, folder: string): void {
  const discard = async (): Promise<void> => {
    await folders.discard(folder);
    // A task whose processes could not be ended keeps its user: no other task may get it.
    if (task.owner && task.isClean()) leftovers.end(task.owner);
  };
  discard().catch((error: unknown) => {
    log.warn({ folder, error: textOf(error) }, "the folder of an ended task could not be removed; it is tried again");
    leftovers.again(discard);
  });
}

function lost({ intervals }: TasksDeps, link: Link, lease: Lease, message: string): void {
  const at = intervals.timers.now();
  link.send({
    kind: "finished",
    ...lease,
    offset: 0,
    data: "",
    startedAt: at,
    endedAt: at,
    outcome: { kind: "lost", message: message.slice(0, 1024) },
  });
}

/** A task that would find no space is given back before anything is made for it. */
function beginOrReturn(deps: TasksDeps, lease: Lease, work: ShellTask | ConnectionTask): HeldTask | string {
  const reason = work.kind === "shell" ? deps.availability.check() : undefined;
  return reason === undefined ? begin(deps, lease, work) : createReturned(lease, `The delegate ${reason}.`);
}

function recover(deps: TasksDeps, found: Found): HeldTask {
  const { folder, task, epoch } = found;
  const isUnstarted = claimBack(folder);
  const journal = readJournal(folder);
  const decision = examine(journal, deps.bootId, isUnstarted);
  const owner = journal.meta?.owner ?? undefined;
  if (owner) deps.user.keep(owner);
  if (decision.kind === "return") return createReturned({ task, epoch }, decision.reason, { folder, owner });
  const held = createTask(deps, {
    lease: { task, epoch },
    folder,
    meta: journal.meta,
    runner: recordedRunner(folder, journal, deps.bootId, deps.timeouts),
    masks: journal.meta?.secrets ? (deps.safe.masksOf({ task, epoch }) ?? "lost") : "none",
    ...startOf(journal.meta, deps),
    endedAt: endOf(folder, journal, deps),
  });
  switch (decision.kind) {
    case "watch":
      held.follow();
      break;
    case "cancel":
      void held.cancel();
      break;
    case "end":
      void held.collect(decision.lostBecause);
      break;
  }
  return held;
}
