/**
 * What is known of a task, in the file `journal` of its folder. The first line
 * is `Meta` as JSON. After it come words, each written whole with its newline:
 * `pid N`, `exit N` and `copied N` by the supervisor, through a descriptor that
 * it was given; `cancelled` by the delegate.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { codeOf } from "./fault.ts";

const meta = z.strictObject({
  task: z.string(),
  epoch: z.int(),
  /** Random; every process of the task carries it as RAILHEAD_TASK. */
  cookie: z.string().min(16),
  /** Epoch milliseconds, as all times here. */
  receivedAt: z.int(),
  bootId: z.string(),
  /** The user and group of the task's processes; null when the group is not theirs alone. `ownUser`: the user is. */
  owner: z.strictObject({ uid: z.int(), gid: z.int(), ownUser: z.boolean() }).nullable(),
  outputs: z.array(z.strictObject({ name: z.string(), variable: z.string() })),
  /** The task was given secrets: nothing of its output leaves unmasked. */
  secrets: z.boolean().optional(),
  /** Of a task whose script runs on another host. */
  remote: z.strictObject({ host: z.string(), port: z.int() }).optional(),
});
export type Meta = Readonly<z.infer<typeof meta>>;

/** How the script ended. `copied`: all it wrote is in the file; false as long as something holds the output open. */
export type Exit = { readonly code: number; readonly copied: boolean };

export type Journal = {
  /** Undefined when the file is damaged. */
  readonly meta: Meta | undefined;
  /** The supervisor's. */
  readonly pid: number | undefined;
  readonly exit: Exit | undefined;
  readonly isCancelled: boolean;
};

/** The files of a task's folder. */
export const paths = (folder: string) => ({
  journal: join(folder, "journal"),
  script: join(folder, "script.sh"),
  output: join(folder, "output"),
  /** The output as it leaves, and how far it has come; of tasks with secrets only. */
  masked: join(folder, "masked"),
  maskedTo: join(folder, "masked-to"),
  outputs: join(folder, "outputs"),
  work: join(folder, "work"),
  tmp: join(folder, "tmp"),
});

export const journalHead = (entry: Meta): string => `${JSON.stringify(entry)}\n`;

export function readJournal(folder: string): Journal {
  return parseJournal(readIfThere(paths(folder).journal));
}

/** A last line without its newline is still being written, and not read. */
export function parseJournal(text: string): Journal {
  const [head = "", ...words] = text.split("\n").slice(0, -1);
  const number = (word: string): number | undefined => {
    const line = words.find((candidate) => candidate.startsWith(`${word} `))?.slice(word.length + 1);
    return line !== undefined && /^\d{1,10}$/.test(line) ? Number(line) : undefined;
  };
  const code = number("exit");
  return {
    meta: parseHead(head),
    pid: number("pid"),
    exit: code === undefined ? undefined : { code: code & 255, copied: number("copied") !== undefined },
    isCancelled: words.includes("cancelled"),
  };
}

function parseHead(head: string): Meta | undefined {
  try {
    return meta.safeParse(JSON.parse(head)).data;
  } catch {
    return undefined;
  }
}

/** Kept, so that the next delegate carries on with the stopping. */
export const noteCancelled = (folder: string): void => appendFileSync(paths(folder).journal, "cancelled\n");

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "";
    throw error;
  }
}
