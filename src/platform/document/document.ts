import { readJson } from "./json/json.ts";
import { LIMITS, type Limits } from "./limits.ts";
import { linesOf, type Position } from "./position/lines.ts";
import { type DocNode, findNode, toValue } from "./node.ts";
import { sourceOffset } from "./position/offset.ts";
import { type Path, pathText } from "./position/path.ts";
import { readText } from "./text.ts";
import { readYaml } from "./yaml/yaml.ts";

/** JSON has a reader of its own, since YAML allows more. */
export type Format = "yaml" | "json";

/** A document that was read: its value, and where in the text each part of it stands. */
export type Doc = {
  /** Scalars, arrays, and maps without a prototype. */
  readonly value: unknown;
  /** Where the value at `path` stands; undefined when there is none. */
  readonly position: (path: Path) => Position | undefined;
  /** Where the key at the end of `path` stands; undefined for items of lists and for the top. */
  readonly keyPosition: (path: Path) => Position | undefined;
  /** Where character `offset` of the string at `path` stands: exact in literal blocks and strings on one line. */
  readonly positionIn: (path: Path, offset: number) => Position | undefined;
  /** The scalar at `path` as it was written, quotes included; undefined for anything else. */
  readonly source: (path: Path) => string | undefined;
  readonly pathText: (path: Path) => string;
};

/**
 * Reads a YAML or JSON body from outside, within bounds: `LIMITS` unless told otherwise. Throws a Problem, HTTP 400:
 * `document.too_large`, `document.too_complex` (INVALID_REQUEST), or
 * `document.not_yaml`, `document.not_json` (INVALID_YAML_ERROR), the last three
 * with a fault that has line and column. `format: "json"` refuses what only YAML allows.
 */
export function parseDocument(
  input: string | Uint8Array,
  options: Partial<Limits> & { readonly format?: Format } = {},
): Doc {
  const limits: Limits = { ...LIMITS, ...options };
  const json = options.format === "json";
  const text = readText(input, json ? "document.not_json" : "document.not_yaml", limits.maxBytes);
  return docOf(text, json ? readJson(text, limits) : readYaml(text, limits));
}

function docOf(text: string, root: DocNode): Doc {
  const at = linesOf(text);
  return {
    value: toValue(root),
    position: (path) => {
      const found = findNode(root, path);
      return found && at(found.node.start);
    },
    keyPosition: (path) => {
      const keyStart = findNode(root, path)?.keyStart;
      return keyStart === undefined ? undefined : at(keyStart);
    },
    positionIn: (path, offset) => {
      const node = findNode(root, path)?.node;
      return node && at(node.kind === "scalar" ? sourceOffset(text, node, offset) : node.start);
    },
    source: (path) => {
      const node = findNode(root, path)?.node;
      return node?.kind === "scalar" ? text.slice(node.start, node.end) : undefined;
    },
    pathText,
  };
}
