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
import { settleWithin, type Timers } from "../timers.ts";
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
  /** Collects a task that no longer runs. Without a recorded status it ends as `as`, by default lost, for the reason `because`. */
  readonly collect: (because: string, as?: "lost" | "refused") => Promise<void>;
};

export function createTask(deps: TaskDeps, record: TaskRecord): Task {
  const { folder, lease, meta, runner } = record;
  const { log, intervals } = deps;
  const now = (): number => taskTime(record, intervals.timers);
  const channel = openOutputChannel(deps, record);
  const readRecord = () => readJournal(folder, runner.unrecorded());
  const hasExited = (): boolean => hasRecordedExit(readRecord, log, lease);
  let phase: "running" | "ending" | "ended" = "running";
  let unwatch = (): void => {};
  let ending: Promise<void> = Promise.resolve();
  let remaining: RemainingProcesses | undefined;
  const session = trackSession(deps.sessions, runner);

  /** The only transition from running to ended. An error on the way also ends the task. */
  const finish = (how: () => Promise<End>): Promise<void> => {
    if (phase !== "running") return ending;
    phase = "ending";
    ending = how()
      .then((end) => completeLog(channel, end))
      .catch((error: unknown): End => {
        log.error({ task: lease.task, error: textOf(error) }, "the end of a task could not be collected");
        return createEnd(`The delegate could not collect the result: ${textOf(error)}`);
      })
      .then((end) => {
        phase = "ended";
        unwatch();
        channel.stop();
        session.leave();
        channel.end(end);
      })
      .catch(createErrorLogger(log, lease, "the end of a task could not be sent"));
    return ending;
  };

  const createEnd = (message: string, kind: "lost" | "refused" = "lost"): End => {
    const outcome = { kind, message: channel.stepMask.maskText(message).slice(0, 1024) };
    return { startedAt: record.startedAt, endedAt: now(), outcome };
  };

  const terminateProcessesOfTask = async (timeouts: Timeouts): Promise<RemainingProcesses> => {
    // Without its cookie a task's processes cannot be identified.
    if (!meta) return "unknown";
    remaining = await terminateTask(deps, record, timeouts);
    return remaining;
  };

  const collectEnd = async (otherwise: string, as?: "lost" | "refused"): Promise<End> => {
    const endedAt = record.endedAt ?? now();
    // A status that appears after this was caused by the termination below.
    const hasExit = hasExited();
    // Background processes of a step are terminated before its result is reported.
    await Promise.all([terminateProcessesOfTask(deps.leftoverTimeouts), channel.stepMask.ready]);
    const exit = hasExit ? readRecord().exit : undefined;
    const end = createEnd(otherwise, as);
    const ended = { ...record, outputs: deps.runtimeFolder.filesOf(lease).outputs };
    const outcome = exit ? outcomeOf(ended, exit, channel.stepMask, log) : end.outcome;
    return { ...end, outcome, endedAt: Math.max(record.startedAt, endedAt) };
  };

  const cancelProcesses = async (): Promise<End> => {
    recordCancellation(folder, log, lease);
    const survivors = await terminateProcessesOfTask(deps.timeouts);
    return { startedAt: record.startedAt, endedAt: now(), outcome: { kind: "cancelled", survivors } };
  };

  const checkOnce = (): void => {
    if (phase === "running") session.enter();
    // Before the journal is read: a launcher that has ended, or has seen the step's end, has completed its journal entries.
    const isAlive = runner.isAlive();
    const failure = runner.failure() ?? (runner.hasExited() ? RECORD_DAMAGED : undefined);
    if (phase === "running" && (failure !== undefined || !isAlive || readRecord().exit))
      void finish(() => collectEnd(failure ?? LAUNCHER_VANISHED));
    // Output during the termination is sent, too.
    channel.sendAvailable();
  };

  const checkProgress = logErrors(log, lease, checkOnce);

  return {
    lease,
    folder,
    owner: meta?.owner ?? undefined,
    connect: channel.connect,
    disconnect: channel.disconnect,
    acknowledge: channel.acknowledge,
    hasEnded: () => phase === "ended",
    isClean: () => phase === "ended" && remaining === 0,
    follow: () => {
      unwatch = watchFolder(folder, intervals, checkProgress);
      runner.onChange(checkProgress);
    },
    collect: (because, as) => finish(() => collectEnd(because, as)),
    cancel: () => {
      // The step ended before the cancellation: it keeps its own outcome.
      if (phase === "running" && hasExited()) return finish(() => collectEnd(LAUNCHER_VANISHED));
      channel.stopWaiting();
      return finish(cancelProcesses);
    },
    drop: () => {
      channel.disconnect();
      channel.stopWaiting();
      return finish(cancelProcesses);
    },
    detach: () => {
      unwatch();
      runner.onChange(() => {});
      channel.stop();
      channel.disconnect();
      if (phase === "running") phase = "ending";
    },
  };
}

/** Completes the log of an ended task. A step whose log stays incomplete fails. */
async function completeLog(channel: OutputChannel, end: End): Promise<End> {
  const isCancelled = end.outcome.kind === "cancelled";
  if ((await channel.close(isCancelled)) || isCancelled) return end;
  return { ...end, outcome: { kind: "refused", message: describeCutOutput("ENOSPC") } };
}

/** Epoch milliseconds: the task's start and the elapsed time since. Changes of the wall clock do not count. */
function taskTime({ startedAt, startedElapsed }: TaskRecord, timers: Timers): number {
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

/** Whether the step has ended by itself. An unreadable journal does not prevent the termination of the step. */
function hasRecordedExit(readRecord: () => Journal, log: Log, { task }: Lease): boolean {
  try {
    return readRecord().exit !== undefined;
  } catch (error) {
    log.warn({ task, error: textOf(error) }, "the record of a task could not be read before its termination");
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

function trackSession(
  sessions: Set<number>,
  runner: Runner,
): { readonly enter: () => void; readonly leave: () => void } {
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
