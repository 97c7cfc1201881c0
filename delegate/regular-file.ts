/**
 * Opens files that a step may have replaced: where the kernel refuses name spaces, steps of an ordinary user have the
 * delegate's user. A pipe would block the delegate for ever, and a link would lead elsewhere.
 */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
  writeSync,
} from "node:fs";
import { codeOf } from "./fault.ts";

const { O_RDONLY, O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * Opens a file for reading without following a link or waiting for a pipe. Undefined: it is missing or no regular file.
 * @throws the system's error
 */
export function openRegular(path: string): { readonly fd: number; readonly stat: Stats } | undefined {
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    // Missing; a link; a socket.
    if (["ENOENT", "ELOOP", "ENXIO"].includes(codeOf(error) ?? "")) return undefined;
    throw error;
  }
  const stat = fstatSync(fd);
  if (stat.isFile()) return { fd, stat };
  closeSync(fd);
  return undefined;
}

/** Undefined: the file is missing or no regular file. @throws the system's error */
export function readRegularFile(path: string): Buffer | undefined {
  const opened = openRegular(path);
  if (!opened) return undefined;
  try {
    return readFileSync(opened.fd);
  } finally {
    closeSync(opened.fd);
  }
}

/** As `readRegularFile`, up to `limit` bytes. Undefined also after a system's error. */
export function readLimitedFile(path: string, limit: number): Buffer | "tooLarge" | undefined {
  try {
    const opened = openRegular(path);
    if (!opened) return undefined;
    const { fd, stat } = opened;
    try {
      if (stat.size > limit) return "tooLarge";
      const bytes = Buffer.alloc(stat.size);
      return bytes.subarray(0, readSync(fd, bytes, 0, stat.size, 0));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}

/**
 * Opens a file without following a link or waiting for a pipe. A new file has mode 0600.
 * @param flags for example `O_WRONLY | O_CREAT`
 * @throws the system's error, or when it is no regular file
 */
export function openForWriting(path: string, flags: number): number {
  const fd = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o600);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new Error(`${path} is no regular file`);
}

/** Appends all bytes or, after an error, none. @throws as `openForWriting` */
export function appendToFile(path: string, bytes: Buffer): void {
  const fd = openForWriting(path, O_WRONLY | O_APPEND | O_CREAT);
  try {
    const { size } = fstatSync(fd);
    try {
      for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
    } catch (error) {
      ftruncateSync(fd, size);
      throw error;
    }
  } finally {
    closeSync(fd);
  }
}

/** Shortens a file; a missing one stays missing. @throws as `openForWriting` */
export function truncateFile(path: string, length: number): void {
  let fd: number;
  try {
    fd = openForWriting(path, O_WRONLY);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  try {
    ftruncateSync(fd, length);
  } finally {
    closeSync(fd);
  }
}

/** The file that `replaceFile` renames. */
export const temporaryOf = (path: string): string => `${path}.new`;

/** Replaces a file by a new one in one rename, so that no reader sees a part of it. @throws the system's error */
export function replaceFile(path: string, text: string): void {
  const temporary = temporaryOf(path);
  rmSync(temporary, { recursive: true, force: true });
  writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
  renameSync(temporary, path);
}
