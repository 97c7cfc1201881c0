/**
 * Descriptors that the program which started the delegate left open, as
 * `exec 200>lock; npm start` does. Each step would inherit them: it could write
 * to the files and would hold their locks.
 *
 * Descriptors that Node opens itself are closed on exec; inherited ones are not,
 * which identifies them.
 */
import { closeSync, readdirSync, readFileSync } from "node:fs";
import { codeOf } from "../fault.ts";

/** In the kernel's octal `flags`. */
const O_CLOEXEC = 0o2_000_000;
/** Standard input, output and error are below it; each step has its own. */
const FIRST_FD = 3;

/** Closes the inherited descriptors. The program calls it before anything else. */
export function closeInheritedDescriptors(): void {
  if (process.platform !== "linux") return;
  for (const fd of readdirSync("/proc/self/fd").map(Number)) if (fd >= FIRST_FD && isInherited(fd)) close(fd);
}

function isInherited(fd: number): boolean {
  // The channel to a parent process of Node is intended.
  if (process.channel && "fd" in process.channel && process.channel.fd === fd) return false;
  try {
    const [, flags] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8")) ?? [];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch (error) {
    // The descriptor that listed the folder is closed.
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

function close(fd: number): void {
  try {
    closeSync(fd);
  } catch (error) {
    // The kernel may report an earlier failed write; the descriptor is closed nevertheless.
    if (codeOf(error) === "EBADF") throw error;
  }
}
