import type { ScalarNode } from "../node.ts";

/**
 * Where in the source the character at `at` of a string's value stands.
 * Exact for literal blocks and for strings on one line; the start of the
 * string for folded ones, whose line ends are not those of the value.
 */
export function sourceOffset(text: string, node: ScalarNode, at: number): number {
  if (typeof node.value !== "string") return node.start;
  switch (node.style) {
    case "literal":
      return inLiteral(text, { header: node.start, value: node.value }, at);
    case "folded":
      return node.start;
    case "plain":
    case "single":
    case "double": {
      const source = text.slice(node.start, node.end);
      if (source.includes("\n")) return node.start;
      return node.start + inLine(source, node.style, at);
    }
    default: {
      const closed: never = node.style;
      return closed;
    }
  }
}

/** The value's lines are those after the header, each less the indent, which is what the source has before them. */
function inLiteral(
  text: string,
  { header, value }: { readonly header: number; readonly value: string },
  at: number,
): number {
  const before = value.slice(0, at);
  const line = before.split("\n").length - 1;
  const column = at - (before.lastIndexOf("\n") + 1);
  let start = text.indexOf("\n", header) + 1;
  for (let skipped = 0; skipped < line; skipped += 1) start = text.indexOf("\n", start) + 1;
  const end = text.indexOf("\n", start);
  const source = text.slice(start, end === -1 ? text.length : end).replace(/\r$/, "");
  const content = value.slice(at - column).split("\n", 1)[0] ?? "";
  return start + Math.max(0, source.length - content.length) + column;
}

function inLine(source: string, style: "plain" | "single" | "double", at: number): number {
  if (style === "plain") return at;
  let offset = 1;
  for (let units = 0; units < at && offset < source.length;) {
    const escape = style === "double" ? escapeLength(source, offset) : source.startsWith("''", offset) ? 2 : 1;
    // `\U0001f600` is the one escape that stands for two units of the value.
    units += escape === 10 && Number.parseInt(source.slice(offset + 2, offset + 10), 16) > 0xffff ? 2 : 1;
    offset += escape;
  }
  return offset;
}

function escapeLength(source: string, offset: number): number {
  if (source[offset] !== "\\") return 1;
  switch (source[offset + 1]) {
    case "x":
      return 4;
    case "u":
      return 6;
    case "U":
      return 10;
    default:
      return 2;
  }
}
