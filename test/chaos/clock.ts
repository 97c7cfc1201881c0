/**
 * Loaded into a server or a delegate before its own code (`--import`): its time of day is ahead of the machine's by the
 * milliseconds in the file that CHAOS_CLOCK names, as if somebody had set the machine's clock. Timers and
 * `performance.now()` go on as they are, as they do then. Only the chaos program starts processes so.
 */
import { readFileSync } from "node:fs";

const LOOK_MS = 100;
const file = process.env["CHAOS_CLOCK"];

if (file !== undefined) {
  const RealDate = Date;
  let ahead = 0;
  const look = (): void => {
    try {
      ahead = Number(readFileSync(file, "utf8")) || 0;
    } catch {
      // Not written yet: the clock is right.
    }
  };
  look();
  setInterval(look, LOOK_MS).unref();
  const now = (): number => RealDate.now() + ahead;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, given: ConstructorParameters<typeof Date> | [], newTarget) =>
      Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget as never),
    apply: () => new RealDate(now()).toString(),
    get: (target, name, receiver) => (name === "now" ? now : (Reflect.get(target, name, receiver) as unknown)),
  });
}
