import { destination, type Logger, pino } from "pino";

/** The part of a pino logger that the delegate uses. */
export type Log = Pick<Logger, "debug" | "info" | "warn" | "error">;

/** JSON lines on standard error, written at once: the program may be killed right after a line. */
export const stderrLog = (): Log => pino({ name: "delegate", level: "info" }, destination({ dest: 2, sync: true }));
