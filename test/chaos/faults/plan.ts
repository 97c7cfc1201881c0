/** The plan of the faults of a run. It depends only on seed and length, so that a failed run can be repeated. */
import {
  CLOCKED_DELEGATE,
  CLOCKED_SERVER,
  DELEGATES,
  LINKS,
  SERVERS,
  SMALL_DISK,
  type DelegateName,
  type LinkName,
  type ProcessName,
} from "../names.ts";
import type { LinkMode } from "../platform/proxy.ts";
import type { Random } from "../random.ts";

export type FaultAction =
  /** SIGKILL, and a start after `seconds`. */
  | { readonly kind: "kill"; readonly target: ProcessName }
  /** SIGTERM, and a start after `seconds`. */
  | { readonly kind: "restart"; readonly target: ProcessName }
  /** SIGSTOP, and SIGCONT after `seconds`. */
  | { readonly kind: "stop"; readonly target: ProcessName | "database" }
  | { readonly kind: Exclude<LinkMode, "pass">; readonly target: LinkName }
  /** SIGKILL for all processes of PostgreSQL, or for one of its backends. PostgreSQL restarts by itself. */
  | { readonly kind: "kill database" | "kill backend"; readonly target: "database" }
  /** The clock of the process jumps by this number of minutes and stays there until the next jump; 0 resets it. */
  | { readonly kind: "clock"; readonly target: ProcessName; readonly minutes: number }
  /** The same for the delegate's launcher, the process that starts steps and copies their output. */
  | { readonly kind: "kill launcher" | "stop launcher"; readonly target: DelegateName }
  /** The file system of its work folder is full for `seconds`. */
  | { readonly kind: "fill disk"; readonly target: DelegateName }
  /**
   * The delegate is down for `seconds`. During this time its identity connects and reports every lease with a wrong
   * epoch.
   */
  | { readonly kind: "wrong epochs"; readonly target: DelegateName };

/** `at` and `seconds` are seconds; `at` counts from the start of the load. */
export type Fault = FaultAction & { readonly at: number; readonly seconds: number };

export type PlanOptions = {
  readonly seconds: number;
  readonly random: Random;
  /** False leaves out the full disk, which needs a separate file system and therefore root. */
  readonly canMount: boolean;
};

/** Shorter runs have no outage beyond the time after which delegates count as lost. */
const LONG_RUN = 110;
const MAX_OUTAGE = 120;
/** Runs of at least this number of seconds have several such outages, including those of delegates. */
const MANY = 480;
/** No fault begins or lasts in this time before the end of the run. */
const END = 2;
const APART = 3;
/** Longer than the minute after which a server counts a delegate as lost. */
const LONG_OUTAGE = [66, 72] as const;

/** Uses each kind of fault in turn, in a random order and on random targets. Faults of different targets overlap. */
export function createPlan({ seconds, random, canMount }: PlanOptions): readonly Fault[] {
  const faults: Fault[] = [];
  const clocks = new Map<string, number>();
  const add = (at: number, action: FaultAction, wanted: number): void => {
    const lasting = Math.min(wanted, seconds - END - at);
    const fault = { at, seconds: lasting, ...action };
    if (lasting >= 0 && !faults.some((other) => overlaps(fault, other))) faults.push(fault);
  };
  /** Each jump is one hour: from an hour ahead or behind back to the correct time. */
  const jump = (target: typeof CLOCKED_SERVER | typeof CLOCKED_DELEGATE): FaultAction => {
    const minutes = (clocks.get(target) ?? 0) === 0 ? random.pick([-60, 60]) : 0;
    clocks.set(target, minutes);
    return { kind: "clock", target, minutes };
  };
  const [low, high] = seconds < MANY ? LONG_OUTAGE : [LONG_OUTAGE[0], MAX_OUTAGE];
  for (let at = random.between(8, 14); seconds >= LONG_RUN && at + high < seconds - END;) {
    const length = random.between(low, high);
    add(at, longOutage(random, seconds), length);
    at += length + random.between(20, 60);
  }
  let queue: readonly Choice[] = [];
  for (let at = 4; at < seconds - 6; at += random.between(2, 6)) {
    if (queue.length === 0) {
      const clocked: readonly Choice[] = [() => jump(CLOCKED_SERVER), () => jump(CLOCKED_DELEGATE)];
      queue = random.shuffle([...usual, ...clocked, ...(canMount ? [fillDisk] : [])]);
    }
    const [next, ...others] = queue;
    queue = others;
    if (next) add(at, next(random), random.between(1, 12));
  }
  return faults.toSorted((a, b) => a.at - b.at);
}

/** Two faults of one target keep a distance, in which the target recovers. A clock may jump at any time. */
function overlaps(fault: Fault, other: Fault): boolean {
  if (fault.kind === "clock" || other.kind === "clock" || fault.target !== other.target) return false;
  return fault.at < other.at + other.seconds + APART && other.at < fault.at + fault.seconds + APART;
}

type Choice = (random: Random) => FaultAction;

const link =
  (kind: Exclude<LinkMode, "pass">): Choice =>
  (random) => ({ kind, target: random.pick(LINKS) });
const fillDisk: Choice = () => ({ kind: "fill disk", target: SMALL_DISK });
const usual: readonly Choice[] = [
  (random) => ({ kind: "kill", target: random.pick(SERVERS) }),
  (random) => ({ kind: "kill", target: random.pick(SERVERS) }),
  (random) => ({ kind: "kill", target: random.pick(DELEGATES) }),
  (random) => ({ kind: "kill", target: random.pick(DELEGATES) }),
  (random) => ({ kind: "restart", target: random.pick([...SERVERS, ...DELEGATES]) }),
  (random) => ({ kind: "stop", target: random.pick(SERVERS) }),
  (random) => ({ kind: "stop", target: random.pick(DELEGATES) }),
  () => ({ kind: "stop", target: "database" }),
  () => ({ kind: "kill database", target: "database" }),
  () => ({ kind: "kill backend", target: "database" }),
  (random) => ({ kind: "kill launcher", target: random.pick(DELEGATES) }),
  (random) => ({ kind: "stop launcher", target: random.pick(DELEGATES) }),
  link("cut"),
  link("cut"),
  link("stall"),
  link("blackhole"),
  (random) => ({ kind: "wrong epochs", target: random.pick(DELEGATES) }),
];

/** Short runs have one long outage, not of a delegate. Its steps must survive it. */
function longOutage(random: Random, seconds: number): FaultAction {
  const others: readonly Choice[] = [
    () => ({ kind: "stop", target: "database" }),
    () => ({ kind: "stop", target: random.pick(SERVERS) }),
    () => ({ kind: "stall", target: `${random.pick(SERVERS)} database` }),
  ];
  const own: readonly Choice[] = [
    () => ({ kind: "stop", target: random.pick(DELEGATES) }),
    () => ({ kind: "stall", target: `${random.pick(DELEGATES)} link` }),
    () => ({ kind: "blackhole", target: `${random.pick(DELEGATES)} link` }),
    () => ({ kind: "kill", target: random.pick(DELEGATES) }),
  ];
  return random.pick(seconds < MANY ? others : [...others, ...own])(random);
}

export function describeFault(fault: Fault): string {
  const lasting = fault.kind === "clock" || fault.seconds === 0 ? "" : ` for ${fault.seconds} s`;
  switch (fault.kind) {
    case "clock":
      return fault.minutes === 0
        ? `clock of ${fault.target} right`
        : `clock of ${fault.target} by ${fault.minutes} min`;
    case "kill database":
    case "kill backend":
      return fault.kind;
    case "kill launcher":
      return `${fault.kind} of ${fault.target}`;
    case "stop launcher":
      return `${fault.kind} of ${fault.target}${lasting}`;
    case "kill":
    case "restart":
      return `${fault.kind} ${fault.target}, down${lasting}`;
    case "stop":
    case "cut":
    case "stall":
    case "blackhole":
    case "fill disk":
    case "wrong epochs":
      return `${fault.kind} ${fault.target}${lasting}`;
  }
}
