/**
 * Ends every process of one user in a single system call: kill(2) with pid -1
 * signals all that the caller may signal, under the lock that fork takes, so
 * that no chain of processes that fork and exit can slip through. It takes no
 * process of its own.
 *
 * The launcher's real user is one that nothing else has, its effective and its
 * saved user are root. For the call it takes the step's user as its effective
 * one: it may signal that user's processes and no others, since the kernel
 * asks for the real and the effective user of the sender. They cannot signal
 * it: for that the kernel asks for its real and its saved user.
 */
import { readFileSync } from "node:fs";

/** @throws when the process does not have exactly these rights, or the system's error */
export function killUser(uid: number): void {
  const { seteuid, geteuid, getuid } = process;
  if (!seteuid || !geteuid || !getuid) throw new Error("this system has no user ids");
  const own = getuid();
  if (own === 0 || own === uid || uid === 0) throw new Error("the launcher's own user is not apart from the step's");
  seteuid(uid);
  try {
    // With any right beyond the user's this would end the machine.
    if (geteuid() !== uid || getuid() !== own || !hasNoCapability()) throw new Error("the user could not be taken");
    process.kill(-1, "SIGKILL");
  } finally {
    seteuid(0);
  }
}

const hasNoCapability = (): boolean => /^CapEff:\t0+$/m.test(readFileSync("/proc/thread-self/status", "latin1"));
