/** Copies what a step writes from its pipe into its file, which only the launcher's user can open. */
import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { Socket } from "node:net";

export type Copy = {
  /** Takes what is in the pipe now. True: every writer has closed it, and the copy has ended. */
  readonly drain: () => boolean;
  /** Takes what is in the pipe now, and nothing after that: later writes fail with EPIPE. */
  readonly close: () => void;
};

export type CopyEvents = {
  /** Once: the file lacks what comes from now on. The step goes on. `code`: the system's, as in ENOSPC. */
  readonly cut: (code: string) => void;
  /** Once: every writer has closed the pipe, or `close` was called. All is in the file, as far as it was not cut. */
  readonly ended: () => void;
};

const BUFFER = 64 * 1024;
/** Shared: between a read and the write of its bytes nothing else runs. */
const buffer = Buffer.allocUnsafeSlow(BUFFER);

/** @param pipe a descriptor of its own, not blocking; closed by the copy */
export function copyOutput(pipe: number, file: string, events: CopyEvents): Copy {
  let output: number | undefined;
  let isCut = false;
  let isOver = false;

  /** The one place that decides what reaches the file. */
  const put = (length: number): void => {
    if (isCut) return;
    try {
      output ??= openOutput(file);
      for (let done = 0; done < length;) done += writeSync(output, buffer, done, length - done);
    } catch (error) {
      isCut = true;
      events.cut(codeOf(error));
    }
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
        put(length);
        return true;
      },
    },
  });
  socket.on("end", end).on("error", end).on("close", end);

  const drain = (): boolean => {
    while (!isOver) {
      const length = readNow(pipe);
      if (length === undefined) return false;
      if (length === 0) end();
      else put(length);
    }
    return true;
  };

  return {
    drain,
    close: () => {
      drain();
      end();
    },
  };
}

/** Made with the first output: a silent step needs none. */
const openOutput = (file: string): number =>
  openSync(file, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);

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
