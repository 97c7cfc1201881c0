import type { Path } from "./position/path.ts";

/** How a string was written; decides how an offset in its value maps to the source. */
export type Style = "plain" | "single" | "double" | "literal" | "folded";

export type Scalar = string | number | boolean | null;
export type ScalarNode = {
  readonly kind: "scalar";
  readonly value: Scalar;
  readonly style: Style;
  /** Offsets in the source; `start` of a block scalar is its header. */
  readonly start: number;
  readonly end: number;
};
export type ListNode = { readonly kind: "list"; readonly start: number; readonly items: readonly DocNode[] };
export type Entry = { readonly keyStart: number; readonly node: DocNode };
export type MapNode = { readonly kind: "map"; readonly start: number; readonly entries: ReadonlyMap<string, Entry> };

/** What YAML and JSON have in common once read, with the offsets of everything. */
export type DocNode = ScalarNode | ListNode | MapNode;

/** Keys with a meaning to the host language; refused in every document. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** The plain value. Maps have no prototype: no key of theirs is inherited. The readers have bounded the depth. */
export function toValue(node: DocNode): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(toValue);
  const map: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [key, entry] of node.entries) map[key] = toValue(entry.node);
  return map;
}

export type FoundNode = { readonly node: DocNode; readonly keyStart: number | undefined };

/** What stands at a path. */
export function findNode(root: DocNode, path: Path): FoundNode | undefined {
  let found: FoundNode = { node: root, keyStart: undefined };
  for (const part of path) {
    const { node } = found;
    if (node.kind === "list" && typeof part === "number") {
      const item = node.items[part];
      if (!item) return undefined;
      found = { node: item, keyStart: undefined };
    } else if (node.kind === "map") {
      const entry = node.entries.get(String(part));
      if (!entry) return undefined;
      found = { node: entry.node, keyStart: entry.keyStart };
    } else return undefined;
  }
  return found;
}
