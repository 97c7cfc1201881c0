/** Where in a YAML document a line stands, from its indentation: that works while the document is unfinished. */

export type Segment = {
  /** A key, or `[]` for an item of a list. */
  readonly key: string;
  /** The `type` beside the key: it decides which fields there are. */
  readonly type: string | undefined;
};

export type Place = {
  /** The keys around the mapping of the line, the outermost first. */
  readonly parents: readonly Segment[];
  /** The `type` in the mapping of the line. */
  readonly type: string | undefined;
  /** The keys of the mapping. */
  readonly siblings: ReadonlySet<string>;
  /** The key of the line, if it has one. */
  readonly key: string | undefined;
};

type Line = {
  /** Columns of the dashes before the key. */
  readonly dashes: readonly number[];
  readonly indent: number;
  readonly key: string | undefined;
  readonly value: string;
};

const KEY = /^("[^"]*"|'[^']*'|[^\s#'"[\]{},&*!|>%@`][^:#]*?)\s*:(?:\s+(.*))?$/;
const BLOCK = /^[|>][-+\d]*\s*(?:#.*)?$/;

/** Undefined in comments and in the lines of block texts. `column` counts for empty lines. Both begin at 0. */
export function placeAt(text: string, lineIndex: number, column: number): Place | undefined {
  const lines = readLines(text, lineIndex);
  const own = lines[lineIndex];
  if (own === undefined) return undefined;
  const isEmpty = own.key === undefined && own.value === "" && own.dashes.length === 0;
  const current = isEmpty ? { ...own, indent: column } : own;
  const { type, siblings } = mappingAround(lines, lineIndex, current);
  return { parents: parentsOf(lines, lineIndex, current), type, siblings, key: current.key };
}

/** Undefined for comments, and for lines of block texts other than the one asked for is not needed. */
function readLines(text: string, asked: number): readonly (Line | undefined)[] {
  let blockIndent: number | undefined;
  return text.split("\n").map((raw, index) => {
    const start = raw.search(/\S/);
    if (blockIndent !== undefined) {
      if (start === -1 || start > blockIndent) return undefined;
      blockIndent = undefined;
    }
    if (start === -1) return index === asked ? { dashes: [], indent: 0, key: undefined, value: "" } : undefined;
    const line = readLine(raw, start);
    if (line !== undefined && BLOCK.test(line.value)) blockIndent = line.dashes.at(-1) ?? line.indent;
    return line;
  });
}

function readLine(raw: string, start: number): Line | undefined {
  const dashes: number[] = [];
  let at = start;
  for (let dash = /^-(\s+|$)/.exec(raw.slice(at)); dash !== null; dash = /^-(\s+|$)/.exec(raw.slice(at))) {
    dashes.push(at);
    at += dash[0].length;
  }
  // What follows a lone dash stands two columns further.
  if (at === raw.length && dashes.length > 0) at = Math.max(at, (dashes.at(-1) ?? 0) + 2);
  const rest = raw.slice(at).trimEnd();
  if (rest.startsWith("#")) return undefined;
  const [, key, value = ""] = KEY.exec(rest) ?? [];
  return { dashes, indent: at, key: key?.replaceAll(/^["']|["']$/g, ""), value: key === undefined ? rest : value };
}

function parentsOf(lines: readonly (Line | undefined)[], index: number, own: Line): readonly Segment[] {
  const parents: Segment[] = [];
  let limit = own.indent;
  // A list may begin in the column of its key.
  let mayEqual = false;
  const leaveItems = (line: Line): void => {
    for (const dash of line.dashes.toReversed()) {
      if (dash >= limit) continue;
      parents.unshift({ key: "[]", type: undefined });
      limit = dash;
      mayEqual = true;
    }
  };
  leaveItems(own);
  for (let at = index - 1; at >= 0 && limit >= 0; at -= 1) {
    const line = lines[at];
    if (line === undefined) continue;
    if (line.key !== undefined && (line.indent < limit || (mayEqual && line.indent === limit))) {
      parents.unshift({ key: line.key, type: mappingAround(lines, at, line).type });
      limit = line.indent;
      mayEqual = false;
    }
    leaveItems(line);
  }
  return parents;
}

/** The keys and the `type` of the mapping that the line belongs to. */
function mappingAround(lines: readonly (Line | undefined)[], index: number, own: Line) {
  const siblings = new Set<string>();
  let type: string | undefined;
  const take = (line: Line): void => {
    if (line.indent !== own.indent || line.key === undefined) return;
    siblings.add(line.key);
    if (line.key === "type") type = line.value.replace(/\s+#.*$/, "").replaceAll(/^["']|["']$/g, "");
  };
  const startsItem = (line: Line): boolean => line.dashes.some((dash) => dash < own.indent);
  take(own);
  for (let at = index - 1; at >= 0 && !startsItem(at + 1 === index ? own : (lines[at + 1] ?? NONE)); at -= 1) {
    const line = lines[at];
    if (line === undefined) continue;
    if (line.indent < own.indent) break;
    take(line);
  }
  for (const line of lines.slice(index + 1)) {
    if (line === undefined) continue;
    if (line.indent < own.indent || startsItem(line)) break;
    take(line);
  }
  return { type, siblings };
}

const NONE: Line = { dashes: [], indent: 0, key: undefined, value: "" };
