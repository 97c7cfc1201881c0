import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  type ParsedNode,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import type { Limits } from "../limits.ts";
import { type DocNode, type Entry, FORBIDDEN_KEYS, type Scalar, type Style } from "../node.ts";
import { clip, type Path, pathText } from "../position/path.ts";
import { syntaxProblem, type SyntaxProblemCode, textFault, numberFault } from "../text.ts";

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
  const faults = faultsIn(text);
  const anchors = createAnchors(faults);
  let nodes = 0;
  return convert(root, []);

  function convert(node: unknown, path: Path, fallback = 0): DocNode {
    nodes += 1;
    if (nodes > limits.maxNodes)
      throw faults.tooComplex(
        startOf(node),
        path,
        `There are more than ${limits.maxNodes} values (limit documentValues)`,
      );
    if (path.length > limits.maxDepth)
      throw faults.tooComplex(
        startOf(node),
        path,
        `Values are nested deeper than ${limits.maxDepth} levels (limit documentDepth)`,
      );
    if (isAlias(node)) return convert(anchors.resolve(node, path), path);
    anchors.add(node);
    if (isMap(node)) return anchors.whileOpen(node, () => map(node as YAMLMap.Parsed, path));
    if (isSeq(node)) return anchors.whileOpen(node, () => list(node as YAMLSeq.Parsed, path));
    return scalar(node, path, fallback);
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
      if (entries.has(key)) throw faults.notYaml(keyStart, here, `The key '${clip(key)}' is given twice`);
      if (key === "<<" && isScalar(pair.key) && pair.key.type === "PLAIN")
        throw faults.notYaml(keyStart, here, "Merge keys (<<) are not supported");
      if (FORBIDDEN_KEYS.has(key)) throw faults.notYaml(keyStart, here, `The key '${key}' is not allowed`);
      entries.set(key, { keyStart, node: convert(pair.value, here, keyStart) });
    }
    return { kind: "map", start: node.range[0], entries };
  }

  function keyOf({ key }: Pair, path: Path): string {
    if (!isScalar(key) || typeof key.value !== "string")
      throw faults.notYaml(startOf(key), path, "Keys must be strings");
    anchors.add(key);
    const reason = textFault(key.value);
    if (reason) throw faults.notYaml(startOf(key), path, reason);
    return key.value;
  }

  function scalar(node: unknown, path: Path, fallback: number): DocNode {
    if (!isScalar(node)) return { kind: "scalar", value: null, style: "plain", start: fallback, end: fallback };
    const value = node.value as Scalar;
    const [start, end] = node.range ?? [fallback, fallback];
    const reason =
      typeof value === "string" ? textFault(value) : typeof value === "number" ? numberFault(value) : undefined;
    if (reason) throw faults.notYaml(start, path, reason);
    return { kind: "scalar", value, style: STYLES[node.type ?? "PLAIN"] ?? "plain", start, end };
  }
}

type Faults = ReturnType<typeof faultsIn>;

/** The faults of a text, by code. */
function faultsIn(text: string) {
  const faultOf =
    (code: SyntaxProblemCode) =>
    (offset: number, path: Path, message: string): Error =>
      syntaxProblem(code, { text, offset, message, path: pathText(path) });
  return { notYaml: faultOf("document.not_yaml"), tooComplex: faultOf("document.too_complex") };
}

/** The anchors before the current node, and the collections that are still open there. */
function createAnchors(faults: Faults) {
  const anchors = new Map<string, ParsedNode>();
  const open = new Set<unknown>();
  return {
    /** Adds the node's anchor, if it has one. */
    add(node: unknown): void {
      if ((isScalar(node) || isMap(node) || isSeq(node)) && node.anchor) anchors.set(node.anchor, node as ParsedNode);
    },
    /** The node that an alias names. */
    resolve(alias: Alias, path: Path): ParsedNode {
      const name = clip(alias.source);
      const target = anchors.get(alias.source);
      if (!target) throw faults.notYaml(startOf(alias), path, `The alias *${name} has no anchor before it`);
      if (open.has(target))
        throw faults.tooComplex(startOf(alias), path, `The alias *${name} stands inside what it names`);
      return target;
    },
    /** Runs `work` while `node` counts as open: an alias to an open node would have no end. */
    whileOpen(node: unknown, work: () => DocNode): DocNode {
      open.add(node);
      const made = work();
      open.delete(node);
      return made;
    },
  };
}

function startOf(node: unknown): number {
  const ranged = node as { readonly range?: readonly [number, number, number] } | null;
  return ranged?.range?.[0] ?? 0;
}
