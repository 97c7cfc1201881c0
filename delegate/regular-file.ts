/**
 * Opens files that a step may have replaced: where the kernel refuses name spaces, steps of an ordinary user have the
 * delegate's user. A pipe would block the delegate for ever, and a link would lead elsewhere.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
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
 * Whether the path leads to nothing that this user can open, or not to a file: a step can cause each of these errors.
 */
export const isUnusablePath = (error: unknown): boolean =>
  ["ENOENT", "EACCES", "EISDIR", "ELOOP", "ENOTDIR", "ENXIO"].includes(codeOf(error) ?? "");

/**
 * Opens a file without following a link or waiting for a pipe. Undefined: it is missing, closed to this user or no
 * regular file.
 * @throws the system's error
 */
export function openRegular(
  path: string,
  access = O_RDONLY,
): { readonly fd: number; readonly stat: Stats } | undefined {
  let fd: number;
  try {
    fd = openSync(path, access | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (isUnusablePath(error)) return undefined;
    throw error;
  }
  const stat = fstatSync(fd);
  if (stat.isFile()) return { fd, stat };
  closeSync(fd);
  return undefined;
}

/** Undefined as for `openRegular`. @throws the system's error */
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

/** Shortens a file. What `openRegular` does not open stays as it is. @throws the system's error */
export function truncateFile(path: string, length: number): void {
  const opened = openRegular(path, O_WRONLY);
  if (!opened) return;
  try {
    ftruncateSync(opened.fd, length);
  } finally {
    closeSync(opened.fd);
  }
}

/**
 * Replaces a file by a new one in one rename, so that no reader sees a part of it. A folder in its place is moved
 * aside; that folder, and the new file of a process that was killed, stay as `<path>.<random>`.
 * @throws the system's error
 */
export function replaceFile(path: string, text: string): void {
  const randomPath = (): string => `${path}.${randomBytes(9).toString("base64url")}`;
  const prepared = randomPath();
  try {
    writeFileSync(prepared, text, { mode: 0o600, flag: "wx" });
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) renameSync(path, randomPath());
    renameSync(prepared, path);
  } catch (error) {
    rmSync(prepared, { force: true });
    throw error;
  }
}
