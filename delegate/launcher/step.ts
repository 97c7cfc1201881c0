/** Claims and starts one step, copies its output and records its end. */
import { spawn } from "node:child_process";
import { closeSync, fstatSync, readFileSync, renameSync } from "node:fs";
import { constants as system } from "node:os";
import { join } from "node:path";
import { isFull } from "../fault.ts";
import { appendWords, openJournal } from "../task-folder/append-words.ts";
import { paths } from "../task-folder/paths.ts";
import { type Copy, copyOutput } from "./copy.ts";
import { killHiddenProcesses } from "./hidden-processes.ts";
import { lowestPid } from "../processes/members.ts";
import { processesOfUser } from "../processes/processes.ts";
import { killUser } from "./kill-user.ts";
import type { TakePipe } from "./fifos.ts";
import type { StepOrder } from "./messages.ts";

export type Step = {
  /** Undefined: the system could not start it; `failed` follows. */
  readonly process: { readonly pid: number; readonly startTime: string } | undefined;
  /** Reads the rest of the pipe and closes it: the delegate has ended the other processes of the step (messages.ts). */
  readonly release: () => void;
  /** The step has ended and its folder was removed. */
  readonly isCollected: () => boolean;
};

export type StepEvents = {
  /** The first process has ended. */
  readonly exited: (end: { readonly isClean: boolean; readonly isComplete: boolean }) => void;
  readonly failed: (why: string) => void;
  /** Words for which the disk has no space. They are tried again. */
  readonly unrecorded: (words: string) => void;
  /** Status and output are recorded; the step is complete. */
  readonly finished: () => void;
};

/** Milliseconds of the machine's monotonic clock. */
const elapsedMs = (): bigint => process.hrtime.bigint() / 1_000_000n;

const CLAIM_LINE = `launcher ${process.pid} ${startTimeOf(process.pid)}\n`;

/** @throws the system's error: the step was not started */
export function startStep(order: StepOrder, takePipe: TakePipe, events: StepEvents): Step {
  const at = paths(order.folder);
  const journal = claim(at.prepared, at.journal);
  let copy: Copy | undefined;
  let isCopied = false;
  let hasExited = false;
  const record = createRecord(journal, events);
  const appendToJournal = record.append;
  const finish = record.end;
  try {
    const pipe = takePipe(order.ids);
    copy = copyOutput(
      { pipe: pipe.reader },
      { file: at.output, maxStepOutput: order.maxStepOutput },
      {
        cut: (code) => appendToJournal(`cut ${code}\n`),
        ended: () => {
          isCopied = true;
          if (!hasExited) return;
          appendToJournal("copied 0\n");
          finish();
        },
      },
    );
    try {
      const startedAt = elapsedMs();
      const child = spawnStep(order, pipe.writer);
      // The process exists at least until the end of this turn of the event loop.
      const process = child.pid === undefined ? undefined : { pid: child.pid, startTime: startTimeOf(child.pid) };
      if (process) appendToJournal(`pid ${process.pid} ${process.startTime}\n`);
      child.once("error", (error) => {
        events.failed(`The delegate could not start the script: ${error.message}`);
        hasExited = true;
        copy?.close();
      });
      child.once("exit", (code, signal) => {
        // The pipe holds everything that the step's first process has written.
        copy?.drain();
        hasExited = true;
        appendToJournal(
          `exit ${signal ? 128 + system.signals[signal] : code} ${elapsedMs()}\n${isCopied ? "copied 0\n" : ""}`,
        );
        events.exited({ isClean: killHiddenOfStep(order, process, startedAt), isComplete: isCopied });
        if (isCopied) finish();
      });
      return {
        process,
        release: () => copy?.close(),
        isCollected: () => hasExited && fstatSync(journal).nlink === 0,
      };
    } finally {
      closeSync(pipe.writer);
    }
  } catch (error) {
    copy?.close();
    closeSync(journal);
    throw error;
  }
}

/** How long a word waits until it is tried again on a full disk. */
const RETRY_MS = 1_000;

/** Writes the words of a step in their order, and closes the journal after the last one. */
function createRecord(
  journal: number,
  events: StepEvents,
): { readonly append: (words: string) => void; readonly end: () => void } {
  let unwritten = "";
  let lost = "";
  let isEnded = false;
  let retry: NodeJS.Timeout | undefined;
  const closeIfWritten = (): void => {
    if (!isEnded || unwritten !== "") return;
    closeSync(journal);
    events.finished();
  };
  const write = (): void => {
    retry = undefined;
    try {
      // The folder of the task was collected, or its step has replaced the journal.
      if (fstatSync(journal).nlink === 0) events.unrecorded((lost += unwritten));
      else appendWords(journal, unwritten);
      unwritten = "";
    } catch (error) {
      if (isFull(error)) {
        retry = setTimeout(() => {
          write();
          closeIfWritten();
        }, RETRY_MS);
        return events.unrecorded(unwritten);
      }
      unwritten = "";
      events.failed(`What the script did could not be recorded: ${String(error)}`);
    }
  };
  return {
    append: (words) => {
      unwritten += words;
      clearTimeout(retry);
      write();
    },
    end: () => {
      isEnded = true;
      closeIfWritten();
    },
  };
}

/**
 * Claims the task by a rename. Either the launcher or a later delegate that recovers
 * the task renames the file: the step is started once or never.
 */
function claim(prepared: string, journal: string): number {
  const fd = openJournal(prepared);
  try {
    appendWords(fd, CLAIM_LINE);
    renameSync(prepared, journal);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Returns whether the step has no process any more; false if its user is not its own. */
function killHiddenOfStep({ endsUser, ids }: StepOrder, leader: Step["process"], startedAt: bigint): boolean {
  if (!endsUser || ids === undefined || leader === undefined) return false;
  const { uid } = ids;
  return killHiddenProcesses({
    find: () => processesOfUser(uid, lowestPid({ leader, ageMs: Number(elapsedMs() - startedAt) })).length,
    kill: () => killUser(uid),
  });
}

/** A session of its own. Standard input is empty, and no other descriptor is open in it. */
const spawnStep = ({ command, env, cwd, ids }: StepOrder, output: number): ReturnType<typeof spawn> =>
  spawn(command[0] ?? "", command.slice(1), {
    cwd,
    env,
    stdio: ["ignore", output, output],
    detached: true,
    ...(ids ? { uid: ids.uid, gid: ids.gid } : {}),
  });

function startTimeOf(pid: number): string {
  const text = readFileSync(join("/proc", String(pid), "stat"), "latin1");
  return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? "0";
}
