import { lineDiff } from "./line-diff.ts";
import { isSensitive, MASK, withoutCredentials, withoutValues } from "./sensitive.ts";

/** The fields of a resource that readers of the audit trail may see, by name. Contains no secret. */
export type AuditView = { readonly [field: string]: unknown };

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** One changed field. Of a text with several lines only the changed lines, as `diff -U0` shows them. */
export type FieldChange = {
  readonly field: string;
  readonly before?: Json;
  readonly after?: Json;
  readonly lines?: readonly string[];
};

/** The changed fields. `cut` is set if the change exceeds the limits of the trail. */
export type Difference = { readonly changes: readonly FieldChange[]; readonly cut?: true };

/** Limits of a recorded difference: people read it. */
const MAX = { bytes: 16_384, fields: 100, text: 1_000, lines: 200, depth: 6, items: 50 } as const;

/** Compares both views. Undefined if neither exists or nothing differs. */
export function differenceOf(before: AuditView | undefined, after: AuditView | undefined): Difference | undefined {
  if (!before && !after) return undefined;
  const changes: FieldChange[] = [];
  let room: number = MAX.bytes;
  let cut = false;
  for (const change of changesOf(flatten(before), flatten(after))) {
    const size = Buffer.byteLength(JSON.stringify(change));
    const fits = size <= room && changes.length < MAX.fields;
    if (!fits || change.cut) cut = true;
    if (changes.length >= MAX.fields) break;
    // If the values do not fit, the name of the field is still recorded.
    const { cut: _, ...recorded } = fits ? change : { field: change.field };
    changes.push(recorded);
    room -= fits ? size : Buffer.byteLength(change.field);
  }
  return { changes, ...(cut ? { cut } : {}) };
}

type Marked = FieldChange & { readonly cut?: true };

function* changesOf(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): Generator<Marked> {
  for (const field of new Set([...after.keys(), ...before.keys()])) {
    const [was, is] = [before.get(field), after.get(field)];
    if (same(was, is)) continue;
    if (isText(was) || isText(is)) yield lines(field, was, is);
    else yield { field: field.slice(0, 256), ...side("before", field, was), ...side("after", field, is) };
  }
}

const isText = (value: unknown): boolean => typeof value === "string" && value.includes("\n");

/** Whether two values are equal. Null, an empty text and an empty list count as equal. */
const same = (one: unknown, other: unknown): boolean =>
  isEmpty(one) ? isEmpty(other) : JSON.stringify(one) === JSON.stringify(other);

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);

/** Fields of nested maps by their path, such as `spec.auth.type`. */
function flatten(view: AuditView | undefined): Map<string, unknown> {
  const fields = new Map<string, unknown>();
  const walk = (prefix: string, value: unknown, depth: number): void => {
    if (value === undefined || Buffer.isBuffer(value)) return;
    if (!isMap(value) || depth >= MAX.depth) return void fields.set(prefix, value);
    for (const [key, inner] of Object.entries(value)) walk(prefix === "" ? key : `${prefix}.${key}`, inner, depth + 1);
  };
  walk("", view ?? {}, 0);
  return fields;
}

const isMap = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function side(name: "before" | "after", field: string, value: unknown): Partial<Marked> {
  if (value === undefined) return {};
  const recorded = recordedValue(field, value, 0);
  return { [name]: recorded.value, ...(recorded.cut ? { cut: true } : {}) };
}

/** The recorded value: sensitive names masked at every depth, long texts and lists cut. */
function recordedValue(path: string, value: unknown, depth: number): { readonly value: Json; readonly cut: boolean } {
  if (value === null || typeof value === "boolean") return { value, cut: false };
  if (path.split(".").some((name) => isSensitive(name, value))) return { value: MASK, cut: false };
  if (typeof value === "number") return { value, cut: false };
  if (typeof value === "string") return shortened(withoutCredentials(value), MAX.text);
  if (depth >= MAX.depth || typeof value !== "object") return { value: "…", cut: true };
  const entries = Object.entries(value).slice(0, MAX.items);
  const inner = entries.map(([key, one]) => ({
    key,
    ...recordedValue(Array.isArray(value) ? path : `${path}.${key}`, one, depth + 1),
  }));
  const cut = Object.keys(value).length > entries.length || inner.some((one) => one.cut);
  const values = inner.map(({ key, value: one }): [string, Json] => [key, one]);
  return { value: Array.isArray(value) ? values.map(([, one]) => one) : Object.fromEntries(values), cut };
}

const shortened = (text: string, length: number): { readonly value: string; readonly cut: boolean } =>
  text.length <= length ? { value: text, cut: false } : { value: `${text.slice(0, length)}…`, cut: true };

/** Compares the original lines and shows masked ones, so that a change of a masked value is still visible. */
function lines(field: string, was: unknown, is: unknown): Marked {
  const [before, after] = [textOf(was), textOf(is)];
  const telling = field.split(".").some((name) => isSensitive(name, before + after));
  const [shownBefore, shownAfter] = [before, after].map((text) =>
    telling ? text.split("\n").map(() => MASK) : withoutValues(text),
  );
  const shown: string[] = [];
  for (const hunk of lineDiff(linesOf(before), linesOf(after))) {
    shown.push(`@@ -${hunk.before.line},${hunk.before.count} +${hunk.after.line},${hunk.after.count} @@`);
    shown.push(...marked("-", shownBefore, hunk.before), ...marked("+", shownAfter, hunk.after));
    if (shown.length > MAX.lines) break;
  }
  const cut = shown.length > MAX.lines || shown.some((line) => line.length > MAX.text);
  const shortLines = shown.slice(0, MAX.lines).map((line) => shortened(line, MAX.text).value);
  return { field: field.slice(0, 256), lines: shortLines, ...(cut ? { cut } : {}) };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : isEmpty(value) ? "" : String(value));
const linesOf = (text: string): string[] => (text === "" ? [] : text.split("\n"));

const marked = (sign: "-" | "+", shown: readonly string[] | undefined, at: Hunked): string[] =>
  (shown ?? []).slice(at.line - 1, at.line - 1 + at.count).map((line) => `${sign}${line}`);

type Hunked = { readonly line: number; readonly count: number };
