/**
 * The masks of all tasks of a delegate, within the memory limits that they share. delegate.ts creates it once.
 * output-channel.ts gets a StepMask for each task, which masks the task's output and all messages about it; `../mask/`
 * has the search.
 */
import type { Automaton } from "../mask/automaton.ts";
import { containsSecret, maskText } from "../mask/masker.ts";
import { EXACT_BYTES, type Matcher, createMatcherAsync, createMatcher, weightOf } from "../mask/matcher.ts";
import {
  createMaskedOutput,
  type Output,
  type OutputDeps,
  createPlainOutput,
  createWithheldOutput,
} from "./masked-output.ts";

/** The values to mask; `none`: the task has no secrets; `lost`: its secrets are no longer known. */
export type Masks = readonly Buffer[] | "none" | "lost";

/** Masks the output and the messages of one task. It counts against the delegate's limits until `release`. */
export type StepMask = {
  readonly createOutput: (folder: string, deps: OutputDeps) => Output;
  /** Masks a text. Before `ready` and after `release` it returns a placeholder. */
  readonly maskText: (text: string) => string;
  /** Whether the text may hold a secret. */
  readonly containsSecret: (text: string) => boolean;
  /** Settles when the search for secrets is ready. */
  readonly ready: Promise<void>;
  /**
   * Gives the room back to other tasks. The values stay in memory until the task is removed; they are not overwritten.
   */
  readonly release: () => void;
};

export type Masking = {
  /** Why a task with these secrets cannot run: `never` on this delegate, or not `now`. Undefined if it can. */
  readonly findRefusal: (
    values: readonly Buffer[],
  ) => { readonly until: "never" | "now"; readonly message: string } | undefined;
  readonly createStepMask: (masks: Masks) => StepMask;
};

/** Bytes of secrets, counted by `weightOf`, that one task can have, and all tasks of a delegate together. */
export const TASK_WEIGHT = 6 * 1024 * 1024;
const DELEGATE_WEIGHT = 16 * 1024 * 1024;
/** Memory of all automata of a delegate together; tasks beyond that have fingerprints alone. */
const DELEGATE_EXACT = 128 * 1024 * 1024;
/** Up to this weight the search is built synchronously, in a few milliseconds; above it in steps between other work. */
const SYNCHRONOUS_WEIGHT = 1024;

const WITHHELD = "(withheld)";

/** Creates the masking of a delegate: its tasks share the limits. */
export function createMasking(taskWeight = TASK_WEIGHT, delegateWeight = DELEGATE_WEIGHT): Masking {
  let weightInUse = 0;
  let exactInUse = 0;

  const masked = (values: readonly Buffer[]): StepMask => {
    const weight = totalWeight(values);
    weightInUse += weight;
    const room = Math.min(EXACT_BYTES, Math.max(0, DELEGATE_EXACT - exactInUse));
    // Reserved now: other tasks may start before this automaton is complete.
    let exact = room;
    exactInUse += exact;
    let isReleased = false;
    let matcher: Matcher | undefined;
    const useMatcher = (made: Matcher): Matcher => {
      matcher = made;
      if (isReleased) return made;
      exactInUse -= exact;
      exact = bytesOf(made.automaton);
      exactInUse += exact;
      return made;
    };
    const matcherPromise =
      weight <= SYNCHRONOUS_WEIGHT
        ? useMatcher(createMatcher(values, room))
        : createMatcherAsync(values, room).then(useMatcher);
    const ready = Promise.resolve(matcherPromise).then(() => undefined);
    // The output awaits the same promise and reports the error.
    ready.catch(() => {});
    return {
      createOutput: (folder, deps) => createMaskedOutput(folder, matcherPromise, deps),
      maskText: (text) => (matcher ? maskText(matcher, text) : WITHHELD),
      containsSecret: (text) => (matcher ? containsSecret(matcher, text) : text !== ""),
      ready,
      release: () => {
        if (isReleased) return;
        isReleased = true;
        weightInUse -= weight;
        exactInUse -= exact;
        matcher = undefined;
      },
    };
  };

  return {
    findRefusal: (values) => {
      const weight = totalWeight(values);
      if (weight > taskWeight) return { until: "never", message: describeTooLarge(weight, taskWeight) };
      if (weightInUse === 0 || weightInUse + weight <= delegateWeight) return undefined;
      return { until: "now", message: "The secrets of its running steps take up the delegate's memory for masking." };
    },
    createStepMask: (masks) => {
      if (masks === "none") return unmasked;
      return masks === "lost" ? withheld : masked(masks);
    },
  };
}

const always = { ready: Promise.resolve(), release: () => {} } as const;
const unmasked: StepMask = {
  ...always,
  createOutput: createPlainOutput,
  maskText: (text) => text,
  containsSecret: () => false,
};
const withheld: StepMask = {
  ...always,
  createOutput: createWithheldOutput,
  maskText: () => WITHHELD,
  containsSecret: (text) => text !== "",
};

const totalWeight = (values: readonly Buffer[]): number => values.reduce((sum, value) => sum + weightOf(value), 0);

const bytesOf = (automaton: Automaton): number =>
  Object.values(automaton).reduce<number>((sum, part) => sum + (typeof part === "number" ? 0 : part.byteLength), 0);

const kib = (bytes: number): number => Math.ceil(bytes / 1024);

const describeTooLarge = (weight: number, most: number): string =>
  `The secrets of the step are too large to be masked in its output: they count ${kib(weight)} KiB, and the limit is ` +
  `${kib(most)} KiB. Of each secret the first 64 KiB count in full, and a quarter of what follows up to 1 MiB.`;
