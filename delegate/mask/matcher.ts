/**
 * The search for a task's secrets in its output. Values get all that the automaton can do while it stays within
 * EXACT_BYTES, the smallest first. All others, and what lies behind the first 64 KiB of a value, are found by
 * fingerprints, which take about a twentieth of the memory (docs/decisions/0021-bounds-of-masking.md).
 */
import { setImmediate } from "node:timers/promises";
import { type Automaton, automatonBytes, buildAutomaton } from "./automaton.ts";
import { BLOCK, type Fingerprints, createFingerprints } from "./fingerprints.ts";
import { longestGap, MAX_GAP } from "./letters.ts";
import { MAX_PLAIN, MAX_VALUE, needlesByPiece, needlesOf } from "./needles.ts";

/** The prepared search for one task's secrets. It does not change, so that several maskers can share it. */
export type Matcher = {
  readonly automaton: Automaton;
  readonly fingerprints: Fingerprints | undefined;
  /** Letters that the longest of what is looked for has. */
  readonly longest: number;
  /** Bytes that may be passed over between two letters of a secret. */
  readonly maxGap: number;
};

/** Memory of one task's automaton, in bytes. */
export const EXACT_BYTES = 16 * 1024 * 1024;
/** Of values together so many bytes are tried for the automaton at most: making all forms takes time too. */
const EXACT_VALUES = 128 * 1024;
/** Letters between two pauses: a few milliseconds. */
const STRIDE = 32 * 1024;

/**
 * The bytes of a value that count against the bound: in full what is looked for in all forms, a quarter of what is not.
 */
export const weightOf = (value: Buffer): number =>
  Math.min(value.length, MAX_VALUE) + Math.max(0, Math.min(value.length, MAX_PLAIN) - MAX_VALUE) / 4;

/** Pauses every few milliseconds, so that the caller can let other work run. */
export function* createMatcherSteps(values: readonly Buffer[], exactBytes = EXACT_BYTES): Generator<void, Matcher> {
  const exact = new Set<string>();
  const rest: Buffer[] = [];
  let [room, tried, between] = [exactBytes, 0, 0];
  for (const value of values.toSorted((a, b) => a.length - b.length)) {
    tried += value.length;
    between = Math.max(between, longestGap(value.toString("latin1", 0, MAX_PLAIN)));
    const needles = tried <= EXACT_VALUES ? [...new Set(needlesOf(value))] : undefined;
    const bytes = needles ? automatonBytes(needles) : 0;
    if (needles && bytes <= room) {
      room -= bytes;
      for (const needle of needles) exact.add(needle);
    } else rest.push(value);
    yield;
  }
  const automaton = yield* buildAutomaton([...exact]);
  const fingerprints = rest.length > 0 ? yield* createFingerprintSteps(rest) : undefined;
  return {
    automaton,
    fingerprints,
    longest: Math.max(automaton.longest, fingerprints ? BLOCK : 0),
    // UTF-16 doubles what the value has there.
    maxGap: MAX_GAP + 2 * between,
  };
}

function* createFingerprintSteps(values: readonly Buffer[]): Generator<void, Fingerprints> {
  const weight = values.reduce((sum, value) => sum + weightOf(value), 0);
  const made = createFingerprints(filterBits(weight));
  let done = 0;
  for (const needle of values
    .values()
    .flatMap(needlesByPiece)
    .flatMap((needles) => needles)) {
    made.add(needle);
    done += needle.length;
    if (done < STRIDE) continue;
    done = 0;
    yield;
  }
  return made;
}

/** Eight bits for each byte of a value, in a power of two, at most 2 MiB: what a processor keeps near. */
const filterBits = (weight: number): number => 2 ** Math.min(24, Math.max(16, Math.ceil(Math.log2(weight * 8))));

/** Builds the matcher synchronously, for few and small values. */
export function createMatcher(values: readonly Buffer[], exactBytes = EXACT_BYTES): Matcher {
  const steps = createMatcherSteps(values, exactBytes);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Builds the matcher with turns of the event loop between the steps. */
export async function createMatcherAsync(values: readonly Buffer[], exactBytes = EXACT_BYTES): Promise<Matcher> {
  const steps = createMatcherSteps(values, exactBytes);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await setImmediate();
  }
}
