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
 * Of one `drain`. A read fills the buffer or empties the pipe, so these read all that a user's pipe can hold: 1 MiB, in at
 * most 256 parts. Processes of a step that refill their pipe faster than it is read must not hold up the launcher: it
 * serves the steps of all tasks.
 */
const MAX_READS = 256;
/** Shared: between a read and the write of its bytes nothing else runs. */
const buffer = Buffer.allocUnsafeSlow(BUFFER);

/**
 * The output file. Output beyond `maxBytes` is read and dropped, and a line at the end of the file reports it. The line at
 * the limit is stored up to 64 KiB beyond it, so that it is not torn.
 */
export type CopyTarget = { readonly file: string; readonly maxBytes: number };

/**
 * @param pipe a descriptor of its own, not blocking; closed by the copy
 * @param maxReads of one `drain`
 */
export function copyOutput(
  pipe: number,
  { file, maxBytes }: CopyTarget,
  events: CopyEvents,
  maxReads = MAX_READS,
): Copy {
  let output: number | undefined;
  let isCut = false;
  let isFull = false;
  let written = 0;
  let last = NEWLINE;
  let isOver = false;

  const write = (bytes: Buffer): void => {
    output ??= openOutput(file);
    for (let done = 0; done < bytes.length;) done += writeSync(output, bytes, done);
    written += bytes.length;
    last = bytes.at(-1) ?? last;
  };

  /** Writes the line about the limit as a whole or not at all: a part of it would hide that the line before it is torn. */
  const writeLimit = (): void => {
    try {
      write(Buffer.from(`${last === NEWLINE ? "" : "\n"}${describeLimit(maxBytes)}`));
    } catch (error) {
      if (output !== undefined) ftruncateSync(output, written);
      throw error;
    }
  };

  /** Appends bytes to the file up to the limit. */
  const append = (length: number): void => {
    if (isCut || isFull) return;
    try {
      const room = maxBytes - written;
      if (length <= room) return write(buffer.subarray(0, length));
      const upTo = endOfLine(Math.max(0, room), length);
      const most = room + MAX_LINE;
      isFull = upTo !== undefined || length >= most;
      write(buffer.subarray(0, Math.min(upTo ?? length, most)));
      if (isFull) writeLimit();
    } catch (error) {
      isCut = true;
      events.cut(codeOf(error));
    }
  };

  /** Index after the newline of the line at the limit; undefined if the line continues. */
  const endOfLine = (limit: number, length: number): number | undefined => {
    if ((limit === 0 ? last : buffer[limit - 1]) === NEWLINE) return limit;
    const newline = buffer.indexOf(NEWLINE, limit);
    return newline === -1 || newline >= length ? undefined : newline + 1;
  };

  const end = (): void => {
    if (isOver) return;
    isOver = true;
    socket.destroy();
    if (output !== undefined) closeSync(output);
    events.ended();
  };

  const socket = new Socket({
    fd: pipe,
    readable: true,
    writable: false,
    onread: {
      buffer,
      callback: (length) => {
        append(length);
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
      else append(length);
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

const describeLimit = (maxBytes: number): string =>
  `${ADDED.cut}${formatSize(maxBytes)}. The rest is not in the log.\n`;

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
