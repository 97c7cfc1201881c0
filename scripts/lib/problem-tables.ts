import type { Files } from "./files.ts";
import { isTest } from "./files.ts";
import { isNode, literal, type Node, parse } from "./parse.ts";

export type Declared = {
  readonly code: string;
  readonly status: number;
  readonly wire: string;
  readonly message: string;
  readonly file: string;
  readonly line: number;
};

/**
 * All entries `"slice.name": [status, "WIRE", "message"]` of problem tables in these files, read from their syntax
 * trees. Throws if an entry is computed, because computed entries cannot be documented.
 */
export function declaredProblems(files: Files): readonly Declared[] {
  return [...files].flatMap(([file, text]) => {
    if (isTest(file)) return [];
    const source = parse(file, text);
    return source.nodes.flatMap((node) => {
      const found = node.type === "Property" ? entry(node) : undefined;
      return found === undefined ? [] : [{ ...found, file, line: source.lineOf(node) }];
    });
  });
}

function entry(property: Node): Omit<Declared, "file" | "line"> | undefined {
  const code = literal(property["key"]);
  const value = property["value"];
  if (code === undefined || !/^[a-z][a-z0-9_]*\.[a-z0-9_.]+$/.test(code)) return undefined;
  if (!isNode(value) || value.type !== "ArrayExpression") return undefined;
  const [status, wire, message] = value["elements"] as readonly unknown[];
  const parts = [number(status), joined(wire), joined(message)] as const;
  if (parts[0] === undefined || parts[1] === undefined || parts[2] === undefined) {
    throw new Error(
      `the entry "${code}" of a problem table must be written as [status, "WIRE", "message"], without computed values`,
    );
  }
  return { code, status: parts[0], wire: parts[1], message: parts[2] };
}

function number(node: unknown): number | undefined {
  return isNode(node) && node.type === "Literal" && typeof node["value"] === "number" ? node["value"] : undefined;
}

/** The text of a string, or of strings joined by `+`. */
function joined(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type !== "BinaryExpression" || node["operator"] !== "+") return literal(node);
  const [left, right] = [joined(node["left"]), joined(node["right"])];
  return left === undefined || right === undefined ? undefined : left + right;
}
