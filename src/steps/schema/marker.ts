import { matchesWhole, patternFault } from "../../engine/index.ts";

/** A value that is given when the pipeline runs: `<+input>` and what it allows. */
export type Marker = {
  /** Taken when no value is given. */
  readonly default?: string;
  /** The only values that may be given. */
  readonly allowed?: readonly string[];
  /** Several of the allowed values may be given, as a list or with commas. */
  readonly isMany?: true;
  /** A pattern that matches all of a value. */
  readonly regex?: string;
  /** The value is given while the pipeline runs, when its step, group or stage begins. */
  readonly isAsked?: true;
};

const MARKER = "<+input>";
const ASKED = "executionInput";
const CHOICES: ReadonlySet<string> = new Set(["allowedValues", "selectOneFrom", "selectManyFrom"]);
const NAMES = ["default", ...CHOICES, "regex", ASKED];

/** Whether a value stands for a runtime input; it may still be written wrongly. */
export const isMarker = (value: unknown): boolean => typeof value === "string" && value.startsWith(MARKER);

/** Whether it stands for one that is given while the pipeline runs. */
export function isAskedMarker(value: unknown): boolean {
  if (typeof value !== "string" || !isMarker(value) || !value.includes(ASKED)) return false;
  const read = readMarker(value);
  return !("fault" in read) && read.isAsked === true;
}

/**
 * Reads `<+input>` and what follows it, in any order: `.default(x)`, one of
 * `.allowedValues(a,b)`, `.selectOneFrom(a,b)` and `.selectManyFrom(a,b)`,
 * `.regex(x)`, and `.executionInput()`. A value that holds a comma or a parenthesis is written
 * between `\'` or `'`. Answers the fault as a sentence when it is none of these.
 */
export function readMarker(text: string): Marker | { readonly fault: string } {
  let rest = text.slice(MARKER.length).trimEnd();
  let marker: Marker = {};
  while (rest !== "") {
    const name = /^\.([A-Za-z]+)\(/.exec(rest)?.[1];
    if (name === undefined)
      return { fault: `A runtime input must be the whole value; '${clipped(rest)}' follows <+input>` };
    const call = readArguments(rest, name.length + 2, CHOICES.has(name));
    if (!call) return { fault: `'.${name}(' is not closed: a parenthesis or a quote is missing` };
    const next = withModifier(marker, name, call.values);
    if ("fault" in next) return next;
    marker = next;
    rest = rest.slice(call.end);
  }
  const fault = marker.default === undefined ? undefined : valueFault(marker, marker.default);
  return fault === undefined ? marker : { fault: `The default ${fault}` };
}

/** What is wrong with a value that is given, as in `'x' is not one of the allowed values: a, b`. */
export function valueFault({ allowed, isMany, regex }: Marker, value: string): string | undefined {
  const values = isMany && !allowed?.includes(value) ? value.split(",").map((one) => one.trim()) : [value];
  const wrong = allowed && values.find((one) => !allowed.includes(one));
  if (wrong !== undefined) return `'${clipped(wrong)}' is not one of the allowed values: ${allowed?.join(", ")}`;
  if (regex === undefined || matchesWhole(regex, value)) return undefined;
  return `'${clipped(value)}' does not match the pattern ${regex}`;
}

function withModifier(marker: Marker, name: string, values: readonly string[]): Marker | { readonly fault: string } {
  if (!NAMES.includes(name)) {
    const allowed = NAMES.map((one) => `.${one}()`).join(", ");
    return { fault: `Unknown '.${clipped(name)}()' of a runtime input. Allowed: ${allowed}` };
  }
  const [value = ""] = values;
  if (name === ASKED) return withAsked(marker, values);
  if (values.length === 0) return { fault: `'.${name}()' needs a value` };
  if (CHOICES.has(name)) {
    if (marker.allowed) return { fault: `'.${name}()' is given twice, or beside another list of values` };
    return { ...marker, allowed: values, ...(name === "selectManyFrom" && { isMany: true }) };
  }
  return name === "regex" ? withPattern(marker, value) : withDefault(marker, value);
}

function withAsked(marker: Marker, values: readonly string[]): Marker | { readonly fault: string } {
  if (marker.isAsked) return { fault: `'.${ASKED}()' is given twice` };
  return values.length > 0 ? { fault: `'.${ASKED}()' takes no value` } : { ...marker, isAsked: true };
}

function withPattern(marker: Marker, regex: string): Marker | { readonly fault: string } {
  if (marker.regex !== undefined) return { fault: "'.regex()' is given twice" };
  const fault = patternFault(regex);
  return fault === undefined ? { ...marker, regex } : { fault: `The pattern of '.regex()' is wrong: ${fault}` };
}

function withDefault(marker: Marker, value: string): Marker | { readonly fault: string } {
  if (marker.default !== undefined) return { fault: "'.default()' is given twice" };
  return value.startsWith("*") ? { fault: "A default may not begin with '*'" } : { ...marker, default: value };
}

type Arguments = { readonly values: readonly string[]; readonly end: number };

/** The values between the parenthesis before `from` and the one that closes it; commas separate them when `split`. */
function readArguments(text: string, from: number, split: boolean): Arguments | undefined {
  const values: string[] = [];
  for (let at = from; ;) {
    const read = readQuoted(text, at, split) ?? readPlain(text, at, split);
    if (!read) return undefined;
    values.push(read.value);
    at = read.end + 1;
    if (text[read.end] !== ")") continue;
    const empty = values.length === 1 && text.slice(from, read.end).trim() === "";
    return { values: empty ? [] : values, end: at };
  }
}

/** `end` is the place of the parenthesis or comma that follows the value. */
type Value = { readonly value: string; readonly end: number };

function readQuoted(text: string, from: number, split: boolean): Value | undefined {
  const start = afterSpaces(text, from);
  const open = quoteAt(text, start);
  if (open === 0) return undefined;
  for (let at = start + open; at < text.length; at += 1) {
    const close = quoteAt(text, at);
    if (close === 0) continue;
    const end = afterSpaces(text, at + close);
    return text[end] === ")" || (split && text[end] === ",") ? { value: text.slice(start + open, at), end } : undefined;
  }
  return undefined;
}

/** A value without quotes may hold parentheses that close. An apostrophe inside it is one, at its beginning a quote. */
function readPlain(text: string, from: number, split: boolean): Value | undefined {
  if (quoteAt(text, afterSpaces(text, from)) > 0) return undefined;
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const character = text[at];
    if (depth === 0 && (character === ")" || (split && character === ","))) {
      return { value: text.slice(from, at).trim(), end: at };
    }
    if (character === "(") depth += 1;
    if (character === ")") depth -= 1;
  }
  return undefined;
}

function afterSpaces(text: string, from: number): number {
  let at = from;
  while (text[at] === " ") at += 1;
  return at;
}

function quoteAt(text: string, at: number): number {
  if (text.startsWith("\\'", at)) return 2;
  return text[at] === "'" ? 1 : 0;
}

const clipped = (text: string): string => (text.length <= 60 ? text : `${text.slice(0, 60).toWellFormed()}…`);
