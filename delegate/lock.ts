import { createHash } from "node:crypto";
import { createServer } from "node:net";
import { setTimeout as rest } from "node:timers/promises";
import { codeOf, unable } from "./fault.ts";

/** Gives the lock back; the end of the process, however it comes, does the same. */
export type Release = () => Promise<void>;

/** Another delegate that looks for unused folders holds a lock for an instant. */
const LOOKS = 5;
const BETWEEN_LOOKS_MS = 40;

/** The lock's name in the abstract name space of Linux, without the zero byte in front of it. */
export const lockName = (identity: string): string =>
  `railhead-delegate-${createHash("sha256").update(identity).digest("hex").slice(0, 40)}`;

/**
 * One process per work folder. The lock is a listening socket in the abstract
 * name space of Linux: the kernel gives it to one process and takes it back
 * when that process is gone, kill -9 included, so there is nothing stale to
 * detect. Its name comes from the secret identity, so that no other user can
 * take it first.
 * @throws Fault when another process holds it
 */
export async function lockWorkDir(identity: string, path: string): Promise<Release> {
  for (let look = 1; look <= LOOKS; look++) {
    const release = await tryLock(lockName(identity));
    if (release) return release;
    if (look < LOOKS) await rest(BETWEEN_LOOKS_MS);
  }
  throw unable(`another delegate is running on the work folder ${path}; choose another with --work-dir`);
}

/** Undefined: another process holds it. */
export function tryLock(name: string): Promise<Release | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error) => (codeOf(error) === "EADDRINUSE" ? resolve(undefined) : reject(error)));
    server.listen(`\0${name}`, () => {
      // The lock alone must not keep the program running.
      server.unref();
      resolve(() => new Promise((closed) => server.close(() => closed())));
    });
  });
}
