import type { LogView } from "../../../components/log-viewer/log-view.ts";

/** What the page of a log keeps in its address. The lines are in its fragment. */
export type LogSearch = LogView & {
  /** One of the attempts; all of them without it. */
  readonly attempt?: number;
};

const LONGEST_TEXT = 256;

export function parseLogSearch({ attempt, q, wrap, times }: Readonly<Record<string, unknown>>): LogSearch {
  const number = Number(attempt);
  const text = typeof q === "number" ? String(q) : q;
  return {
    ...(Number.isSafeInteger(number) && number >= 1 ? { attempt: number } : {}),
    ...(typeof text === "string" && text !== "" ? { q: text.slice(0, LONGEST_TEXT) } : {}),
    ...(wrap === true ? { wrap } : {}),
    ...(times === true ? { times } : {}),
  };
}
