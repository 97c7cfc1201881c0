import { isAlias, isMap, isScalar, isSeq, type Pair, type ParsedNode, type YAMLMap, type YAMLSeq } from "yaml";
import type { Limits } from "../limits.ts";
import { type DocNode, type Entry, FORBIDDEN_KEYS, type Scalar, type Style } from "../node.ts";
import { clip, type Path, pathText } from "../position/path.ts";
import { faultAt, type Syntax, unfit, unfitNumber } from "../text.ts";

const STYLES: { readonly [type: string]: Style } = {
  PLAIN: "plain",
  QUOTE_SINGLE: "single",
  QUOTE_DOUBLE: "double",
  BLOCK_LITERAL: "literal",
  BLOCK_FOLDED: "folded",
};

/**
 * Our own tree from the library's. Each use of an alias is a copy of what its
 * anchor names and is counted as such, so a text cannot stand for more values
 * than `maxNodes`, however it repeats itself.
 */
export function fromYaml(text: string, root: ParsedNode, limits: Limits): DocNode {
  const anchors = new Map<string, ParsedNode>();
  const open = new Set<unknown>();
  let nodes = 0;
  return convert(root, []);

  function convert(node: unknown, path: Path, fallback = 0): DocNode {
    nodes += 1;
    if (nodes > limits.maxNodes) throw refuse(node, path, `There are more than ${limits.maxNodes} values`);
    if (path.length > limits.maxDepth) {
      throw refuse(node, path, `Values are nested deeper than ${limits.maxDepth} levels`);
    }
    if (isAlias(node)) return convert(named(node, node.source, path), path);
    remember(node);
    if (isMap(node)) return inside(node, () => map(node as YAMLMap.Parsed, path));
    if (isSeq(node)) return inside(node, () => list(node as YAMLSeq.Parsed, path));
    return scalar(node, path, fallback);
  }

  /** Runs `work` while `node` counts as open: an alias to an open node would have no end. */
  function inside(node: unknown, work: () => DocNode): DocNode {
    open.add(node);
    const made = work();
    open.delete(node);
    return made;
  }

  function list(node: YAMLSeq.Parsed, path: Path): DocNode {
    const items = node.items.map((item, index) => convert(item, [...path, index], node.range[0]));
    return { kind: "list", start: node.range[0], items };
  }

  function map(node: YAMLMap.Parsed, path: Path): DocNode {
    const entries = new Map<string, Entry>();
    for (const pair of node.items) {
      const key = keyOf(pair, path);
      const here = [...path, key];
      const keyStart = startOf(pair.key);
      if (entries.has(key)) throw fault("document.not_yaml", keyStart, here, `The key '${clip(key)}' is given twice`);
      if (key === "<<" && isScalar(pair.key) && pair.key.type === "PLAIN")
        throw fault("document.not_yaml", keyStart, here, "Merge keys (<<) are not supported");
      if (FORBIDDEN_KEYS.has(key)) throw fault("document.not_yaml", keyStart, here, `The key '${key}' is not allowed`);
      entries.set(key, { keyStart, node: convert(pair.value, here, keyStart) });
    }
    return { kind: "map", start: node.range[0], entries };
  }

  function keyOf(pair: Pair, path: Path): string {
    const key = pair.key;
    if (!isScalar(key) || typeof key.value !== "string") {
      throw fault("document.not_yaml", startOf(key), path, "Keys must be strings");
    }
    remember(key);
    const reason = unfit(key.value);
    if (reason) throw fault("document.not_yaml", startOf(key), path, reason);
    return key.value;
  }

  function scalar(node: unknown, path: Path, fallback: number): DocNode {
    if (!isScalar(node)) return { kind: "scalar", value: null, style: "plain", start: fallback, end: fallback };
    const value = node.value as Scalar;
    const [start, end] = node.range ?? [fallback, fallback];
    const reason =
      typeof value === "string" ? unfit(value) : typeof value === "number" ? unfitNumber(value) : undefined;
    if (reason) throw fault("document.not_yaml", start, path, reason);
    return { kind: "scalar", value, style: STYLES[node.type ?? "PLAIN"] ?? "plain", start, end };
  }

  function named(alias: unknown, name: string, path: Path): ParsedNode {
    const target = anchors.get(name);
    if (!target) {
      throw fault("document.not_yaml", startOf(alias), path, `The alias *${clip(name)} has no anchor before it`);
    }
    if (open.has(target)) throw refuse(alias, path, `The alias *${clip(name)} stands inside what it names`);
    return target;
  }

  function remember(node: unknown): void {
    if ((isScalar(node) || isMap(node) || isSeq(node)) && node.anchor) anchors.set(node.anchor, node as ParsedNode);
  }

  function refuse(node: unknown, path: Path, message: string): Error {
    return fault("document.too_complex", startOf(node), path, message);
  }

  function fault(code: Syntax, offset: number, path: Path, message: string): Error {
    return faultAt(code, text, offset, message, pathText(path));
  }
}

function startOf(node: unknown): number {
  const ranged = node as { readonly range?: readonly [number, number, number] } | null;
  return ranged?.range?.[0] ?? 0;
}
