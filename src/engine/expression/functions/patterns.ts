/** Methods and functions that take a regular expression. */
import { ExpressionError } from "../error.ts";
import { MAX_ITEMS } from "../limits.ts";
import { findMatch, type Match } from "../regex/match.ts";
import { compilePattern, type Program } from "../regex/program.ts";
import { type Call, type FunctionRow, row, subject, textArgument, wholeArgument } from "./row.ts";
import { occurrences } from "./search.ts";
import { boundedPieces } from "./text.ts";

export const PATTERN_METHODS: readonly FunctionRow[] = [
  row("matches(pattern)", "Whether a pattern matches the whole text.", {
    example: '<+"v1.22".matches("v\\d+[.]\\d+")>',
    result: true,
    run: (call) => matchesWhole(textArgument(call, 0), subject(call), call),
  }),
  row("replaceAll(pattern, new)", "Each match replaced. `$1` in `new` is the first group, `\\$` the sign.", {
    example: '<+"a1b22".replaceAll("[0-9]+", "-")>',
    result: "a-b-",
    run: (call) => replaceMatches(call, Infinity),
  }),
  row("replaceFirst(pattern, new)", "The first match replaced.", {
    example: '<+"2026-11".replaceFirst("(\\d+)-(\\d+)", "$2/$1")>',
    result: "11/2026",
    run: (call) => replaceMatches(call, 1),
  }),
  row("split(pattern, most?)", "The parts between the matches. A single character stands for itself.", {
    example: '<+"org/app:1.2".split(":")[1]>',
    result: "1.2",
    run: split,
  }),
];

export const PATTERN_FUNCTIONS: readonly FunctionRow[] = [
  row("regex.match(pattern, text)", "Whether a pattern matches a part of the text.", {
    example: '<+regex.match("^v\\d", "v12")>',
    result: true,
    run: (call) => firstMatch(call) !== undefined,
  }),
  row("regex.extract(pattern, text)", "The first match in the text; empty if there is none.", {
    example: '<+regex.extract("\\d+", "build-17.log")>',
    result: "17",
    run: extract,
  }),
  row("regex.replace(pattern, new, text)", "The text with each match replaced, as with `replaceAll`.", {
    example: '<+regex.replace("[^a-z]+", "-", "a b_c")>',
    result: "a-b-c",
    run: (call) => replaceMatches({ ...call, value: textArgument(call, 2) }, Infinity),
  }),
];

function firstMatch(call: Call): Match | undefined {
  return findMatch(compiled(textArgument(call, 0), call), textArgument(call, 1), call);
}

function extract(call: Call): string {
  const match = firstMatch(call);
  return match ? textArgument(call, 1).slice(match[0], match[1]) : "";
}

type Place = Pick<Call, "at" | "spend">;

function compiled(pattern: string, { at, spend }: Place): Program {
  const program = compilePattern(pattern, at);
  spend(program.code.length >> 2);
  return program;
}

export function matchesWhole(pattern: string, text: string, place: Place): boolean {
  return findMatch(compiled(pattern, place), text, { isFull: true, spend: place.spend }) !== undefined;
}

/** The matches of a pattern in turn, none overlapping another. */
function* matchesOf(program: Program, text: string, { spend }: Place): Generator<Match, void> {
  for (let from = 0; from <= text.length;) {
    const match = findMatch(program, text, { from, spend });
    if (!match) return;
    yield match;
    const [begin = 0, end = 0] = match;
    from = end === begin ? end + 1 : end;
  }
}

function replaceMatches(call: Call, most: number): string {
  const text = subject(call);
  const replacement = textArgument(call, 1);
  const pieces = boundedPieces(call);
  let done = 0;
  let count = 0;
  for (const match of matchesOf(compiled(textArgument(call, 0), call), text, call)) {
    pieces.add(text.slice(done, match[0]));
    addReplacement(pieces.add, { replacement, match, text, call });
    done = match[1] ?? done;
    if (++count >= most) break;
  }
  pieces.add(text.slice(done));
  return pieces.join();
}

type Replacement = { readonly replacement: string; readonly match: Match; readonly text: string; readonly call: Call };

/** As in Java: `$1` is the text of a group, a backslash takes the meaning from the next character. */
function addReplacement(add: (piece: string) => void, { replacement, match, text, call }: Replacement): void {
  for (let at = 0; at < replacement.length; at++) {
    const char = replacement.charAt(at);
    if (char === "\\") add(replacement.charAt(++at));
    else if (char === "$") {
      const group = Number(replacement.charAt(++at) || Number.NaN);
      const begin = match[2 * group];
      if (begin === undefined) throw noGroup(call);
      add(text.slice(Math.max(begin, 0), Math.max(match[2 * group + 1] ?? 0, 0)));
    } else add(char);
  }
}

const noGroup = ({ name, at }: Call): ExpressionError =>
  new ExpressionError(
    "type",
    `after $ argument 2 of ${name}() needs the number of a group of the pattern; the sign itself is written \\$`,
    at,
  );

/** A pattern without signs of the syntax, or with a single one that stands for itself. */
function literalOf(pattern: string): string | undefined {
  if (pattern.length === 1) return pattern;
  if (/^\\[^A-Za-z0-9]$/.test(pattern)) return pattern.slice(1);
  return pattern === "" || /[\\^$.|?*+()[\]{}]/.test(pattern) ? undefined : pattern;
}

function* separators(call: Call, text: string): Generator<readonly [begin: number, end: number], void> {
  const pattern = textArgument(call, 0);
  const literal = literalOf(pattern);
  if (literal !== undefined) {
    for (const at of occurrences(text, literal)) yield [at, at + literal.length];
    return;
  }
  for (const [begin = 0, end = 0] of matchesOf(compiled(pattern, call), text, call)) {
    // As in Java, nothing stands before an empty match at the beginning, and there is none after the end.
    if (end > 0 && (begin < text.length || end > begin)) yield [begin, end];
  }
}

/** As in Java: empty parts at the end are left out, unless there is a limit. */
function split(call: Call): readonly string[] {
  const text = subject(call);
  const most = wholeArgument(call, 1, { least: -1, most: MAX_ITEMS, usual: 0 });
  const parts: string[] = [];
  let done = 0;
  for (const [begin, end] of separators(call, text)) {
    if (most > 0 && parts.length >= most - 1) break;
    parts.push(text.slice(done, begin));
    done = end;
    if (parts.length >= MAX_ITEMS) {
      throw new ExpressionError("limit", `split() makes more than ${MAX_ITEMS} items`, call.at);
    }
  }
  parts.push(text.slice(done));
  if (most === 0) while (parts.length > 1 && parts.at(-1) === "") parts.pop();
  return parts;
}
