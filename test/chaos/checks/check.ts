/** Checks executions, as functions of the requests, the outages and the stored data. */
import { toWire } from "../../../src/core/ids.ts";
import type { ExecutionFacts, StepFacts } from "./facts.ts";
import type { Request } from "../load/load.ts";
import type { DelegateName } from "../names.ts";
import { endsOf, TIMEOUT_SECONDS, type Kinds, type KindPlan, type StepPlan } from "../load/kinds.ts";
import { longestOutage, type Outage } from "../timeline.ts";
import { violation, type Check, type Violation } from "./violation.ts";
import { checkDecisions, checkNodes, checkPause } from "./flow.ts";
import { FINAL, type SeenEnd } from "./watch.ts";

export type Evidence = {
  readonly kinds: Kinds;
  readonly requests: ReadonlyMap<number, Request>;
  readonly outages: readonly Outage[];
  readonly ends: ReadonlyMap<string, SeenEnd>;
  /** Times of the starts of each step, by `<number> <step>`. */
  readonly starts: ReadonlyMap<string, readonly number[]>;
};

/**
 * A step may be lost once its own delegate was away for this time without interruption. Servers count a minute from the
 * last heartbeat, which may be ten seconds old when the delegate goes away.
 */
const MAY_BE_LOST_MS = 45_000;
/** A step with one of these ends has all its output. */
const WHOLE: ReadonlySet<string> = new Set(["succeeded", "failed", "ignored"]);
/** Time that a delegate needs to return: its longest pause between two attempts, and a hello. */
const RETURN_MS = 15_000;
/** Faults of a delegate that interrupt its connection. */
const AWAY: ReadonlySet<string> = new Set(["kill", "restart", "stop", "wrong epochs"]);
/** A failure caused by a fault may be reported within this time after the fault. */
const TOUCHED_MS = 15_000;

export const nameOf = ({ id, number }: Pick<ExecutionFacts, "id" | "number">): string =>
  `execution ${toWire(id)} (number ${number ?? "unknown"})`;

/** Returns all violations of one execution. */
export function checkExecution(execution: ExecutionFacts, evidence: Evidence): readonly Violation[] {
  const of = nameOf(execution);
  const request = evidence.requests.get(execution.number ?? 0);
  if (!request) return [violation("accepted", of, "no request has its number", "an execution that a request started")];
  const gaps = execution.gaps.map((gap) => violation("log", of, gap, "chunks that follow one another"));
  if (!FINAL.has(execution.status)) {
    const seen = `${execution.status}; ${stepsText(execution)}`;
    return [...gaps, violation("ended", of, seen, "a final status")];
  }
  const kind = evidence.kinds[request.kind];
  const end = evidence.ends.get(execution.id);
  const steps = checkSteps(execution, { ...evidence, request, kind, end });
  const flow = [checkNodes(execution), checkDecisions(execution, request), checkPause(execution, request)].flat();
  const found = [
    ...gaps,
    ...steps.found,
    ...flow.map(({ check, seen, expected }) => violation(check, of, seen, expected)),
  ];
  const wanted = steps.isExcused ? undefined : endFault(execution, kind, request, end, evidence.outages);
  if (wanted !== undefined && !found.some(({ check }) => check === "outcome"))
    found.push(violation("outcome", of, `${execution.status}; ${stepsText(execution)}`, wanted));
  const after = end ? end.at - request.sentAt : Number.POSITIVE_INFINITY;
  if (execution.steps.some(({ state }) => state?.status === "expired") && after < TIMEOUT_SECONDS * 1_000) {
    const seen = `one ${Math.round(after)} ms after the start was sent`;
    found.push(violation("times", of, seen, `a timeout after ${TIMEOUT_SECONDS} s`));
  }
  return found;
}

type Case = Pick<Evidence, "outages" | "starts"> & {
  readonly request: Request;
  readonly kind: KindPlan;
  readonly end: SeenEnd | undefined;
};

/** `isExcused`: a step has failed in an allowed way, so that the execution has not ended as planned. */
function checkSteps(
  execution: ExecutionFacts,
  { kind, request, end, starts: allStarts, outages }: Case,
): { readonly found: readonly Violation[]; readonly isExcused: boolean } {
  const found: Violation[] = [];
  const add = (check: Check, expected: string, seen: string): void =>
    void found.push(violation(check, nameOf(execution), seen, expected));
  const plans = new Map([...kind.steps, ...kind.rollback].map((plan) => [plan.identifier, plan]));
  const instances = Map.groupBy(execution.steps, ({ identifier }) => identifier);
  const startsOf = (identifier: string): readonly number[] => allStarts.get(`${request.number} ${identifier}`) ?? [];
  const unplanned: (readonly [step: StepFacts, plan: StepPlan])[] = [];
  let isExcused = false;
  for (const step of execution.steps) {
    const { identifier, state } = step;
    const plan = plans.get(identifier);
    if (!plan || !state || state.status === "skipped") continue;
    const starts = startsOf(identifier).length;
    const isPlanned = endsAsPlanned(step, plan, kind);
    const isWhole = isPlanned && WHOLE.has(state.status);
    const most = instances.get(identifier)?.length ?? 1;
    for (const [check, expected, seen] of startFaults(step, plan, { startsOf, isWhole, most }))
      add(check, expected, seen);
    const fault = isWhole ? wholeFault(step, plan, request) : cutFault(step, plan, request);
    if (fault !== undefined) add("log", `the ${isWhole ? "" : "beginning of the "}text of step ${identifier}`, fault);
    if (isPlanned) continue;
    if (isAllowed(step, request, end, starts, outages)) isExcused = true;
    else unplanned.push([step, plan]);
  }
  // A step for failures runs after one that was allowed to fail.
  for (const [step, plan] of unplanned.filter(([, { ends }]) => !isExcused || ends !== "skipped"))
    add("outcome", `step ${step.identifier} to be ${endsOf(plan).join(" or ")}`, stepText(step));
  if (execution.status === "succeeded" && !isExcused)
    for (const { identifier } of missingSteps(plans, instances))
      add("outcome", `step ${identifier}`, "no such step has run");
  return { found, isExcused };
}

type Starts = {
  readonly startsOf: (identifier: string) => readonly number[];
  readonly isWhole: boolean;
  /** Instances with one identifier may start as often as there are of them. */
  readonly most: number;
};

function startFaults(
  step: StepFacts,
  plan: StepPlan,
  { startsOf, isWhole, most }: Starts,
): readonly (readonly [check: Check, expected: string, seen: string])[] {
  const { identifier } = step;
  const starts = startsOf(identifier).length;
  const least = isWhole && !plan.isServed ? 1 : 0;
  const times = timesFault(step) ?? earlyFault(plan, startsOf);
  return [
    ...(times === undefined ? [] : [["times", `step ${identifier} to start and end in its time`, times] as const]),
    ...(starts < least || starts > most
      ? [["once", `one start of step ${identifier}`, `${starts} starts`] as const]
      : []),
  ];
}

const missingSteps = (
  plans: ReadonlyMap<string, StepPlan>,
  instances: ReadonlyMap<string, readonly StepFacts[]>,
): readonly StepPlan[] =>
  [...plans.values()].filter(({ identifier, isRequired }) => {
    const hasRun = instances.get(identifier)?.some(({ state }) => state && WHOLE.has(state.status));
    return isRequired && !hasRun;
  });

function endsAsPlanned({ state }: StepFacts, plan: StepPlan, kind: KindPlan): boolean {
  if (!state) return false;
  if (kind.client === "abort" && state.status === "aborted") return true;
  const ends = endsOf(plan);
  if (ends.includes("aborted")) return state.status === "succeeded";
  return ends.includes(state.status as never) && (state.status !== "failed" || state.exitCode === 7);
}

/** Returns the expected end, or undefined if the execution has ended like this. */
function endFault(
  { status }: ExecutionFacts,
  kind: KindPlan,
  request: Request,
  end: SeenEnd | undefined,
  outages: readonly Outage[],
): string | undefined {
  const ends = endsOf(kind);
  if (!ends.includes("aborted"))
    return ends.includes(status as never) ? undefined : `an execution that is ${ends.join(" or ")}`;
  if (status === "aborted") return undefined;
  const { abortedAt } = request.seen;
  // The step may end before the abort reaches it.
  const mayBeLate =
    abortedAt === undefined ||
    longestOutage(outages, abortedAt - RETURN_MS, end?.at ?? Number.POSITIVE_INFINITY, 0) > 0;
  return status === "succeeded" && mayBeLate ? undefined : "an execution that is aborted";
}

/** Returns whether the outages of its own delegate allow the step to fail like this. */
function isAllowed(
  { state, delegate }: StepFacts,
  request: Request,
  end: SeenEnd | undefined,
  starts: number,
  outages: readonly Outage[],
): boolean {
  if (state?.status !== "failed" || delegate === undefined) return false;
  const to = end?.at ?? Number.POSITIVE_INFINITY;
  if (state.failure?.types.includes("DelegateRestart")) {
    const away = longestOutage(ownOutages(delegate, outages), request.sentAt, to, RETURN_MS);
    if (away >= MAY_BE_LOST_MS) return true;
  }
  const touches = (one: Outage): boolean => one.from <= to && one.to + TOUCHED_MS >= request.sentAt;
  return outages.some((one) => one.target === delegate && touches(one) && mayFail(one, starts));
}

/**
 * With a full disk, a step that has not started goes to another delegate. If the launcher is killed between the start
 * of a step and its first line, there is no record of the start.
 */
const mayFail = ({ kind }: Outage, starts: number): boolean =>
  kind === "kill launcher" || (kind === "fill disk" && starts > 0);

/** Outages of a delegate's connection to the servers: it was down or stopped, or its own link was interrupted. */
function ownOutages(delegate: DelegateName, outages: readonly Outage[]): readonly Outage[] {
  return outages.filter(({ target, kind }) => (target === delegate && AWAY.has(kind)) || target === `${delegate} link`);
}

function wholeFault({ log }: StepFacts, plan: StepPlan, { number }: Request): string | undefined {
  const expected = Buffer.from(plan.text(number));
  return log.equals(expected) ? undefined : difference(log, expected);
}

/** The delegate may append lines with the reason why it cut the output. */
function cutFault({ log }: StepFacts, plan: StepPlan, { number }: Request): string | undefined {
  const expected = Buffer.from(plan.text(number));
  const text = Buffer.from(log.toString("latin1").replace(/\n?(?:railhead: [^\n]*\n)+$/, ""), "latin1");
  const isBeginning = [log, text].some((one) => expected.subarray(0, one.length).equals(one));
  return isBeginning ? undefined : difference(log, expected);
}

function difference(log: Buffer, expected: Buffer): string {
  let at = 0;
  while (at < log.length && at < expected.length && log[at] === expected[at]) at += 1;
  const near = (bytes: Buffer): string => JSON.stringify(bytes.subarray(Math.max(0, at - 20), at + 40).toString());
  return `${log.length} bytes instead of ${expected.length}; from byte ${at} on ${near(log)} instead of ${near(expected)}`;
}

function timesFault({ state }: StepFacts): string | undefined {
  if (!state || state.startedAt === null || state.endedAt === null || state.endedAt >= state.startedAt)
    return undefined;
  return `it ended ${state.startedAt - state.endedAt} ms before`;
}

/** The clocks of steps and of the database are the same. */
const EARLY_MS = 50;

function earlyFault(
  { identifier, after }: StepPlan,
  startsOf: (identifier: string) => readonly number[],
): string | undefined {
  if (!after) return undefined;
  const [starts, before] = [startsOf(identifier), startsOf(after.identifier)];
  if (starts.length === 0 || before.length === 0) return undefined;
  const ms = Math.max(...starts) - Math.min(...before);
  return ms < after.seconds * 1_000 - EARLY_MS
    ? `it started ${Math.round(ms)} ms after ${after.identifier} instead of ${after.seconds} s`
    : undefined;
}

const stepText = ({ identifier, state, delegate }: StepFacts): string =>
  `${identifier} on ${delegate ?? "no delegate"}: ${state?.status ?? "not reached"}${state?.failure ? `, ${state.failure.types.join()}: ${state.failure.message}` : ""}`;

const stepsText = ({ steps }: ExecutionFacts): string => steps.map(stepText).join("; ");

/** Each acknowledged request has one execution, and no request has two. */
export function checkAccepted(
  requests: readonly Request[],
  executions: ReadonlyMap<number, number>,
): readonly Violation[] {
  return requests.flatMap((request) => {
    const count = executions.get(request.number) ?? 0;
    if (count === 1 || (count === 0 && !request.acknowledged)) return [];
    const of = `request ${request.number} (${request.kind})`;
    return [violation("accepted", of, `${count} executions`, "one execution")];
  });
}

/** State and log of each execution at the end must equal those recorded when it ended. */
export function checkFinal(
  first: ReadonlyMap<string, SeenEnd>,
  last: readonly { readonly id: string; readonly status: string; readonly hash: string; readonly bytes: number }[],
): readonly Violation[] {
  return last.flatMap(({ id, status, hash, bytes }) => {
    const end = first.get(id);
    if (!end || (end.hash === hash && end.status === status && end.logBytes === bytes)) return [];
    const of = `execution ${toWire(id as never)}`;
    const text = (s: string, h: string | undefined, b: number | undefined): string =>
      `${s}, state ${h}, ${b} bytes of log`;
    const [expected, seen] = [text(end.status, end.hash, end.logBytes), text(status, hash, bytes)];
    return [violation("final", of, seen, expected)];
  });
}
