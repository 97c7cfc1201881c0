/**
 * Clocks of programs under test that differ from the real ones: a replica that is ahead, a wall clock that is set while the
 * program runs, a pause that lasts longer than a test should. `env` goes into the environment of the program
 * (`startServer`, `startProgram`); the local delegate gets none of it.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { AlteredTime } from "./altered-time.ts";

const PRELOADED = fileURLToPath(new URL("altered-time.ts", import.meta.url));

export type AlteredClocks = {
  readonly env: Readonly<Record<string, string>>;
  /** Changes the clocks of a running program; in effect once it handles the signal. */
  readonly set: (pid: number | undefined, changes: Partial<Omit<AlteredTime, "factor">>) => void;
};

/** `file` holds the clocks' state: one for each program whose clocks change. */
export function alterClocks(file: string, start: Partial<AlteredTime> = {}): AlteredClocks {
  let current: AlteredTime = { factor: 1, wallMs: 0, pausedMs: 0, ...start };
  const write = (): void => writeFileSync(file, JSON.stringify(current));
  write();
  return {
    env: { ALTERED_TIME: file, NODE_OPTIONS: `--import=${PRELOADED}` },
    set: (pid, changes) => {
      current = { ...current, ...changes };
      write();
      if (pid === undefined) throw new Error("the program whose clocks should change does not run");
      process.kill(pid, "SIGUSR2");
    },
  };
}
