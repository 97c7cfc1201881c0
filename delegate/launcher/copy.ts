/** Copies what a step writes from its pipe into its file, which only the launcher's user can open. */
import { closeSync, constants, ftruncateSync, readSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { ADDED } from "../task-folder/paths.ts";
import { openForWriting } from "../regular-file.ts";
import { formatSize } from "../size.ts";

export type Copy = {
  /** Reads what the pipe holds at the call. True: every writer has closed it, and the copy has ended. */
  readonly drain: () => boolean;
  /** Reads what the pipe holds at the call and closes it: later writes fail with EPIPE. */
  readonly close: () => void;
};

export type CopyEvents = {
  /** Once: later output is missing in the file. The step continues. `code` of the system, for example ENOSPC. */
  readonly cut: (code: string) => void;
  /** Once: every writer has closed the pipe, or `close` was called. The file is complete, unless it was cut. */
  readonly ended: () => void;
};

const NEWLINE = 0x0a;
const BUFFER = 64 * 1024;
/** Bytes beyond the limit that are stored of the line at the limit. */
const MAX_LINE = 64 * 1024;
/**
 * Of one `drain`. A read fills the buffer or empties the pipe, so these read all that a user's pipe can hold: 1 MiB, in
 * at most 256 parts. Processes of a step that refill their pipe faster than it is read must not hold up the launcher:
 * it serves the steps of all tasks.
 */
const MAX_READS = 256;
/** Shared: between a read and the write of its bytes nothing else runs. */
const buffer = Buffer.allocUnsafeSlow(BUFFER);

/**
 * The output file. Output beyond `maxStepOutput` (bytes) is read and dropped, and a line at the end of the file reports
 * it. The line at the limit is stored up to 64 KiB beyond it, so that it is not torn.
 */
export type CopyTarget = { readonly file: string; readonly maxStepOutput: number };

/** `pipe`: a descriptor of its own, not blocking; the copy closes it. `maxReads`: of one `drain`. */
export type CopySource = { readonly pipe: number; readonly maxReads?: number | undefined };

export function copyOutput(
  { pipe, maxReads = MAX_READS }: CopySource,
  { file, maxStepOutput }: CopyTarget,
  events: CopyEvents,
): Copy {
  const output: Output = {
    file,
    maxStepOutput,
    cut: events.cut,
    descriptor: undefined,
    isCut: false,
    isFull: false,
    written: 0,
    last: NEWLINE,
  };
  let isOver = false;

  const end = (): void => {
    if (isOver) return;
    isOver = true;
    socket.destroy();
    if (output.descriptor !== undefined) closeSync(output.descriptor);
    events.ended();
  };

  const socket = new Socket({
    fd: pipe,
    readable: true,
    writable: false,
    onread: {
      buffer,
      callback: (length) => {
        append(output, length);
        return true;
      },
    },
  });
  socket.on("end", end).on("error", end).on("close", end);

  const drain = (): boolean => {
    for (let reads = 0; !isOver && reads < maxReads; reads += 1) {
      const length = readNow(pipe);
      if (length === undefined) return false;
      if (length === 0) end();
      else append(output, length);
    }
    return isOver;
  };

  return {
    drain,
    close: () => {
      drain();
      end();
    },
  };
}

/** The output file while it is written. */
type Output = CopyTarget & {
  readonly cut: CopyEvents["cut"];
  /** Undefined before the first output. */
  descriptor: number | undefined;
  isCut: boolean;
  /** The limit is reached. */
  isFull: boolean;
  written: number;
  /** The last byte in the file. */
  last: number;
};

/** Appends bytes of the buffer to the file, up to the limit. */
function append(output: Output, length: number): void {
  if (output.isCut || output.isFull) return;
  try {
    const room = output.maxStepOutput - output.written;
    if (length <= room) return write(output, buffer.subarray(0, length));
    const upTo = endOfLine(output.last, Math.max(0, room), length);
    const most = room + MAX_LINE;
    output.isFull = upTo !== undefined || length >= most;
    write(output, buffer.subarray(0, Math.min(upTo ?? length, most)));
    if (output.isFull) writeLimit(output);
  } catch (error) {
    output.isCut = true;
    output.cut(codeOf(error));
  }
}

function write(output: Output, bytes: Buffer): void {
  output.descriptor ??= openOutput(output.file);
  for (let done = 0; done < bytes.length;) done += writeSync(output.descriptor, bytes, done);
  output.written += bytes.length;
  output.last = bytes.at(-1) ?? output.last;
}

/**
 * Writes the line about the limit as a whole or not at all: a part of it would hide that the line before it is torn.
 */
function writeLimit(output: Output): void {
  try {
    write(output, Buffer.from(`${output.last === NEWLINE ? "" : "\n"}${describeLimit(output.maxStepOutput)}`));
  } catch (error) {
    if (output.descriptor !== undefined) ftruncateSync(output.descriptor, output.written);
    throw error;
  }
}

/**
 * Index in the buffer after the newline of the line at the limit; undefined if the line continues.
 * @param last the byte before the buffer
 */
function endOfLine(last: number, limit: number, length: number): number | undefined {
  if ((limit === 0 ? last : buffer[limit - 1]) === NEWLINE) return limit;
  const newline = buffer.indexOf(NEWLINE, limit);
  return newline === -1 || newline >= length ? undefined : newline + 1;
}

const describeLimit = (maxStepOutput: number): string =>
  `${ADDED.cut}${formatSize(maxStepOutput)}. The rest is not in the log.\n`;

/** Creates the file with the first output: a silent step needs none. */
const openOutput = (file: string): number =>
  openForWriting(file, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);

/** Bytes read into the buffer; 0 at the end; undefined when there is nothing now. */
function readNow(pipe: number): number | undefined {
  try {
    return readSync(pipe, buffer, 0, BUFFER, null);
  } catch (error) {
    if (codeOf(error) === "EAGAIN") return undefined;
    throw error;
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "EIO";
