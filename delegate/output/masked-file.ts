/**
 * Owns the file `masked`, and `masked-to`, which stores the progress in the step's output and in `masked`. The progress
 * is written after the masked bytes and before they are sent: bytes beyond it after a kill -9 were never sent.
 * masked-output.ts decides what is appended, and shipper.ts sends it.
 */
import { closeSync, constants, writeSync } from "node:fs";
import { FullDiskError } from "../fault.ts";
import { appendToFile, openForWriting, readRegularFile, truncateFile } from "../regular-file.ts";
import { paths } from "../task-folder/paths.ts";

export type MaskedFile = {
  /** Bytes of the step's output that are in the file. */
  readonly consumed: () => number;
  /**
   * Appends bytes that stand for the output up to `upTo`. @throws the system's error; then `restore` is called first
   */
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
      appendToFile(at.masked, bytes);
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

const WIDTH = 16;
/** Whole: a full disk may leave a part of the first progress, and then nothing was masked before. */
const PROGRESS = new RegExp(`^(?=.{${2 * WIDTH + 1}}$) *(\\d+) +(\\d+)$`);

/** Truncates masked bytes beyond the progress. */
function readProgress(folder: string): Progress {
  const at = paths(folder);
  const [, consumed = 0, length = 0] = (PROGRESS.exec(textIn(at.maskedTo)) ?? []).map(Number);
  truncateFile(at.masked, length);
  return { consumed, length };
}

const textIn = (file: string): string => readRegularFile(file)?.toString("latin1") ?? "";

/** Writes a fixed length in one call, so that a whole file stays whole. */
function writeProgress(file: string, { consumed, length }: Progress): void {
  const text = `${String(consumed).padStart(WIDTH)} ${String(length).padStart(WIDTH)}`;
  const fd = openForWriting(file, constants.O_WRONLY | constants.O_CREAT);
  try {
    if (writeSync(fd, text, 0) < text.length) throw new FullDiskError("there is no space for the progress");
  } finally {
    closeSync(fd);
  }
}
