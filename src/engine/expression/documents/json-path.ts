/** The part of JSONPath that needs no evaluation: names, positions, `*`, and filters that compare with `==` or `!=`. */
import type { Json } from "../../model.ts";
import { ExpressionError } from "../error.ts";
import { isList, isObject, own } from "../place.ts";

type Test = { readonly path: readonly string[]; readonly isEqual: boolean; readonly to: Json };

type Segment =
  | { readonly kind: "key"; readonly key: string | number }
  | { readonly kind: "all" }
  | { readonly kind: "filter"; readonly test: Test };

/** `isSingle`: the path leads to one value at most. */
export type Selection = { readonly values: readonly Json[]; readonly isSingle: boolean };

type Place = { readonly at: number; readonly spend: (units: number) => void };

/** Throws ExpressionError for a path that is wrong. */
export function selectJson(path: string, value: Json, place: Place): Selection {
  const segments = segmentsOf(path, place.at);
  let values: readonly Json[] = [value];
  for (const segment of segments) {
    values = values.flatMap((one) => stepsFrom(one, segment));
    place.spend(values.length >> 2);
  }
  return { values, isSingle: segments.every(({ kind }) => kind === "key") };
}

function stepsFrom(value: Json, segment: Segment): readonly Json[] {
  if (segment.kind === "key") {
    const found = own(value, segment.key);
    return found === undefined ? [] : [found];
  }
  const items = isList(value) ? value : isObject(value) ? Object.values(value) : [];
  return segment.kind === "all" ? items : items.filter((item) => passes(item, segment.test));
}

function passes(item: Json, { path, isEqual, to }: Test): boolean {
  let value: Json | undefined = item;
  for (const key of path) value = value === undefined ? undefined : own(value, key);
  return (value === to) === isEqual;
}

const NAME = /\.?([A-Za-z_$][\w$-]*)/y;
const WILDCARD = /\.\*|\[\*\]/y;
const POSITION = /\[(\d{1,9})\]/y;
const QUOTED = /\[(?:'([^'\\]*)'|"([^"\\]*)")\]/y;
const FILTER =
  /\[\?\(@((?:\.[A-Za-z_$][\w$-]*)+)\s{0,9}(==|!=)\s{0,9}('[^'\\]*'|"[^"\\]*"|-?\d{1,15}|true|false|null)\)\]/y;

function segmentsOf(path: string, call: number): readonly Segment[] {
  const segments: Segment[] = [];
  let at = /^\$(?=[.[]|$)/.test(path) ? 1 : 0;
  while (at < path.length) {
    const read = segmentAt(path, at);
    // A name without a dot is only understood at the beginning.
    const isApart = at === 0 || path[at] === "." || path[at] === "[";
    if (!read || !isApart) throw wrong(path, at, call);
    segments.push(read.segment);
    at = read.end;
  }
  return segments;
}

function match(pattern: RegExp, path: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(path);
}

function segmentAt(path: string, at: number): { readonly segment: Segment; readonly end: number } | undefined {
  const name = match(NAME, path, at) ?? match(QUOTED, path, at);
  if (name) return { segment: { kind: "key", key: name[1] ?? name[2] ?? "" }, end: at + name[0].length };
  const position = match(POSITION, path, at);
  if (position) return { segment: { kind: "key", key: Number(position[1]) }, end: at + position[0].length };
  const all = match(WILDCARD, path, at);
  if (all) return { segment: { kind: "all" }, end: at + all[0].length };
  const filter = match(FILTER, path, at);
  if (!filter) return undefined;
  const [text, names = "", operator, literal = ""] = filter;
  const test = { path: names.slice(1).split("."), isEqual: operator === "==", to: literalOf(literal) };
  return { segment: { kind: "filter", test }, end: at + text.length };
}

const literalOf = (text: string): Json =>
  text.startsWith("'") || text.startsWith('"') ? text.slice(1, -1) : (JSON.parse(text) as Json);

const wrong = (path: string, at: number, call: number): ExpressionError =>
  new ExpressionError(
    "syntax",
    path.startsWith("..", at)
      ? "the JSON path has '..', which is not supported"
      : `the JSON path is wrong at character ${at + 1}; it has names, [0], ['a b'], [*] and [?(@.name == 'x')]`,
    call,
  );
