import type { Fault } from "../../core/problem.ts";
import type { Doc } from "../../platform/document/document.ts";
import { clip, type Path, pathText } from "../../platform/document/position/path.ts";
import { faultOf } from "../../platform/document/validate.ts";
import { type Key, keysOf } from "./keyed.ts";
import { isInputExpression } from "./input-expression.ts";
import { OWN_FIELDS } from "./looping.ts";
import { isMarker, type Marker, readMarker, valueFault } from "../../steps/schema/marker.ts";

// 1. Walk the pipeline. Beside it, where there is one, walks the value that was given for the same place.
// 2. At a runtime input take the given value, else its default, else note that it is missing. Where inputs
//    may be left open, leave it as it is instead. Of what the author of the pipeline says (`authored`), only a
//    value that the pipeline allows by name is a part: others count as not given, and stay open without a default.
// 3. Everywhere else a given value may only repeat what the pipeline says.
// 4. A runtime input that is asked for while the pipeline runs takes no value before. An expression that reads what is
//    submitted stands in its place.

/** `name`: of the variable that it is the value of. */
type MissingInput = { readonly path: string; readonly name: string | undefined };

export type Merged = {
  readonly value: unknown;
  /** Runtime inputs that have no value. */
  readonly missing: readonly MissingInput[];
  readonly faults: readonly Fault[];
  /** Path text in the pipeline → where in the inputs its value was given. */
  readonly origins: ReadonlyMap<string, Path>;
  /** Path text in the pipeline → the value that was given for the runtime input there. */
  readonly values: ReadonlyMap<string, unknown>;
};

type Given = { readonly value: unknown; readonly path: Path } | undefined;
type Map_ = { readonly [key: string]: unknown };

type Options = {
  readonly open?: boolean;
  readonly authored?: boolean;
  /** Stages that the run does not take: what is given for them is not read. */
  readonly leftOut?: readonly string[];
  /** By path: what stands for the runtime inputs that are asked for while the pipeline runs. */
  readonly expressions?: ReadonlyMap<string, string>;
  /** Whether it is these inputs that are given. */
  readonly isAsked?: boolean;
};

/** The pipeline with what the inputs have under `pipeline`. */
export function merge(pipeline: unknown, inputs: Doc | undefined, options: Options = {}): Merged {
  const merged = mergeAll({ pipeline }, inputs, options);
  return { ...merged, value: (merged.value as Map_)["pipeline"] };
}

/** The same of any part of a pipeline: the inputs have the same root. */
export function mergeAll(
  base: unknown,
  inputs: Doc | undefined,
  { open = false, authored = false, leftOut = [], expressions = new Map(), isAsked = false }: Options = {},
): Merged {
  const missing: MissingInput[] = [];
  const faults: Fault[] = [];
  const origins = new Map<string, Path>();
  const values = new Map<string, unknown>();
  const given = inputs && { value: inputs.value, path: [] };
  return { value: at(base, given, [], {}), missing, faults, origins, values };

  function at(base: unknown, given: Given, path: Path, owner: Map_): unknown {
    const there = given?.value === null || given?.value === undefined ? undefined : given;
    if (typeof base === "string" && isMarker(base)) return filled(base, there, path, owner);
    if (Array.isArray(base)) return listAt(base, there, path);
    if (isMap(base)) return mapAt(base, there, path);
    if (there && !isSame(base, there.value))
      refuse(there.path, "This is fixed by the pipeline; only its runtime inputs can be given");
    return base;
  }

  /** A runtime input that takes no value before its node begins. */
  function asked(marker: string, given: Given, path: Path): unknown {
    if (given && !isMarker(given.value)) refuse(given.path, ASKED_LATER);
    return open ? marker : (expressions.get(pathText(path)) ?? marker);
  }

  function filled(marker: string, given: Given, path: Path, owner: Map_): unknown {
    const read = readMarker(marker);
    if ("fault" in read) throw new Error(`a pipeline was saved with the runtime input ${marker}`);
    if (read.isAsked && !isAsked) return asked(marker, given, path);
    // A template sent back as it was: nobody filled this one in.
    if (given && !isMarker(given.value) && (!authored || isNamed(read))) {
      origins.set(pathText(path), given.path);
      values.set(pathText(path), given.value);
      if (owner["required"] === true && given.value === "") refuse(given.path, "A value is required");
      refuseValues(read, given);
      return givenAt(path, read, given.value);
    }
    if (open) return marker;
    const fallback = fallbackOf(read, owner);
    if (fallback === undefined) {
      missing.push({ path: pathText(path), name: typeof owner["name"] === "string" ? owner["name"] : undefined });
      return authored ? marker : "";
    }
    return isSelectors(path) ? listIn(textOf(fallback)) : valueAt(path, fallback);
  }

  function refuseValues(read: Marker, given: NonNullable<Given>): void {
    if (isInputExpression(given.value)) refuse(given.path, "There is no 'executionInput'");
    for (const [value, where] of scalarsOf(given)) {
      const fault = valueFault(read, textOf(value));
      if (fault !== undefined) refuse(where, fault);
    }
  }

  function mapAt(base: Map_, given: Given, path: Path): Map_ {
    const map = given && isMap(given.value) ? given.value : {};
    if (given && !isMap(given.value)) refuse(given.path, "Expected a map, as in the pipeline");
    for (const key of Object.keys(map)) {
      // An empty field says nothing, so it may stand where the pipeline has none.
      if (Object.hasOwn(base, key) || map[key] === null) continue;
      refuse([...(given?.path ?? []), key], `The pipeline has no '${clip(key)}' here`, "key");
    }
    const below = (key: string): Given =>
      Object.hasOwn(map, key) ? { value: map[key], path: [...(given?.path ?? []), key] } : undefined;
    return Object.fromEntries(
      Object.entries(base).map(([key, item]) => [key, at(item, below(key), [...path, key], base)]),
    );
  }

  function listAt(base: readonly unknown[], given: Given, path: Path): unknown[] {
    const matched = given && Array.isArray(given.value) ? matches(base, given.value, given.path) : [];
    if (given && !Array.isArray(given.value)) refuse(given.path, "Expected a list, as in the pipeline");
    return base.map((item, index) => at(item, matched[index], [...path, index], {}));
  }

  /** What was given for each item of a list: by identifier or name where items have one, by place where not. */
  function matches(base: readonly unknown[], list: readonly unknown[], path: Path): Given[] {
    const found: Given[] = [];
    const keys = base.map(keysOf);
    const first = keys[0]?.[0];
    for (const [index, value] of list.entries()) {
      const where = [...path, index];
      const own = keysOf(value);
      const [key] = own;
      const isSame = (one: readonly Key[]): boolean => one.some(({ name }) => own.some((mine) => mine.name === name));
      const target = first === undefined ? index : keys.findIndex(isSame);
      if (target < 0 && key && isStageList(path) && own.every(({ name }) => leftOut.includes(name))) continue;
      if (first !== undefined && key === undefined) refuse(where, `Say by its ${first.field} which one this is`);
      else if (target < 0 || target >= base.length)
        refuse(where, `The pipeline has no ${key ? `'${clip(key.name)}'` : "such item"} here`);
      else if (found[target]) refuse(where, "This item is given twice");
      else found[target] = { value, path: where };
    }
    return found;
  }

  function refuse(path: Path, message: string, place: "value" | "key" = "value"): void {
    if (inputs) faults.push(faultOf(inputs, path, message, place));
  }
}

/** What a runtime input gets without a value; undefined if a run has to give one. `owner`: the map that it stands in. */
export function fallbackOf(read: Marker, owner: { readonly [key: string]: unknown }): unknown {
  const usual = read.default ?? owner["default"] ?? (owner["required"] === false ? "" : undefined);
  return usual === "" && owner["required"] === true ? undefined : (usual ?? undefined);
}

const ASKED_LATER = "This input is asked for while the pipeline runs: submit it when its node waits for it";

/** `stages`, and the list of a parallel item of it. */
const isStageList = ([root, list, , field, ...rest]: Path): boolean =>
  root === "pipeline" && list === "stages" && (field === undefined || (field === "parallel" && rest.length === 0));

/** A list as defaults and texts have it; an expression is none. */
const listIn = (text: string): readonly string[] | string =>
  text.includes("<+") ? text : text.split(",").map((one) => one.trim());

/** Whether the pipeline names each value that may be given. */
const isNamed = ({ allowed, isMany }: Marker): boolean => allowed !== undefined && isMany !== true;

const isSelectors = (path: Path): boolean => path.at(-1) === "delegateSelectors";

/** Of several chosen values, a field that holds text gets a text, and one that holds a list gets a list. */
function givenAt(path: Path, { isMany }: Marker, value: unknown): unknown {
  if (isMany && isSelectors(path) && typeof value === "string") return listIn(value);
  if (isMany && Array.isArray(value) && !isSelectors(path) && !isLoopList(path)) return value.map(textOf).join(",");
  return valueAt(path, value);
}

/** A text that is given for the values of a loop is a list with commas. */
const valueAt = (path: Path, value: unknown): unknown =>
  isLoopList(path) && typeof value === "string" ? listIn(value) : value;

/** The values of an axis of a matrix, and the items of a repeat. */
const isLoopList = (path: Path): boolean =>
  (path.at(-2) === "matrix" && path.at(-3) === "strategy" && !OWN_FIELDS.has(String(path.at(-1)))) ||
  (path.at(-1) === "items" && path.at(-2) === "repeat" && path.at(-3) === "strategy");

function scalarsOf(given: NonNullable<Given>): readonly (readonly [value: unknown, path: Path])[] {
  if (!Array.isArray(given.value)) return [[given.value, given.path]];
  return given.value.map((value, index) => [value, [...given.path, index]]);
}

/** A scalar as text; what else there may be is told apart by its JSON. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

const isMap = (value: unknown): value is Map_ => typeof value === "object" && value !== null && !Array.isArray(value);

const isSame = (base: unknown, given: unknown): boolean =>
  (typeof given !== "object" && textOf(given) === textOf(base)) ||
  ((base === null || base === undefined) && given === "");
