import { createHash } from "node:crypto";
import { createServer } from "node:net";
import { codeOf, unable } from "./fault.ts";

/** Gives the lock back; the end of the process, however it comes, does the same. */
export type Release = () => Promise<void>;

/**
 * One process per work folder. The lock is a listening socket in the abstract
 * name space of Linux: the kernel gives it to one process and takes it back
 * when that process is gone, kill -9 included, so there is nothing stale to
 * detect. Its name comes from the secret identity, so that no other user can
 * take it first.
 * @throws Fault when another process holds it
 */
export function lockWorkDir(identity: string, path: string): Promise<Release> {
  const name = `\0railhead-delegate-${createHash("sha256").update(identity).digest("hex").slice(0, 40)}`;
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error) => {
      const taken = codeOf(error) === "EADDRINUSE";
      reject(
        taken
          ? unable(`another delegate is running on the work folder ${path}; choose another with --work-dir`)
          : error,
      );
    });
    server.listen(name, () => {
      // The lock alone must not keep the program running.
      server.unref();
      resolve(() => new Promise((closed) => server.close(() => closed())));
    });
  });
}
