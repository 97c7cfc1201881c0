/** All tasks that this delegate holds, and what the server's messages do to them. */
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import type { ConnectionTask, ShellTask, ToDelegate } from "../protocol/messages.ts";
import { examine } from "./attach.ts";
import { makeConnectionTest } from "./connection.ts";
import { codeOf, Refusal, textOf } from "./fault.ts";
import { composed } from "./compose.ts";
import { closeDescriptors, type Folders, type Found, keyOf, type Owner, type Ready } from "./folders.ts";
import { type Meta, paths, readJournal } from "./journal.ts";
import { FEEDER } from "./remote/script.ts";
import { prepareRemote } from "./remote/prepare.ts";
import { findSsh, type Program, refusal, scriptProgram, start, type Tools } from "./run.ts";
import type { Handed, Safe } from "./safe.ts";
import type { Lease, Link } from "./ship.ts";
import type { StepOwner, StepUser } from "./step-user.ts";
import { type HeldTask, makeTask, type Task, type TaskDeps } from "./task.ts";

export type TasksDeps = TaskDeps & {
  readonly folders: Folders;
  readonly user: StepUser;
  readonly tools: Tools;
  readonly bootId: string;
  readonly searchPath: string;
  readonly safe: Safe;
};

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

const RAN_BEFORE = "This delegate has started this task before; it is not started again.";
const NO_SSH =
  "The delegate's machine has no program 'ssh' in the steps' search path, which running a step on another host needs; install it, as with the package openssh-client.";
const MAX_HOLDS = 4096;
/** Ended tasks kept in mind: a repeated `run` of one of them starts nothing. */
const MAX_REMEMBERED = 10_000;

export function makeTasks(deps: TasksDeps): Tasks {
  const held = new Map<string, HeldTask>();
  const forgotten = new Set<string>();
  const { log } = deps;

  const forget = (task: HeldTask): void => {
    const key = keyOf(task.lease);
    const { folder } = task;
    task.disconnect();
    deps.safe.remove(task.lease);
    if (folder !== undefined)
      deps.folders
        .discard(folder, task.isClean())
        // What could not be ended keeps its user: nobody else may meet it.
        .then(() => task.owner && task.isClean() && deps.user.giveBack(task.owner))
        .catch((error: unknown) =>
          log.warn({ folder, error: textOf(error) }, "the folder of an ended task could not be removed"),
        );
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
    const task = forgotten.has(key) ? RAN_BEFORE : begin(deps, lease, work);
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

function lost({ rhythm }: TasksDeps, link: Link, lease: Lease, message: string): void {
  const at = rhythm.timers.now();
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

function begin(deps: TasksDeps, lease: Lease, work: ShellTask | ConnectionTask): HeldTask | string {
  if (work.kind === "connection") return makeConnectionTest(deps.rhythm.timers, lease, work);
  const missing = work.secrets && deps.safe.missing(lease, work.secrets.uses);
  const noSsh = work.target && findSsh(deps.searchPath) === undefined ? NO_SSH : undefined;
  return refusal(work) ?? missing ?? noSsh ?? launch(deps, lease, work);
}

/** Starts the task, or says why it never started. */
function launch(deps: TasksDeps, lease: Lease, work: ShellTask): Task | string {
  let owner: StepOwner | undefined;
  try {
    owner = deps.user.take(work.target ? "ssh" : "script");
  } catch (error) {
    return `The delegate could not prepare the task: ${textOf(error)}`;
  }
  const task = launchAs(owner, deps, lease, work);
  if (typeof task === "string" && owner) deps.user.giveBack(owner);
  return task;
}

function launchAs(owner: StepOwner | undefined, deps: TasksDeps, lease: Lease, work: ShellTask): Task | string {
  const { user } = deps;
  const receivedAt = deps.rhythm.timers.now();
  const meta: Meta = {
    ...lease,
    cookie: randomBytes(24).toString("base64url"),
    receivedAt,
    bootId: deps.bootId,
    owner: user.apart === "nothing own" ? null : (owner ?? null),
    outputs: work.outputs,
    ...(work.secrets ? { secrets: true } : {}),
    ...(work.target ? { remote: { host: work.target.host, port: work.target.port } } : {}),
  };
  let ready: Ready;
  try {
    ready = deps.folders.create(meta, work.target ? FEEDER : work.script, owner);
  } catch (error) {
    deps.log.error({ ...lease, error: textOf(error) }, "a task could not be prepared");
    const before = ["EEXIST", "ENOTEMPTY"].includes(codeOf(error) ?? "");
    return before ? RAN_BEFORE : `The delegate could not prepare the task: ${textOf(error)}`;
  }
  const held = { lease, folder: ready.folder, meta, startedAt: receivedAt };
  let handed: Handed | undefined;
  try {
    handed = work.secrets && deps.safe.handOver(lease, work.secrets.uses, owner);
    const unmaskable = handed && deps.masking.refusal(handed.masks);
    if (unmaskable) {
      handed = undefined;
      throw new Refusal(unmaskable.message);
    }
    const order = {
      tools: deps.tools,
      ...ready,
      cookie: meta.cookie,
      owner,
      userName: user.name,
      searchPath: deps.searchPath,
      program: programOf(deps, { lease, folder: ready.folder, owner, cookie: meta.cookie }, work, handed?.texts ?? []),
    };
    const task = makeTask(deps, { ...held, ...start(order), masks: handed?.masks ?? "none" });
    task.follow();
    return task;
  } catch (error) {
    deps.log.error({ ...lease, error: textOf(error) }, "a task could not be started");
    // The folder stays until the server has acknowledged: it is the promise not to start the task again.
    const task = makeTask(deps, { ...held, supervisor: undefined, child: undefined, masks: handed?.masks ?? "none" });
    if (error instanceof Refusal) void task.collect(error.message, "refused");
    else void task.collect(`The delegate could not start the script: ${textOf(error)}`);
    return task;
  } finally {
    closeDescriptors(ready.descriptors);
  }
}

type Place = { readonly lease: Lease; readonly folder: string; readonly owner: Owner; readonly cookie: string };

/** @throws the system's error, and what `composed` throws */
function programOf(deps: TasksDeps, place: Place, work: ShellTask, texts: readonly string[]): Program {
  const { tools, safe } = deps;
  const whole = composed(work, texts);
  if (!work.target) return scriptProgram(tools, place.folder, whole);
  const ssh = findSsh(deps.searchPath);
  if (ssh === undefined) throw new Error(NO_SSH);
  const keep = (name: string, text: string): string => safe.keep(place.lease, place.owner, name, text);
  return prepareRemote({ ...place, work: { ...whole, target: work.target }, texts, keep }, ssh, tools, deps.knownHosts);
}

function recover(deps: TasksDeps, found: Found): Task {
  const { folder, task, epoch } = found;
  const journal = readJournal(folder);
  const { decision, supervisor } = examine(journal, deps.bootId);
  if (journal.meta?.owner) deps.user.keep(journal.meta.owner);
  const held = makeTask(deps, {
    lease: { task, epoch },
    folder,
    meta: journal.meta,
    supervisor,
    child: undefined,
    masks: journal.meta?.secrets ? (deps.safe.masksOf({ task, epoch }) ?? "lost") : "none",
    startedAt: journal.meta?.receivedAt ?? deps.rhythm.timers.now(),
    endedAt: journal.exit && Math.round(statSync(paths(folder).journal).mtimeMs),
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
