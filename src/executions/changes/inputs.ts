/** Which runtime inputs of two executions differ. */

export type InputChange = {
  /** As in `pipeline.stages.deploy.variables.tag`. */
  readonly path: string;
  /** Null if the execution was not given the input, and for a secret. */
  readonly before: string | null;
  readonly after: string | null;
  /** The input names a secret; nothing of it is shown. */
  readonly isSecret: boolean;
};

export type InputChanges = { readonly changes: readonly InputChange[]; readonly hasMore: boolean };

/** Of an execution with very many inputs the first ones in their order. */
const CHANGES_AT_MOST = 200;
/** Characters of a value. */
const LONGEST_VALUE = 1_024;

type Value = { readonly text: string; readonly isSecret: boolean };

/** `before` and `after`: the documents of the inputs, undefined without inputs. */
export function inputChanges(before: unknown, after: unknown): InputChanges {
  const [old, now] = [valuesOf(before), valuesOf(after)];
  const changes = [...new Set([...old.keys(), ...now.keys()])]
    .filter((path) => old.get(path)?.text !== now.get(path)?.text)
    .toSorted()
    .map((path) => changeOf(path, old.get(path), now.get(path)));
  return { changes: changes.slice(0, CHANGES_AT_MOST), hasMore: changes.length > CHANGES_AT_MOST };
}

function changeOf(path: string, before: Value | undefined, after: Value | undefined): InputChange {
  const isSecret = before?.isSecret === true || after?.isSecret === true;
  const shown = (value: Value | undefined): string | null =>
    value === undefined || isSecret ? null : value.text.slice(0, LONGEST_VALUE).toWellFormed();
  return { path, before: shown(before), after: shown(after), isSecret };
}

/** The values of a document by their paths. Items of lists are named by their identifiers or names. */
function valuesOf(document: unknown): ReadonlyMap<string, Value> {
  const found = new Map<string, Value>();
  const visit = (value: unknown, path: readonly string[]): void => {
    const below = Array.isArray(value) ? value.map((item, nth) => namedItem(item, nth, path)) : membersOf(value, path);
    if (below) for (const item of below) visit(...item);
    else found.set(path.join("."), variableOf(value) ?? { text: textOf(value), isSecret: false });
  };
  if (document !== undefined) visit(document, []);
  return found;
}

/** They tell what an item is, and are part of its path. */
const NAMES: ReadonlySet<string> = new Set(["identifier", "name", "type"]);
/** Keys around the items of lists of stages and steps. */
const WRAPPERS = ["stage", "step", "stepGroup", "group"] as const;

type Item = readonly [value: unknown, path: readonly string[]];

/** Undefined for what has no members, and for a variable. */
const membersOf = (value: unknown, path: readonly string[]): readonly Item[] | undefined =>
  isObject(value) && !variableOf(value)
    ? Object.entries(value).flatMap(([key, member]): Item[] => (NAMES.has(key) ? [] : [[member, [...path, key]]]))
    : undefined;

function namedItem(item: unknown, nth: number, path: readonly string[]): Item {
  if (!isObject(item)) return [item, [...path, String(nth)]];
  const wrapper = WRAPPERS.find((key) => isObject(item[key]));
  const inner = wrapper === undefined ? item : (item[wrapper] as ObjectValue);
  const name = inner["identifier"] ?? inner["name"];
  // Items of a parallel list have names of their own, which are unique in the pipeline.
  if (Array.isArray(item["parallel"])) return [item["parallel"], path];
  return [inner, [...path, typeof name === "string" ? name : String(nth)]];
}

/** A variable: its value alone tells of it. */
function variableOf(value: unknown): Value | undefined {
  if (
    !isObject(value) ||
    !("value" in value) ||
    !("name" in value) ||
    isObject(value["value"]) ||
    Array.isArray(value["value"])
  )
    return undefined;
  return { text: textOf(value["value"]), isSecret: value["type"] === "Secret" };
}

/** The text of a scalar. */
const textOf = (value: unknown): string => {
  if (typeof value === "string") return value;
  return value === null || value === undefined ? "" : JSON.stringify(value);
};

type ObjectValue = { readonly [key: string]: unknown };

const isObject = (value: unknown): value is ObjectValue =>
  typeof value === "object" && value !== null && !Array.isArray(value);
