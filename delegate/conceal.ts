/** What of a task may be told: its secrets are masked in its output and in everything else that is reported of it. */
import { automatonOf } from "./mask/automaton.ts";
import { holdsSecret, maskedText } from "./mask/masker.ts";
import { needlesOf } from "./mask/needles.ts";
import { maskedOutput, type Output, plainOutput, withheldOutput } from "./output.ts";
import type { Timers } from "./timers.ts";

/** The values to mask; `none`: the task has no secrets; `lost`: it had some, and they are not known any more. */
export type Masks = readonly Buffer[] | "none" | "lost";

export type Conceal = {
  readonly output: (folder: string, deps: { readonly timers: Timers; readonly changed: () => void }) => Output;
  readonly text: (text: string) => string;
  /** Whether the text may hold a secret. */
  readonly holds: (text: string) => boolean;
};

export function concealer(masks: Masks): Conceal {
  if (masks === "none") return { output: plainOutput, text: (text) => text, holds: () => false };
  if (masks === "lost") return { output: withheldOutput, text: () => "(withheld)", holds: (text) => text !== "" };
  const automaton = automatonOf(needlesOf(masks));
  return {
    output: (folder, deps) => maskedOutput(folder, automaton, deps),
    text: (text) => maskedText(automaton, text),
    holds: (text) => holdsSecret(automaton, text),
  };
}
