/**
 * Reads files that a step may have replaced: where the kernel refuses name spaces, steps of an ordinary user have the
 * delegate's user. A pipe would block the delegate for ever, and a link would lead elsewhere.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { codeOf } from "./fault.ts";

/**
 * Opens a file without following a link or waiting for a pipe. Undefined: it is missing or no regular file.
 * @throws the system's error
 */
export function openRegular(path: string): { readonly fd: number; readonly stat: Stats } | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
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

/** @throws the system's error */
export function readRegularFile(path: string): Buffer | undefined {
  const opened = openRegular(path);
  if (!opened) return undefined;
  try {
    return readFileSync(opened.fd);
  } finally {
    closeSync(opened.fd);
  }
}
