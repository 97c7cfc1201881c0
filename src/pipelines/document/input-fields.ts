/** The runtime inputs of a pipeline as fields of a form, by the rules that a run checks. */
import { type Path, pathText } from "../../platform/document/position/path.ts";
import { isAskedMarker, isMarker, type Marker, readMarker } from "../../steps/schema/marker.ts";
import { fallbackOf, textOf } from "./merge.ts";
import { createNodeFinder } from "./node-finder.ts";
import { referencesIn } from "./references.ts";
import type { PipelineDocument } from "./schema.ts";
import { pruned } from "./template.ts";
import { valueFields } from "./texts.ts";
import { ancestorsOf, type DocumentNode, visitPipeline } from "./visit.ts";

/** What a value is: a reference of a resource where it names one. */
export const INPUT_TYPES = [
  ...(["String", "Number", "Secret", "SSHKey"] as const),
  ...(["Service", "Environment", "Connector", "DelegateSelectors"] as const),
] as const;
export type InputType = (typeof INPUT_TYPES)[number];

export type InputField = {
  readonly path: string;
  /** Where its value belongs in the template of inputs; undefined if it is asked for while the pipeline runs. */
  readonly templatePath: string | undefined;
  /** Of a variable its name, otherwise the last field of the path. */
  readonly name: string;
  readonly description: string | undefined;
  readonly type: InputType;
  /** Whether a run has to give a value. */
  readonly isRequired: boolean;
  /** What it gets without a value. */
  readonly fallback: string | undefined;
  readonly marker: Marker;
  /** The nodes that it stands in, from the outside inwards, without the pipeline and parallel lists. */
  readonly nodes: readonly InputNode[];
};

type InputNode = {
  readonly kind: "stage" | "group" | "step";
  readonly identifier: string;
  readonly name: string;
};

type Owner = { readonly [key: string]: unknown };

/** In the order of the document. */
export function inputFields(pipeline: PipelineDocument): readonly InputField[] {
  const inTemplate = templatePaths(pipeline);
  const typeAt = createTypes(pipeline);
  const nodeAt = createNodeFinder(visitPipeline(pipeline));
  const found: InputField[] = [];
  look(pipeline, ["pipeline"], {});
  return found;

  function look(value: unknown, path: Path, owner: Owner): void {
    if (isMarker(value)) add(String(value), path, owner);
    else if (Array.isArray(value)) for (const [nth, item] of value.entries()) look(item, [...path, nth], {});
    else if (typeof value === "object" && value !== null)
      for (const [key, item] of Object.entries(value)) look(item, [...path, key], value as Owner);
  }

  function add(text: string, path: Path, owner: Owner): void {
    const marker = readMarker(text);
    if ("fault" in marker) return;
    const fallback = fallbackOf(marker, owner);
    const node = nodeAt(path);
    const isVariable = path.at(-1) === "value" && typeof owner["name"] === "string";
    found.push({
      path: pathText(path),
      templatePath: inTemplate.get(pathText(path)),
      name: isVariable ? String(owner["name"]) : nameOf(path),
      description: isVariable && typeof owner["description"] === "string" ? owner["description"] : undefined,
      type: typeAt(path, owner),
      isRequired: fallback === undefined,
      fallback: fallback === undefined ? undefined : textOf(fallback),
      marker,
      nodes: [...ancestorsOf(node).toReversed(), node].flatMap(nodeOf),
    });
  }
}

function nodeOf(node: DocumentNode): readonly InputNode[] {
  if (node.kind === "pipeline" || node.kind === "parallel") return [];
  const { identifier, name } = node.document;
  return [{ kind: node.kind, identifier, name }];
}

const nameOf = (path: Path): string => path.findLast((part) => typeof part === "string") ?? "";

/** By the path in the pipeline. */
function templatePaths(pipeline: PipelineDocument): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  pruned(pipeline, {
    ...{ path: ["pipeline"], at: ["pipeline"] },
    keep: (path, at, _owner, value) => {
      const isInput = isMarker(value) && !isAskedMarker(value);
      if (isInput) paths.set(pathText(path), pathText(at));
      return isInput;
    },
  });
  return paths;
}

const KINDS = { service: "Service", environment: "Environment", connector: "Connector" } as const;
const VARIABLE_TYPES: ReadonlySet<unknown> = new Set(["String", "Number", "Secret"]);

function createTypes(pipeline: PipelineDocument): (path: Path, owner: Owner) => InputType {
  const references = new Map(referencesIn(pipeline).map(({ kind, path }) => [pathText(path), KINDS[kind]]));
  const fields = new Map(valueFields(pipeline).map((field) => [pathText(field.path), field]));
  return (path, owner) => {
    const at = pathText(path);
    const { kind, isNumber } = fields.get(at) ?? {};
    if (path.at(-1) === "delegateSelectors" || path.at(-2) === "delegateSelectors") return "DelegateSelectors";
    if (kind === "login") return "SSHKey";
    if (kind === "secret") return "Secret";
    if (isNumber) return "Number";
    if (path.at(-1) === "value" && VARIABLE_TYPES.has(owner["type"])) return owner["type"] as InputType;
    return references.get(at) ?? "String";
  };
}
