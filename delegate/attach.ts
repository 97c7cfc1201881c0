/** After a restart of the delegate: what became of a task found in the work folder. */
import type { Exit, Journal } from "./journal.ts";
import { COOKIE_NAME } from "./members.ts";
import { environmentHas, livingProcesses, type ProcessInfo, processInfo } from "./processes.ts";

export type Facts = {
  /** The journal can be read. */
  readonly hasMeta: boolean;
  readonly isSameBoot: boolean;
  readonly isCancelled: boolean;
  readonly exit: Exit | undefined;
  readonly pidRecorded: boolean;
  readonly supervisorAlive: boolean;
};

/** `end`: collect what there is; without a recorded status the task is lost, for the reason given. */
export type Decision =
  | { readonly kind: "watch" }
  | { readonly kind: "cancel" }
  | { readonly kind: "end"; readonly lostBecause: string };

export const VANISHED = "The script's runner vanished without leaving a status.";
const NEVER_STARTED = "The delegate was stopped before it could start the script.";
const DAMAGED = "The record of the task in the delegate's work folder is damaged.";
const RESTARTED = "The machine was restarted while the script was running.";

export function decide(facts: Facts): Decision {
  // A status recorded after the mark may be the TERM's doing: the server asked for the end and gets it.
  if (facts.isCancelled) return { kind: "cancel" };
  if (facts.exit) return { kind: "end", lostBecause: VANISHED };
  if (facts.supervisorAlive) return { kind: "watch" };
  if (!facts.hasMeta) return { kind: "end", lostBecause: DAMAGED };
  if (!facts.isSameBoot) return { kind: "end", lostBecause: RESTARTED };
  return { kind: "end", lostBecause: facts.pidRecorded ? VANISHED : NEVER_STARTED };
}

export type Supervisor = { readonly pid: number; readonly startTime: string };

/** Looks at what the journal says and at /proc. */
export function examine(
  journal: Journal,
  bootId: string,
): { readonly decision: Decision; readonly supervisor: Supervisor | undefined } {
  const { meta, pid, exit } = journal;
  const isSameBoot = meta?.bootId === bootId;
  const supervisor = meta && isSameBoot ? findSupervisor(pid, meta.cookie) : undefined;
  const decision = decide({
    hasMeta: meta !== undefined,
    isSameBoot,
    isCancelled: journal.isCancelled,
    exit,
    pidRecorded: pid !== undefined,
    supervisorAlive: supervisor !== undefined,
  });
  return { decision, supervisor };
}

/**
 * The cookie tells whether the pid still names our process. When the last
 * delegate was killed between starting the supervisor and its first line, the
 * oldest session leader with the cookie is the supervisor.
 */
function findSupervisor(recorded: number | undefined, cookie: string): Supervisor | undefined {
  const isOurs = (info: ProcessInfo): boolean =>
    !info.isZombie && info.session === info.pid && environmentHas(info.pid, `${COOKIE_NAME}=${cookie}`);
  if (recorded !== undefined) {
    const info = processInfo(recorded);
    return info && isOurs(info) ? info : undefined;
  }
  return livingProcesses(2)
    .filter(isOurs)
    .toSorted((a, b) => Number(a.startTime) - Number(b.startTime))[0];
}
