/** One script task on this machine: running, ending, ended. */
import { join } from "node:path";
import { LAUNCHER_VANISHED, RECORD_DAMAGED } from "./recovery.ts";
import type { Masking, Masks } from "../output/masking.ts";
import { textOf } from "../fault.ts";
import { type Journal, type Meta, recordCancelled, readJournal } from "../task-folder/journal.ts";
import { terminateProcesses, type Timeouts, type RemainingProcesses } from "../processes/terminate.ts";
import type { Launcher } from "../launcher/client/client.ts";
import { ANSWER_MS } from "../launcher/client/launcher-process.ts";
import type { Runner } from "../launcher/client/runner.ts";
import type { Log } from "../log.ts";
import type { Target } from "../processes/members.ts";
import { describeCutOutput, outcomeOf } from "./outcome.ts";
import type { KnownHosts } from "../remote/known-hosts.ts";
import { KNOWN_HOSTS } from "../remote/ssh.ts";
import type { RuntimeFolder } from "../runtime-folder/runtime-folder.ts";
import { openOutputChannel, type OutputChannel } from "../output/output-channel.ts";
import type { End, Lease, Link } from "../output/shipper.ts";
import { paths } from "../task-folder/paths.ts";
import { settleWithin } from "../timers.ts";
import { type Intervals, watchFolder } from "../task-folder/watch-folder.ts";

export type TaskDeps = {
  readonly log: Log;
  /** Sessions of all running tasks of this delegate; each task enters its own. */
  readonly sessions: Set<number>;
  readonly intervals: Intervals;
  /** For a task that the server cancels. */
  readonly timeouts: Timeouts;
  /** For processes that a step leaves behind. */
  readonly leftoverTimeouts: Timeouts;
  readonly runtimeFolder: Pick<RuntimeFolder, "filesOf" | "removeSecretFiles">;
  readonly launcher: Pick<Launcher, "killUser">;
  readonly knownHosts: KnownHosts;
  readonly masking: Masking;
};

export type TaskRecord = {
  readonly lease: Lease;
  readonly folder: string;
  readonly meta: Meta | undefined;
  readonly runner: Runner;
  /** When this process started the task, on the monotonic clock; undefined: an earlier process did. */
  readonly begunAt?: number;
  readonly startedAt: number;
  readonly masks: Masks;
  /** `startedAt` on the machine's monotonic clock; undefined: before the machine's last restart, or unknown. */
  readonly startedElapsed?: number | undefined;
  /** When an earlier delegate's task ended, if the journal has it. */
  readonly endedAt?: number | undefined;
};

/** A task that the server has leased to this delegate. */
export type LeasedTask = {
  readonly lease: Lease;
  /** Undefined for a task without files on this machine. */
  readonly folder: string | undefined;
  readonly owner: Target["owner"];
  readonly connect: (link: Link, offset: number) => void;
  readonly disconnect: () => void;
  /** False: the offset is beyond what was sent. */
  readonly acknowledge: (offset: number) => boolean;
  /** True once the end is known: only then the server can have acknowledged it. */
  readonly hasEnded: () => boolean;
  /** The task has ended and has no remaining processes. */
  readonly isClean: () => boolean;
  /** Terminates the task and reports it as cancelled; a task that has ended by itself keeps its own outcome. */
  readonly cancel: () => Promise<void>;
  /** Terminates the task without a report. */
  readonly drop: () => Promise<void>;
  /** Stops watching the task, which continues for the next delegate. */
  readonly detach: () => void;
};

/** A task that runs a script. */
export type Task = LeasedTask & {
  /** Watches a running task. */
  readonly follow: () => void;
  /**
   * Collects a task that no longer runs. Without a recorded status it ends as `as`, by default lost, for the reason
   * `because`.
   */
  readonly collect: (because: string, as?: "lost" | "refused") => Promise<void>;
};

/** A task that runs a script, and how far it has come. */
type TaskState = {
  readonly deps: TaskDeps;
  readonly record: TaskRecord;
  readonly channel: OutputChannel;
  readonly session: TrackedSession;
  phase: "running" | "ending" | "ended";
  /** Settles when the task has ended. */
  ending: Promise<void>;
  remaining: RemainingProcesses | undefined;
  unwatch: () => void;
};

export function createTask(deps: TaskDeps, record: TaskRecord): Task {
  const { folder, lease, meta, runner } = record;
  const channel = openOutputChannel(deps, record);
  const state: TaskState = {
    deps,
    record,
    channel,
    session: trackSession(deps.sessions, runner),
    phase: "running",
    ending: Promise.resolve(),
    remaining: undefined,
    unwatch: () => {},
  };
  const checkProgress = logErrors(deps.log, lease, () => checkOnce(state));
  return {
    lease,
    folder,
    owner: meta?.owner ?? undefined,
    connect: channel.connect,
    disconnect: channel.disconnect,
    acknowledge: channel.acknowledge,
    hasEnded: () => state.phase === "ended",
    isClean: () => state.phase === "ended" && state.remaining === 0,
    follow: () => {
      state.unwatch = watchFolder(folder, deps.intervals, checkProgress);
      runner.onChange(checkProgress);
    },
    collect: (because, as) => finish(state, () => collectEnd(state, because, as)),
    cancel: () => {
      // The step ended before the cancellation: it keeps its own outcome.
      if (state.phase === "running" && hasRecordedExit(state))
        return finish(state, () => collectEnd(state, LAUNCHER_VANISHED));
      channel.stopWaiting();
      return finish(state, () => cancelProcesses(state));
    },
    drop: () => {
      channel.disconnect();
      channel.stopWaiting();
      return finish(state, () => cancelProcesses(state));
    },
    detach: () => {
      state.unwatch();
      runner.onChange(() => {});
      channel.stop();
      channel.disconnect();
      if (state.phase === "running") state.phase = "ending";
    },
  };
}

function checkOnce(state: TaskState): void {
  const { record, channel, session } = state;
  const { runner } = record;
  if (state.phase === "running") session.enter();
  // Before the journal is read: a launcher that has ended, or has seen the step's end, has completed its journal
  // entries.
  const isAlive = runner.isAlive();
  const failure = runner.failure() ?? (runner.hasExited() ? RECORD_DAMAGED : undefined);
  if (state.phase === "running" && (failure !== undefined || !isAlive || readRecord(record).exit))
    void finish(state, () => collectEnd(state, failure ?? LAUNCHER_VANISHED));
  // Output during the termination is sent, too.
  channel.sendAvailable();
}

/** The only transition from running to ended. An error on the way also ends the task. */
function finish(state: TaskState, how: () => Promise<End>): Promise<void> {
  if (state.phase !== "running") return state.ending;
  const { channel, session, deps } = state;
  const { lease } = state.record;
  state.phase = "ending";
  state.ending = how()
    .then((end) => completeLog(channel, end))
    .catch((error: unknown): End => {
      deps.log.error({ task: lease.task, error: textOf(error) }, "the end of a task could not be collected");
      return createEnd(state, `The delegate could not collect the result: ${textOf(error)}`);
    })
    .then((end) => {
      state.phase = "ended";
      state.unwatch();
      channel.stop();
      session.leave();
      channel.end(end);
    })
    .catch(createErrorLogger(deps.log, lease, "the end of a task could not be sent"));
  return state.ending;
}

function createEnd(state: TaskState, message: string, kind: "lost" | "refused" = "lost"): End {
  const outcome = { kind, message: state.channel.stepMask.maskText(message).slice(0, 1024) };
  return { startedAt: state.record.startedAt, endedAt: timeNow(state), outcome };
}

async function collectEnd(state: TaskState, otherwise: string, as?: "lost" | "refused"): Promise<End> {
  const { deps, record, channel } = state;
  const endedAt = record.endedAt ?? timeNow(state);
  // A status that appears after this was caused by the termination below.
  const hasExit = hasRecordedExit(state);
  // Background processes of a step are terminated before its result is reported.
  await Promise.all([terminateProcessesOfTask(state, deps.leftoverTimeouts), channel.stepMask.ready]);
  const exit = hasExit ? readRecord(record).exit : undefined;
  const end = createEnd(state, otherwise, as);
  const ended = { ...record, outputs: deps.runtimeFolder.filesOf(record.lease).outputs };
  const outcome = exit ? outcomeOf(ended, exit, { stepMask: channel.stepMask, log: deps.log }) : end.outcome;
  return { ...end, outcome, endedAt: Math.max(record.startedAt, endedAt) };
}

async function cancelProcesses(state: TaskState): Promise<End> {
  const { deps, record } = state;
  recordCancellation(record.folder, deps.log, record.lease);
  const survivors = await terminateProcessesOfTask(state, deps.timeouts);
  return { startedAt: record.startedAt, endedAt: timeNow(state), outcome: { kind: "cancelled", survivors } };
}

async function terminateProcessesOfTask(state: TaskState, timeouts: Timeouts): Promise<RemainingProcesses> {
  // Without its cookie a task's processes cannot be identified.
  if (!state.record.meta) return "unknown";
  state.remaining = await terminateTask(state.deps, state.record, timeouts);
  return state.remaining;
}

/** Completes the log of an ended task. A step whose log stays incomplete fails. */
async function completeLog(channel: OutputChannel, end: End): Promise<End> {
  const isCancelled = end.outcome.kind === "cancelled";
  if ((await channel.close(isCancelled)) || isCancelled) return end;
  return { ...end, outcome: { kind: "refused", message: describeCutOutput("ENOSPC") } };
}

/** Epoch milliseconds: the task's start and the elapsed time since. Changes of the wall clock do not count. */
function timeNow({ record: { startedAt, startedElapsed }, deps }: TaskState): number {
  const { timers } = deps.intervals;
  if (startedElapsed === undefined) return Math.max(startedAt, timers.now());
  return startedAt + Math.max(0, Math.round(timers.elapsed() - startedElapsed));
}

const createErrorLogger =
  (log: Log, { task }: Lease, message: string) =>
  (error: unknown): void =>
    log.error({ task, error: textOf(error) }, message);

/** A full disk must not keep the processes alive. The cancellation is lost only if the delegate restarts now. */
function recordCancellation(folder: string, log: Log, { task }: Lease): void {
  try {
    recordCancelled(folder);
  } catch (error) {
    log.warn({ task, error: textOf(error) }, "the cancellation of a task could not be recorded");
  }
}

/** The journal, with what the launcher could not write yet. */
const readRecord = ({ folder, runner }: TaskRecord): Journal => readJournal(folder, runner.unrecorded());

/** Whether the step has ended by itself. An unreadable journal does not prevent the termination of the step. */
function hasRecordedExit({ deps, record }: TaskState): boolean {
  try {
    return readRecord(record).exit !== undefined;
  } catch (error) {
    deps.log.warn(
      { task: record.lease.task, error: textOf(error) },
      "the record of a task could not be read before its termination",
    );
    return false;
  }
}

/** The function without its errors: they are logged, and the next call tries again. */
function logErrors(log: Log, lease: Lease, run: () => void): () => void {
  const logError = createErrorLogger(log, lease, "the progress of a task could not be read");
  return () => {
    try {
      run();
    } catch (error) {
      logError(error);
    }
  };
}

type TrackedSession = { readonly enter: () => void; readonly leave: () => void };

function trackSession(sessions: Set<number>, runner: Runner): TrackedSession {
  let session: number | undefined;
  const enter = (): void => {
    session ??= runner.leader()?.pid;
    if (session !== undefined) sessions.add(session);
  };
  enter();
  return { enter, leave: () => session !== undefined && sessions.delete(session) };
}

const targetOf = (deps: TaskDeps, { folder, meta, runner, begunAt }: TaskRecord): Target => ({
  leader: runner.leader(),
  cookie: meta?.cookie ?? "",
  owner: meta?.owner ?? undefined,
  sessions: deps.sessions,
  folder,
  ageMs: begunAt === undefined ? Infinity : deps.intervals.timers.elapsed() - begunAt,
});

/** Terminates the task's processes, adopts the host keys of its ssh, and returns the number of remaining processes. */
async function terminateTask(deps: TaskDeps, held: TaskRecord, timeouts: Timeouts): Promise<RemainingProcesses> {
  const { lease, folder, meta, runner } = held;
  // A launcher that does not answer must not prevent the end of the task.
  await settleWithin(timeouts.timers, ANSWER_MS, runner.started);
  const method = meta?.ending ?? "search";
  const { killUser } = deps.launcher;
  const mayGainPrivileges = meta?.mayGainPrivileges === true;
  const termination = { target: targetOf(deps, held), method, mayGainPrivileges, killUser };
  const left = runner.isClean() ? 0 : await terminateProcesses(termination, timeouts);
  await runner.release();
  if (left !== 0 && left !== "unknown")
    deps.log.warn({ task: lease.task, survivors: left }, "processes of a task could not be ended");
  if (meta?.remote) deps.knownHosts.adoptKeys(join(paths(folder).work, KNOWN_HOSTS), meta.remote);
  return left;
}
