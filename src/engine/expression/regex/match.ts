/**
 * Runs all ways through a pattern at the same time (Pike's machine): each character of the text is read once, and costs
 * at most one visit of each instruction. No pattern takes longer than length of text × size of pattern.
 */
import type { Instruction, Program } from "./program.ts";
import { type Assertion, type CharSet, isWord } from "./syntax.ts";

/** Offsets of the match and its groups: begin and end in turn, -1 for a group that takes no part. */
export type Match = readonly number[];

/** Steps of the machine that count as one unit of work. */
const STEPS_PER_UNIT = 8;

export type MatchOptions = {
  readonly from?: number;
  /** The match has to begin at `from` and to end with the text. */
  readonly isFull?: boolean;
  /** Counts work. Throws beyond a limit. */
  readonly spend: (units: number) => void;
};

type Thread = { readonly at: number; readonly slots: readonly number[] };

type Machine = {
  readonly program: Program;
  readonly text: string;
  readonly options: MatchOptions;
  /** For each instruction the position at which a thread last came to it, so that none comes twice. */
  readonly seen: Int32Array;
  steps: number;
};

/** The first match at or after `from`; undefined if there is none. */
export function findMatch(program: Program, text: string, options: MatchOptions): Match | undefined {
  const { from = 0, isFull = false } = options;
  const seen = new Int32Array(program.code.length).fill(-1);
  const machine: Machine = { program, text, options, seen, steps: 0 };
  const slots = Array.from({ length: program.slots }, () => -1);
  let threads: readonly Thread[] = [];
  let found: Match | undefined;
  for (let position = from; ;) {
    // A way that begins later is worth less than all that began before it, and nothing once there is a match.
    const begins = !found && (position === from || !isFull);
    const current = begins ? [...threads, ...reached(machine, { at: 0, slots }, position)] : threads;
    if (current.length === 0 && (found || isFull)) break;
    const char = text.codePointAt(position);
    const after = position + (char !== undefined && char > 0xffff ? 2 : 1);
    const { next, match } = advance(machine, current, { position, char, after });
    found = match ?? found;
    if (char === undefined) break;
    threads = next;
    position = after;
  }
  options.spend(Math.ceil(machine.steps / STEPS_PER_UNIT));
  return found;
}

type Read = { readonly position: number; readonly char: number | undefined; readonly after: number };

/** Reads one character in each thread. Threads behind one that has a match are worth less and end. */
function advance(
  machine: Machine,
  threads: readonly Thread[],
  { position, char, after }: Read,
): { readonly next: readonly Thread[]; readonly match?: Match } {
  const mayEnd = machine.options.isFull !== true || position === machine.text.length;
  const next: Thread[] = [];
  for (const { at, slots } of threads) {
    const instruction = machine.program.code[at];
    if (instruction?.op === "match" && mayEnd) return { next, match: slots };
    if (instruction?.op === "char" && char !== undefined && has(machine, instruction.set, char)) {
      next.push(...reached(machine, { at: at + 1, slots }, after));
    }
  }
  return { next };
}

/** The threads that reading goes on with, in the order of their worth. */
function reached(machine: Machine, start: Thread, position: number): readonly Thread[] {
  const threads: Thread[] = [];
  const pending: Thread[] = [start];
  for (let thread = pending.pop(); thread; thread = pending.pop()) {
    const { at, slots } = thread;
    if (machine.seen[at] === position) continue;
    machine.seen[at] = position;
    count(machine, 1);
    const instruction = machine.program.code[at];
    if (instruction?.op === "char" || instruction?.op === "match") threads.push(thread);
    else if (instruction) follow(machine, pending, { instruction, at, slots, position });
  }
  return threads;
}

type Step = Thread & {
  readonly instruction: Exclude<Instruction, { op: "char" | "match" }>;
  readonly position: number;
};

function follow(machine: Machine, pending: Thread[], { instruction, at, slots, position }: Step): void {
  switch (instruction.op) {
    case "jump":
      pending.push({ at: instruction.to, slots });
      return;
    case "split":
      pending.push({ at: instruction.second, slots }, { at: instruction.first, slots });
      return;
    case "save": {
      const noted = slots.slice();
      noted[instruction.slot] = position;
      count(machine, 1 + (noted.length >> 3));
      pending.push({ at: at + 1, slots: noted });
      return;
    }
    case "assert":
      if (holds(machine.text, instruction.assertion, position)) pending.push({ at: at + 1, slots });
  }
}

function count(machine: Machine, steps: number): void {
  machine.steps += steps;
  if (machine.steps < 1024 * STEPS_PER_UNIT) return;
  machine.options.spend(Math.ceil(machine.steps / STEPS_PER_UNIT));
  machine.steps = 0;
}

function holds(text: string, assertion: Assertion, position: number): boolean {
  switch (assertion) {
    case "start":
      return position === 0;
    case "end":
      return position === text.length;
    case "wordEdge":
      return isEdge(text, position);
    case "noWordEdge":
      return !isEdge(text, position);
  }
}

const isEdge = (text: string, position: number): boolean =>
  isWord(position === 0 ? undefined : text.charCodeAt(position - 1)) !==
  isWord(position === text.length ? undefined : text.charCodeAt(position));

function has(machine: Machine, { ranges, isNegated }: CharSet, char: number): boolean {
  count(machine, 1 + (ranges.length >> 2));
  const isInside =
    inRanges(ranges, char) || (machine.program.ignoresCase && variantsOf(char).some((one) => inRanges(ranges, one)));
  return isInside !== isNegated;
}

function inRanges(ranges: CharSet["ranges"], char: number): boolean {
  for (const [first, last] of ranges) if (char >= first && char <= last) return true;
  return false;
}

/** The same letter in lower and upper case. */
function variantsOf(char: number): readonly number[] {
  const text = String.fromCodePoint(char);
  return [text.toLowerCase(), text.toUpperCase()].flatMap((one) => {
    const [first, ...others] = one;
    return first === undefined || others.length > 0 ? [] : [first.codePointAt(0) ?? char];
  });
}
