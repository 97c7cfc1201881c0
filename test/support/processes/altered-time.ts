/**
 * Alters what a process reads from its clocks. `altered-clocks.ts` preloads this module into the program under test.
 * The database and other programs keep the real time.
 *
 * ALTERED_TIME names a JSON file, which is read at the start and at each SIGUSR2:
 * - `factor`: how many times faster wall clock, monotonic clock, setTimeout and setInterval run. Read at the start
 *   only.
 * - `wallMs`: milliseconds added to the wall clock only, as when an operator sets it.
 * - `pausedMs`: milliseconds added to both clocks, as after a pause of the process.
 */
import { readFileSync } from "node:fs";

export type AlteredTime = { readonly factor: number; readonly wallMs: number; readonly pausedMs: number };

const file = process.env["ALTERED_TIME"];
if (file !== undefined) alter(file);

function alter(path: string): void {
  const read = (): AlteredTime => JSON.parse(readFileSync(path, "utf8")) as AlteredTime;
  let altered = read();
  const { factor } = altered;
  process.on("SIGUSR2", () => void (altered = read()));

  const RealDate = Date;
  const [realNow, realElapsed] = [RealDate.now, performance.now.bind(performance)];
  const began = realNow();
  const now = (): number => Math.floor(began + (realNow() - began) * factor + altered.wallMs + altered.pausedMs);

  class AlteredDate extends RealDate {
    constructor(...given: unknown[]) {
      super(...((given.length === 0 ? [now()] : given) as [number]));
    }
    static override now(): number {
      return now();
    }
    // Dates that Node creates itself are instances, too.
    static override [Symbol.hasInstance](value: unknown): boolean {
      return Object.prototype.isPrototypeOf.call(RealDate.prototype, value as object);
    }
  }
  globalThis.Date = AlteredDate as DateConstructor;
  performance.now = () => realElapsed() * factor + altered.pausedMs;

  const [realTimeout, realInterval] = [setTimeout, setInterval];
  const faster =
    (real: (work: () => void, ms?: number, ...rest: unknown[]) => NodeJS.Timeout) =>
    (work: () => void, ms = 0, ...rest: unknown[]) =>
      real(work, ms / factor, ...rest);
  globalThis.setTimeout = Object.assign(faster(realTimeout), realTimeout);
  globalThis.setInterval = Object.assign(faster(realInterval), realInterval);
}
