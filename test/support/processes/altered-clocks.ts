/**
 * Clocks of a program under test that differ from the real ones, for example a replica whose clock is ahead, a wall
 * clock that is set while the program runs, or a long pause. Pass `env` to `startServer` or `startProgram`. The local
 * delegate of that server keeps the real clocks.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { AlteredTime } from "./altered-time.ts";

const PRELOADED = fileURLToPath(new URL("altered-time.ts", import.meta.url));

export type AlteredClocks = {
  readonly env: Readonly<Record<string, string>>;
  /** Changes the clocks of a running program. The change is in effect once the program has handled SIGUSR2. */
  readonly set: (pid: number | undefined, changes: Partial<Omit<AlteredTime, "factor">>) => void;
};

/** `file` stores the state of the clocks. Use one file for each program. */
export function alterClocks(file: string, start: Partial<AlteredTime> = {}): AlteredClocks {
  let current: AlteredTime = { factor: 1, wallMs: 0, pausedMs: 0, ...start };
  const write = (): void => writeFileSync(file, JSON.stringify(current));
  write();
  return {
    env: { ALTERED_TIME: file, NODE_OPTIONS: `--import=${PRELOADED}` },
    set: (pid, changes) => {
      current = { ...current, ...changes };
      write();
      if (pid === undefined) throw new Error("The program is not running. Start it before you change its clocks.");
      process.kill(pid, "SIGUSR2");
    },
  };
}
