import { createRequire } from "node:module";

/**
 * Reads the syntax tree of source files for the conventions. The parser is a dependency of knip and is resolved through
 * knip, so its place in node_modules does not matter. An upgrade of knip without it fails here.
 */
type Parser = {
  parseSync: (file: string, text: string) => { program: Node; errors: { message: string }[] };
};
const { parseSync } = createRequire(import.meta.resolve("knip"))("oxc-parser") as Parser;

/** An ESTree node. The type of a field is checked where it is read. */
export type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<
  Record<string, unknown>
>;

/** A reference to another module: import, re-export, require, dynamic import with a literal, or type `import("…")`. */
export type Import = {
  readonly specifier: string;
  readonly line: number;
  /** Whether type stripping removes it. */
  readonly typeOnly: boolean;
};

/** A string, or a template with `?` in place of each expression. */
export type Text = { readonly text: string; readonly line: number };

export type Source = {
  readonly imports: readonly Import[];
  readonly texts: readonly Text[];
  readonly nodes: readonly Node[];
  readonly lineOf: (node: Node) => number;
};

/** Parses a file. Throws if it has a syntax error, because a check must not skip files. */
export function parse(file: string, text: string): Source {
  const { program, errors } = parseSync(file, text);
  if (errors[0] !== undefined) throw new Error(`${file} does not parse: ${errors[0].message}`);
  const nodes = [...descend(program)];
  const lineOf = (node: Node): number => text.slice(0, node.start).split("\n").length;
  return {
    nodes,
    lineOf,
    imports: nodes.flatMap((node) => {
      const found = importOf(node);
      return found === undefined ? [] : [{ ...found, line: lineOf(node) }];
    }),
    texts: nodes.flatMap((node) => {
      const found = literal(node);
      return found === undefined ? [] : [{ text: found, line: lineOf(node) }];
    }),
  };
}

function* descend(node: Node): Generator<Node> {
  yield node;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* descend(child);
  }
}

export const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";

/** The text of a string literal or template; undefined for every other node. */
export function literal(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === "Literal") return typeof node["value"] === "string" ? node["value"] : undefined;
  if (node.type !== "TemplateLiteral") return undefined;
  return (node["quasis"] as { value: { cooked: string | null; raw: string } }[])
    .map(({ value }) => value.cooked ?? value.raw)
    .join("?");
}

function importOf(node: Node): Omit<Import, "line"> | undefined {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportNamedDeclaration":
    case "ExportAllDeclaration": {
      const specifier = literal(node["source"]);
      const kind = node["importKind"] ?? node["exportKind"];
      return specifier === undefined ? undefined : { specifier, typeOnly: kind === "type" };
    }
    case "ImportExpression":
    case "TSImportType": {
      // A computed dynamic import has no specifier to check; a template without expressions has one.
      const specifier = literal(node["source"]);
      return specifier === undefined ? undefined : { specifier, typeOnly: node.type === "TSImportType" };
    }
    case "CallExpression": {
      const callee = node["callee"];
      if (!isNode(callee) || callee.type !== "Identifier" || callee["name"] !== "require") return undefined;
      const specifier = literal((node["arguments"] as readonly unknown[])[0]);
      return specifier === undefined ? undefined : { specifier, typeOnly: false };
    }
    default:
      return undefined;
  }
}
