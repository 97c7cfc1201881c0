import { z } from "zod";
import type { Fault } from "../../core/problem.ts";
import type { Doc } from "./document.ts";
import { explainIssue } from "./explain.ts";
import { type Path, clip, pathText } from "./position/path.ts";
import { problem } from "./problems.ts";

/** What validation needs of a document; a value put together from several documents has it too. */
export type Positioned = Pick<Doc, "value" | "position" | "keyPosition">;

const MAX_FAULTS = 50;

/**
 * The document as `schema` types it. With `root` the document must be a map
 * of that one key, and the schema describes what stands under it. Throws
 * `document.invalid` (400, SCHEMA_VALIDATION_FAILED) with one fault per issue,
 * in the order of the text: path, message, line and column of the value, of
 * the key when the key itself is the fault, of the map when a field is missing.
 *
 * A field of the schema that is `z.never().optional()` is one that the wider
 * language has and we do not: it is refused as "'x' is not supported yet", and so is a list of `z.never()` with items.
 */
export function validate<T>(schema: z.ZodType<T>, doc: Positioned, options: { readonly root?: string } = {}): T {
  const { root } = options;
  const whole = root === undefined ? schema : z.strictObject({ [root]: schema });
  const parsed = whole.safeParse(doc.value, { error: explainIssue });
  if (!parsed.success) throw schemaProblem(parsed.error, doc);
  return root === undefined ? (parsed.data as T) : ((parsed.data as { readonly [key: string]: T })[root] as T);
}

/**
 * The same for a value that came without a text, as the arguments of a mutation do: its faults have a path and no
 * position.
 */
export const validateValue = <T>(schema: z.ZodType<T>, value: Positioned["value"]): T =>
  validate(schema, { value, position: () => undefined, keyPosition: () => undefined });

/** The Problem for what a schema found in a document. */
export const schemaProblem = (error: z.core.$ZodError, doc: Positioned): Error => documentProblem(faultsOf(error, doc));

/** The Problem for faults of a document that was readable, however they were found. */
export function documentProblem(faults: readonly Fault[]): Error {
  const [first] = faults;
  const rest = faults.length > 1 ? ` (and ${faults.length - 1} more)` : "";
  const where = first?.line === undefined ? "" : `, at line ${first.line}, column ${first.column}`;
  const text = first ? `${first.path === "" ? "" : `${first.path}: `}${first.message}${where}${rest}` : "it has faults";
  return problem("document.invalid", [text], { faults: faults.slice(0, MAX_FAULTS) });
}

/** A fault at a path, with the position that serves the reader best. */
export function faultOf(doc: Positioned, path: Path, message: string, at: "value" | "key" = "value"): Fault {
  const position = (at === "key" ? doc.keyPosition(path) : undefined) ?? nearest(doc, path);
  return { path: pathText(path), message, ...position };
}

function nearest(doc: Positioned, path: Path) {
  for (let length = path.length; length >= 0; length -= 1) {
    const position = doc.position(path.slice(0, length));
    if (position) return position;
  }
  return undefined;
}

type Finding = {
  readonly path: Path;
  readonly message: string;
  readonly kind: "unsupported" | "unknown" | "missing" | "wrong";
};

function faultsOf(error: z.core.$ZodError, doc: Positioned): Fault[] {
  const findings = error.issues.flatMap((issue) => findingsOf(issue, [], doc.value));
  // Where the writer chose a form that is not supported, the fields of the supported form are not what is missing.
  const chosen = new Set(
    findings.filter((one) => one.kind === "unsupported").map((one) => pathText(one.path.slice(0, -1))),
  );
  return findings
    .filter((one) => one.kind !== "missing" || !chosen.has(pathText(one.path.slice(0, -1))))
    .map((one) =>
      faultOf(doc, one.path, one.message, one.kind === "unsupported" || one.kind === "unknown" ? "key" : "value"),
    )
    .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

function findingsOf(issue: z.core.$ZodIssue, base: Path, value: unknown): Finding[] {
  const path: Path = [...base, ...issue.path.map((part) => (typeof part === "symbol" ? String(part) : part))];
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => ({
        path: [...path, key],
        message: `Unknown field '${clip(key)}'. ${issue.message}`,
        kind: "unknown",
      }));
    case "invalid_union":
      return (
        bestBranch(issue.errors)?.flatMap((one) => findingsOf(one, path, value)) ?? [finding(path, issue.message, null)]
      );
    case "invalid_type":
      if (issue.expected === "never") return unsupported(path);
      return [finding(path, issue.message, valueAt(value, path))];
    case "invalid_key":
      return [finding(path, issue.issues[0]?.message ?? issue.message, null)];
    default:
      return [finding(path, issue.message, valueAt(value, path))];
  }
}

/** A list that must be empty gives one fault for the whole list. */
function unsupported(path: Path): Finding[] {
  const index = path.findLastIndex((part) => typeof part === "string");
  if (path.slice(index + 1).some((part) => part !== 0)) return [];
  const named = path.slice(0, index + 1);
  return [{ path: named, message: `'${clip(String(named.at(-1)))}' is not supported yet`, kind: "unsupported" }];
}

const finding = (path: Path, message: string, value: unknown): Finding => ({
  path,
  message,
  kind: value === undefined ? "missing" : "wrong",
});

/** The branch of a union that fits best: the first that accepts the type of the value. */
function bestBranch(branches: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | undefined {
  const tookType = branches.find(
    (issues) => !issues.some((one) => one.code === "invalid_type" && one.path.length === 0),
  );
  return tookType ?? branches[0];
}

function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const part of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as { readonly [key: string]: unknown })[String(part)];
  }
  return at;
}
