/**
 * Descriptors that whoever started the delegate left open without a word, as
 * `exec 200>lock; npm start` does. Each step would get them: it could write
 * there, and would hold the lock that stands behind one.
 *
 * Everything that Node opens itself is closed on exec; these are not, which is
 * how they came here.
 */
import { closeSync, readdirSync, readFileSync } from "node:fs";
import { codeOf } from "../fault.ts";

/** In the kernel's octal `flags`. */
const O_CLOEXEC = 0o2_000_000;
/** Below it stand the three that steps do not get either: each has its own. */
const FIRST_FD = 3;

/** Closes them. To be called first of all. */
export function closeInheritedDescriptors(): void {
  if (process.platform !== "linux") return;
  for (const fd of readdirSync("/proc/self/fd").map(Number)) if (fd >= FIRST_FD && isInherited(fd)) close(fd);
}

function isInherited(fd: number): boolean {
  // A parent that speaks with us through Node's own channel means it.
  if (process.channel && "fd" in process.channel && process.channel.fd === fd) return false;
  try {
    const [, flags] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8")) ?? [];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch (error) {
    // The one that listed the folder is closed by now.
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

function close(fd: number): void {
  try {
    closeSync(fd);
  } catch (error) {
    // The kernel may tell of an earlier failed write; closed it is nevertheless.
    if (codeOf(error) === "EBADF") throw error;
  }
}
