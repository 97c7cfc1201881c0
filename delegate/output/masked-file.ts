/**
 * The file `masked`, and `masked-to`, which stores the progress in the step's output and in `masked`. The progress is
 * written after the masked bytes and before they are sent: bytes beyond it after a kill -9 were never sent.
 */
import { closeSync, constants, openSync, truncateSync, writeSync } from "node:fs";
import { codeOf, FullDiskError } from "../fault.ts";
import { readRegularFile } from "../regular-file.ts";
import { paths } from "../task-folder/paths.ts";

export type MaskedFile = {
  /** Bytes of the step's output that are in the file. */
  readonly consumed: () => number;
  /** Appends bytes that stand for the output up to `upTo`. @throws the system's error; then `restore` is called first */
  readonly append: (bytes: Buffer, upTo: number) => void;
  /** Reads the recorded progress, and removes bytes beyond it. @throws the system's error */
  readonly restore: () => void;
};

/** @throws the system's error */
export function openMaskedFile(folder: string): MaskedFile {
  const at = paths(folder);
  let progress = readProgress(folder);
  return {
    consumed: () => progress.consumed,
    append: (bytes, upTo) => {
      append(at.masked, bytes);
      const next = { consumed: upTo, length: progress.length + bytes.length };
      writeProgress(at.maskedTo, next);
      progress = next;
    },
    restore: () => {
      progress = readProgress(folder);
    },
  };
}

type Progress = { readonly consumed: number; readonly length: number };

/** Fails instead of waiting for the reader of a pipe. */
const WRITE = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const WIDTH = 16;
/** Whole: a full disk may leave a part of the first progress, and then nothing was masked before. */
const PROGRESS = new RegExp(`^(?=.{${2 * WIDTH + 1}}$) *(\\d+) +(\\d+)$`);

/** Truncates masked bytes beyond the progress. */
function readProgress(folder: string): Progress {
  const at = paths(folder);
  const [, consumed = 0, length = 0] = (PROGRESS.exec(textIn(at.maskedTo)) ?? []).map(Number);
  try {
    truncateSync(at.masked, length);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
  return { consumed, length };
}

const textIn = (file: string): string => readRegularFile(file)?.toString("latin1") ?? "";

function append(file: string, bytes: Buffer): void {
  const fd = openSync(file, WRITE | constants.O_APPEND, 0o600);
  try {
    for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
  } finally {
    closeSync(fd);
  }
}

/** Writes a fixed length in one call, so that a whole file stays whole. */
function writeProgress(file: string, { consumed, length }: Progress): void {
  const text = `${String(consumed).padStart(WIDTH)} ${String(length).padStart(WIDTH)}`;
  const fd = openSync(file, WRITE, 0o600);
  try {
    if (writeSync(fd, text, 0) < text.length) throw new FullDiskError("there is no space for the progress");
  } finally {
    closeSync(fd);
  }
}
