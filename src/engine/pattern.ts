/** Patterns of runtime inputs: the author of a pipeline writes them, and each caller gives a text. */
import { ExpressionError } from "./expression/error.ts";
import { findMatch } from "./expression/regex/match.ts";
import { compilePattern } from "./expression/regex/program.ts";

/** Of one text; a millisecond or two. */
const MAX_WORK = 20_000;

/** Why a pattern is none; undefined for one that is. */
export function patternFault(pattern: string): string | undefined {
  return faultOf(() => compilePattern(pattern, 0));
}

/** Whether a pattern matches the whole text. A text that is too long for it does not match. */
export function matchesWhole(pattern: string, text: string): boolean {
  let work = 0;
  const spend = (units: number): void => {
    work += units;
    if (work > MAX_WORK) throw new ExpressionError("limit", "the text is too long for the pattern", 0);
  };
  let isMatch = false;
  const fault = faultOf(() => {
    isMatch = findMatch(compilePattern(pattern, 0), text, { isFull: true, spend }) !== undefined;
  });
  return fault === undefined && isMatch;
}

function faultOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}
