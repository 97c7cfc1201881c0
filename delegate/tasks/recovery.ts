/** Decides after a restart of the delegate how to continue with a task in the work folder. */
import type { Exit, Journal } from "../task-folder/journal.ts";
import { isAlive } from "../processes/processes.ts";

export type RecoveryFacts = {
  /** The journal can be read. */
  readonly hasMeta: boolean;
  readonly isSameBoot: boolean;
  readonly isCancelled: boolean;
  readonly exit: Exit | undefined;
  /** No launcher has started the task, and none can. */
  readonly isUnstarted: boolean;
  readonly launcherAlive: boolean;
};

/** `end`: collect the result; without a recorded status the task is lost, for the reason `lostBecause`. */
export type RecoveryDecision =
  | { readonly kind: "watch" }
  | { readonly kind: "cancel" }
  /** The task was not started, and cannot be. */
  | { readonly kind: "return"; readonly reason: string }
  | { readonly kind: "end"; readonly lostBecause: string };

export const LAUNCHER_VANISHED = "The script's launcher vanished without leaving a status.";
const NEVER_STARTED = "The delegate was stopped before it could start the script.";
export const RECORD_DAMAGED = "The record of the task in the delegate's work folder is damaged.";
const RESTARTED = "The machine was restarted while the script was running.";

export function decideRecovery(facts: RecoveryFacts): RecoveryDecision {
  // A status recorded after the cancellation may be caused by TERM, so the cancellation counts.
  if (facts.isCancelled) return { kind: "cancel" };
  if (facts.exit) return { kind: "end", lostBecause: LAUNCHER_VANISHED };
  if (facts.launcherAlive) return { kind: "watch" };
  if (!facts.hasMeta) return { kind: "end", lostBecause: RECORD_DAMAGED };
  if (facts.isUnstarted) return { kind: "return", reason: NEVER_STARTED };
  return { kind: "end", lostBecause: facts.isSameBoot ? LAUNCHER_VANISHED : RESTARTED };
}

/** Reads the journal and /proc. `isUnstarted`: the task was claimed back by the caller. */
export function examineJournal(journal: Journal, bootId: string, isUnstarted: boolean): RecoveryDecision {
  const { meta, launcher, exit } = journal;
  const isSameBoot = meta?.bootId === bootId;
  return decideRecovery({
    hasMeta: meta !== undefined,
    isSameBoot,
    isCancelled: journal.isCancelled,
    exit,
    isUnstarted: isUnstarted || journal.isUnstarted,
    launcherAlive: isSameBoot && launcher !== undefined && isAlive(launcher),
  });
}
