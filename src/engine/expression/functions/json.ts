/** Functions that read and write JSON. */
import type { Json } from "../../model.ts";
import { ExpressionError } from "../error.ts";
import { MAX_ITEMS } from "../limits.ts";
import { isList } from "../place.ts";
import { parseJson } from "../documents/json-text.ts";
import { type Selection, selectJson } from "../documents/json-path.ts";
import { type Call, type FunctionRow, pathArgument, row } from "./row.ts";

export const JSON_FUNCTIONS: readonly FunctionRow[] = [
  row("json.object(text)", "The value of a JSON text; its members follow.", {
    example: '<+json.object(\'{"image": {"tag": "v1"}}\').image.tag>',
    result: "v1",
    run: (call) => valueOf(call, 0),
  }),
  row("json.select(path, json)", "What a path leads to in a JSON text or a value.", {
    example: "<+json.select('items[0].id', '{\"items\": [{\"id\": 7}]}')>",
    result: 7,
    run: select,
  }),
  row("json.list(path, json)", "The same, as a list. A list stays one; other values become its only item.", {
    example: '<+json.list(\'$.pods[*].name\', \'{"pods": [{"name": "a"}, {"name": "b"}]}\')>',
    result: ["a", "b"],
    run: list,
  }),
  row("json.format(value)", "The JSON text of a value; of a text with its quotes.", {
    example: "<+json.format(trigger.payload)>",
    result: '{"ref":"refs/heads/main"}',
    run: format,
  }),
];

/** The argument itself, or the value that its text is the JSON of. */
function valueOf(call: Call, index: number): Json {
  const value = call.args[index] ?? null;
  if (typeof value !== "string") return value;
  // Parsing costs more for each character than what else reads texts.
  call.spend(value.length >> 4);
  const refuse = (message: string): ExpressionError =>
    new ExpressionError("type", `argument ${index + 1} of ${call.name}() ${message}`, call.at);
  return parseJson(value, refuse, call.spend);
}

const found = (call: Call): Selection => selectJson(pathArgument(call, 0), valueOf(call, 1), call);

function select(call: Call): Json {
  const { values, isSingle } = found(call);
  if (!isSingle) return values;
  const [value] = values;
  if (value !== undefined) return value;
  throw new ExpressionError("unresolved", `${call.name}() finds nothing at its path`, call.at);
}

function list(call: Call): readonly Json[] {
  const { values, isSingle } = found(call);
  const [value] = values;
  const items = isSingle && value !== undefined && isList(value) ? value : values;
  if (items.length <= MAX_ITEMS) return items;
  throw new ExpressionError("limit", `${call.name}() makes more than ${MAX_ITEMS} items`, call.at);
}

function format({ args, at }: Call): string {
  try {
    return JSON.stringify(args[0] ?? null);
  } catch {
    throw new ExpressionError("limit", "its value nests too deep", at);
  }
}
