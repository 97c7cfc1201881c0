/** After a restart of the delegate: what became of a task found in the work folder. */
import type { Exit, Journal } from "../task-folder/journal.ts";
import { isAlive } from "../processes/processes.ts";

export type RecoveryFacts = {
  /** The journal can be read. */
  readonly hasMeta: boolean;
  readonly isSameBoot: boolean;
  readonly isCancelled: boolean;
  readonly exit: Exit | undefined;
  /** No launcher has started it, and none can any more. */
  readonly isUnstarted: boolean;
  readonly launcherAlive: boolean;
};

/** `end`: collect what there is; without a recorded status the task is lost, for the reason given. */
export type RecoveryDecision =
  | { readonly kind: "watch" }
  | { readonly kind: "cancel" }
  /** Nothing was started, and nothing can be any more. */
  | { readonly kind: "return"; readonly reason: string }
  | { readonly kind: "end"; readonly lostBecause: string };

export const LAUNCHER_VANISHED = "The script's launcher vanished without leaving a status.";
const NEVER_STARTED = "The delegate was stopped before it could start the script.";
const DAMAGED = "The record of the task in the delegate's work folder is damaged.";
const RESTARTED = "The machine was restarted while the script was running.";

export function decideRecovery(facts: RecoveryFacts): RecoveryDecision {
  // A status recorded after the mark may be the TERM's doing: the server asked for the end and gets it.
  if (facts.isCancelled) return { kind: "cancel" };
  if (facts.exit) return { kind: "end", lostBecause: LAUNCHER_VANISHED };
  if (facts.launcherAlive) return { kind: "watch" };
  if (!facts.hasMeta) return { kind: "end", lostBecause: DAMAGED };
  if (facts.isUnstarted) return { kind: "return", reason: NEVER_STARTED };
  return { kind: "end", lostBecause: facts.isSameBoot ? LAUNCHER_VANISHED : RESTARTED };
}

/** Looks at what the journal says and at /proc. `isUnstarted`: the task was claimed back just now. */
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
