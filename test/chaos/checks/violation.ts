/** The checks of a run and their violations. */
export const CHECKS = {
  accepted: "each acknowledged start and webhook has one execution",
  ended: "each execution has ended",
  once: "no attempt has started twice",
  final: "no final state has changed",
  log: "each byte of a log is there once and in order",
  outcome: "no step has failed for what was done to others",
  nodes: "each node has ended before the one around it, and has a path of its own",
  decisions: "each accepted approval and intervention counts exactly once",
  pauses: "nothing starts in a pause",
  exclusive: "a lock has one holder at a time",
  times: "no step ends too early or before its beginning, and no step starts too early",
  processes: "no process of a step is left",
  folders: "no folder of a task is left, on disk or in memory",
  rows: "no open task, timer, lock, approval or delivery is left",
  locks: "no lock or transaction is left",
  slots: "each delegate has all its slots",
  crashes: "no program has ended by itself",
  refusals: "no request was refused",
} as const;
export type Check = keyof typeof CHECKS;

export type Violation = {
  readonly check: Check;
  /** An execution, by id and number, or another object. */
  readonly of: string;
  readonly expected: string;
  readonly seen: string;
};

const MAX_TEXT = 600;

export const violation = (check: Check, of: string, seen: string, expected = "nothing"): Violation => ({
  check,
  of,
  expected,
  seen: seen.length > MAX_TEXT ? `${seen.slice(0, MAX_TEXT)}…` : seen,
});
