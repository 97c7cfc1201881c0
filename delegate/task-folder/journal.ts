/**
 * The file `journal` of a task's folder records its state. The first line
 * is `Meta` as JSON. After it come words, each written whole with its newline.
 * By the launcher: `launcher PID START` when it claims the task, `pid N START`
 * of the step, `cut CODE` when output could not be written, `exit N ELAPSED`
 * (milliseconds of the machine's clock that only goes forward), and `copied 0` when every writer of the output has
 * closed it. By the delegate: `cancelled`, and `unstarted` when the task was claimed back before its start. A word
 * that a full disk has cut off ends with `~` and does not count (append-words.ts).
 *
 * The file is called `prepared` until it is claimed, by one rename: by a
 * launcher, which then starts the step, by a delegate that runs the task
 * itself, or by a later delegate, after which no launcher can.
 */
import { closeSync, existsSync, renameSync } from "node:fs";
import { z } from "zod";
import { isFull } from "../fault.ts";
import type { ProcessIdentity } from "../processes/processes.ts";
import { isUnusablePath, readRegularFile } from "../regular-file.ts";
import { appendWords, CUT_LINE_END, openJournal } from "./append-words.ts";
import { paths } from "./paths.ts";

const meta = z.strictObject({
  task: z.string(),
  epoch: z.int(),
  /** Random; every process of the task carries it as RAILHEAD_TASK. */
  cookie: z.string().min(16),
  /** Epoch milliseconds, as all times here. */
  receivedAt: z.int(),
  /** The same moment on the machine's monotonic clock, in milliseconds. */
  receivedElapsed: z.number().optional(),
  bootId: z.string(),
  /** The user and group of the task's processes; null when the group is not theirs alone. `ownUser`: the user is. */
  owner: z.strictObject({ uid: z.int(), gid: z.int(), ownUser: z.boolean() }).nullable(),
  /** How its processes are terminated (terminate.ts). */
  ending: z.enum(["user", "namespace", "search"]).default("search"),
  mayGainPrivileges: z.boolean().optional(),
  outputs: z.array(z.strictObject({ name: z.string(), variable: z.string() })),
  /** The kind of work of a task without a script. */
  kind: z.string().optional(),
  /** The task has secrets: its output is masked. */
  secrets: z.boolean().optional(),
  /** The host of a task whose script runs on another host. */
  remote: z.strictObject({ host: z.string(), port: z.int() }).optional(),
});
/** The first line of a journal: what a later delegate needs to recover the task. Never changed after its creation. */
export type Meta = Readonly<z.infer<typeof meta>>;

/** How the script ended. `copied`: the output file is complete; false while a process has the output open. */
export type Exit = {
  readonly code: number;
  readonly copied: boolean;
  /** As `Journal.cut`. */
  readonly cut?: string | undefined;
  /** When the script ended, in milliseconds of the machine's monotonic clock. */
  readonly elapsed?: number | undefined;
};

/** The state of a task, as the complete lines of its journal describe it. */
export type Journal = {
  /** Undefined when the file is damaged. */
  readonly meta: Meta | undefined;
  /** The launcher that claimed the task. */
  readonly launcher: ProcessIdentity | undefined;
  /** The step: the leader of its session. */
  readonly leader: ProcessIdentity | undefined;
  readonly exit: Exit | undefined;
  /** The system's code of the error that ended the copying of the output, as in ENOSPC. */
  readonly cut: string | undefined;
  readonly isCancelled: boolean;
  /** The task was not started, and cannot be. */
  readonly isUnstarted: boolean;
};

export const formatHead = (entry: Meta): string => `${JSON.stringify(entry)}\n`;

/** @param unrecorded words that a launcher could not write yet (`Runner`) */
export function readJournal(folder: string, unrecorded = ""): Journal {
  const at = paths(folder);
  const text = readIfThere(at.journal) || readIfThere(at.prepared);
  if (unrecorded === "") return parseJournal(text);
  return parseJournal(`${text}${text.endsWith("\n") ? "" : CUT_LINE_END}${unrecorded}`);
}

/** A last line without its newline is still being written, and not read. */
export function parseJournal(text: string): Journal {
  const [head = "", ...lines] = text.split("\n").slice(0, -1);
  // The last one counts: a launcher may have written its name and died before it claimed the task.
  const wordOf = (name: string): readonly string[] | undefined =>
    lines
      .findLast((line) => line.startsWith(`${name} `))
      ?.split(" ")
      .slice(1);
  const processOf = (name: string): ProcessIdentity | undefined => {
    const [pid = "", startTime = ""] = wordOf(name) ?? [];
    return isNumber(pid) && isNumber(startTime) ? { pid: Number(pid), startTime } : undefined;
  };
  const [code = "", elapsed = ""] = wordOf("exit") ?? [];
  const cut = wordOf("cut")?.[0];
  return {
    meta: parseHead(head),
    launcher: processOf("launcher"),
    leader: processOf("pid"),
    exit: isNumber(code)
      ? {
          code: Number(code) & 255,
          copied: wordOf("copied") !== undefined,
          cut,
          elapsed: isNumber(elapsed) ? Number(elapsed) : undefined,
        }
      : undefined,
    cut,
    isCancelled: lines.includes("cancelled"),
    isUnstarted: lines.includes("unstarted"),
  };
}

const isNumber = (text: string): boolean => /^\d{1,20}$/.test(text);

/** No launcher has claimed the task. */
export const isUnclaimed = (folder: string): boolean => existsSync(paths(folder).prepared);

/** Claims a task that the delegate itself runs: from now on it counts as started. @throws the system's error */
export function claimForDelegate(folder: string): void {
  const at = paths(folder);
  renameSync(at.prepared, at.journal);
}

/** Claims the task for the delegate. True: no launcher has claimed it, and none can. */
export function claimBack(folder: string): boolean {
  const at = paths(folder);
  try {
    renameSync(at.prepared, at.journal);
  } catch (error) {
    if (isUnusablePath(error)) return false;
    throw error;
  }
  try {
    append(at.journal, "unstarted\n");
  } catch (error) {
    // On a full disk this delegate still knows it, and returns the task.
    if (!isFull(error)) throw error;
  }
  return true;
}

function parseHead(head: string): Meta | undefined {
  try {
    return meta.safeParse(JSON.parse(head)).data;
  } catch {
    return undefined;
  }
}

/** Records the cancellation, so that the next delegate continues with it. */
export function recordCancelled(folder: string): void {
  claimBack(folder);
  append(paths(folder).journal, "cancelled\n");
}

function append(path: string, words: string): void {
  const journal = openJournal(path);
  try {
    appendWords(journal, words);
  } finally {
    closeSync(journal);
  }
}

/** A journal that a step has replaced counts as missing. */
const readIfThere = (path: string): string => readRegularFile(path)?.toString("utf8") ?? "";
