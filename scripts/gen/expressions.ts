import { FUNCTIONS, METHODS } from "../../src/engine/expression/functions.ts";
import type { FunctionRow } from "../../src/engine/expression/functions/row.ts";
import * as limits from "../../src/engine/expression/limits.ts";
import { type NameRow, type Shape, shapeText, type TypeName } from "../../src/engine/expression/names/shape.ts";
import { REFUSED_ROOTS, ROOTS } from "../../src/engine/expression/names/table.ts";
import { TYPES } from "../../src/engine/expression/names/types.ts";
import { OPERATORS } from "../../src/engine/expression/operators.ts";
import type { Json } from "../../src/engine/model.ts";
import { between, type Generator, markdownTable } from "../lib/generated.ts";

const code = (text: string): string => `\`${text}\``;

/** An example and its result, as a table shows them. */
const exampleCells = ({ example, result }: { readonly example: string; readonly result: Json }): readonly string[] => [
  code(example),
  typeof result === "string" && result !== "" ? result : code(JSON.stringify(result)),
];

const section = (title: string, ...parts: readonly string[]): string => [`## ${title}`, ...parts].join("\n\n");

const roots = (): string =>
  markdownTable(
    ["name", "leads to", "meaning", "example", "result"],
    ROOTS.map((row) => [code(row.name), shapeText(row.shape), row.description, ...exampleCells(row)]),
  );

const typesIn = (shape: Shape): readonly TypeName[] => {
  if (typeof shape === "string") return [];
  return "type" in shape ? [shape.type] : typesIn(shape.mapOf);
};

/** The kinds that a path can lead to. */
function reachableTypes(): readonly TypeName[] {
  const found = new Set(ROOTS.flatMap(({ shape }) => typesIn(shape)));
  // A set also yields what is added while it is read.
  for (const type of found) {
    for (const { shape } of TYPES[type].members) for (const inner of typesIn(shape)) found.add(inner);
  }
  return [...found];
}

/** One row for each member; kinds that have it in common share the row. */
function members(): string {
  const rows = reachableTypes().flatMap((type) =>
    TYPES[type].members.filter(({ isRefused }) => !isRefused).map((row) => ({ type, row, key: JSON.stringify(row) })),
  );
  return markdownTable(
    ["member", "of", "value", "meaning"],
    Object.values(Object.groupBy(rows, ({ key }) => key)).flatMap((group = []) =>
      group
        .slice(0, 1)
        .map(({ row }) => [
          code(row.name),
          group.map(({ type }) => type).join(", "),
          shapeText(row.shape),
          row.description,
        ]),
    ),
  );
}

function refused(): string {
  const nameOf = ({ name }: NameRow): string => name;
  const below = reachableTypes().flatMap((type) => {
    const names = TYPES[type].members.filter(({ isRefused }) => isRefused).map(nameOf);
    return names.length === 0 ? [] : [`${type}: ${names.map(code).join(", ")}.`];
  });
  return [REFUSED_ROOTS.map((row) => code(nameOf(row))).join(", "), ...below].join("\n\n");
}

const operators = (): string =>
  markdownTable(
    ["operator", "meaning", "example", "result"],
    OPERATORS.map((row) => [code(row.signs), row.description, ...exampleCells(row)]),
  );

const functions = (rows: readonly FunctionRow[], dot: string): string =>
  markdownTable(
    ["call", "result", "example", "gives"],
    rows.map((row) => [code(`${dot}${row.name}(${row.params.join(", ")})`), row.description, ...exampleCells(row)]),
  );

const bounds = (): string =>
  markdownTable(
    ["limit", "most"],
    [
      ["characters of an expression", limits.MAX_EXPRESSION_CHARS],
      ["names, literals, operators and calls of an expression", limits.MAX_TERMS],
      ["brackets and expressions inside each other", limits.MAX_NESTING],
      ["bytes of a value, and of a filled text", limits.MAX_RESULT_BYTES],
      ["bytes of all values of a step, and of all variables of an execution", limits.MAX_TOTAL_BYTES],
      ["items of a list that a function makes", limits.MAX_ITEMS],
      ["characters of a pattern", limits.MAX_PATTERN_CHARS],
    ].map(([what, most]) => [String(what), most?.toLocaleString("en") ?? ""]),
  );

/** All names, operators and functions of expressions in Markdown, from the tables that check and evaluate them. */
export const expressionsPage = (): string =>
  [
    section("What an expression begins with", roots()),
    section("Members", members()),
    section("Refused names", "Saving refuses these by name: this version has no value for them.", refused()),
    section("Operators", "From the tightest binding to the loosest.", operators()),
    section("Methods", functions(METHODS, ".")),
    section("Functions", functions(FUNCTIONS, "")),
    section("Limits", bounds()),
  ].join("\n\n");

export const expressions: Generator = {
  file: "docs/reference/expressions.md",
  make: (current) => between("expressions", current, expressionsPage()),
};
