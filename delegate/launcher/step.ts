/** One step: claimed, started, copied, recorded. */
import { spawn } from "node:child_process";
import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { constants as system } from "node:os";
import { join } from "node:path";
import { paths } from "../task-folder/paths.ts";
import { type Copy, copyOutput } from "./copy.ts";
import type { TakePipe } from "./fifos.ts";
import type { StepOrder } from "./messages.ts";

export type Step = {
  /** Undefined: the system could not start it; `failed` follows. */
  readonly process: { readonly pid: number; readonly startTime: string } | undefined;
  /** Takes what is in the pipe and closes it. */
  readonly release: () => void;
  /** It has ended and its folder was removed. */
  readonly isCollected: () => boolean;
};

export type StepEvents = {
  readonly exited: () => void;
  readonly failed: (why: string) => void;
  /** Status and output are recorded: nothing more is done for the step. */
  readonly finished: () => void;
};

/** Of the machine's clock that only goes forward. */
const elapsedMs = (): bigint => process.hrtime.bigint() / 1_000_000n;

const CLAIM_LINE = `launcher ${process.pid} ${startTimeOf(process.pid)}\n`;

/** @throws the system's error: the step was not started */
export function startStep(order: StepOrder, takePipe: TakePipe, events: StepEvents): Step {
  const at = paths(order.folder);
  const journal = claim(at.prepared, at.journal);
  let copy: Copy | undefined;
  let isCopied = false;
  let hasExited = false;
  const appendToJournal = (words: string): void => {
    try {
      writeSync(journal, words);
    } catch (error) {
      events.failed(`How the script ended could not be recorded: ${String(error)}`);
    }
  };
  const finish = (): void => {
    closeSync(journal);
    events.finished();
  };
  try {
    const pipe = takePipe(order.ids);
    copy = copyOutput(
      pipe.reader,
      { file: at.output, maxBytes: order.maxOutput },
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
      const child = spawnStep(order, pipe.writer);
      // However soon it ends, it is there until this turn is over.
      const process = child.pid === undefined ? undefined : { pid: child.pid, startTime: startTimeOf(child.pid) };
      if (process) appendToJournal(`pid ${process.pid} ${process.startTime}\n`);
      child.once("error", (error) => {
        events.failed(`The delegate could not start the script: ${error.message}`);
        hasExited = true;
        copy?.close();
      });
      child.once("exit", (code, signal) => {
        // All that the step itself has written is in the pipe by now.
        copy?.drain();
        hasExited = true;
        appendToJournal(
          `exit ${signal ? 128 + system.signals[signal] : code} ${elapsedMs()}\n${isCopied ? "copied 0\n" : ""}`,
        );
        events.exited();
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

/**
 * Of the launcher and a later delegate, which finds the task not begun, one
 * renames the file: the step is started once or never.
 */
function claim(prepared: string, journal: string): number {
  const fd = openSync(prepared, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW);
  try {
    writeSync(fd, CLAIM_LINE);
    renameSync(prepared, journal);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
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
