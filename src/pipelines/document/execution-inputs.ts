/** Runtime inputs with `.executionInput()`: what each node asks for when it begins, and the expressions that read it. */
import { inputExpression, type Json, type NodeInput, type NodeInputs } from "../../engine/index.ts";
import { type Path, pathText } from "../../platform/document/position/path.ts";
import { isAskedMarker, readMarker } from "../../steps/schema/marker.ts";
import { textOf } from "./merge.ts";
import { pruned } from "./template.ts";
import type { PipelineDocument } from "./schema.ts";
import { type NodeField, valueFields } from "./texts.ts";
import type { DocumentNode } from "./visit.ts";

export type ExecutionInputs = {
  /** By the names of the node, with dots between them. */
  readonly ofNodes: ReadonlyMap<string, NodeInputs>;
  /** By the path of the runtime input: what stands there in a run. */
  readonly expressions: ReadonlyMap<string, string>;
};

export const keyOfNode = ({ names }: Pick<DocumentNode, "names">): string => names.join(".");

export function executionInputs(pipeline: PipelineDocument): ExecutionInputs {
  const asked = valueFields(pipeline).filter(({ value }) => isAskedMarker(value));
  const ofNodes = new Map<string, NodeInputs>();
  const expressions = new Map<string, string>();
  for (const [node, fields] of Map.groupBy(asked, (field) => field.node)) {
    const root = String(node.path.at(-1));
    const byPath = new Map(fields.map((field) => [pathText(field.path), field]));
    const inputs: NodeInput[] = [];
    const template = pruned("document" in node ? node.document : {}, {
      ...{ path: node.path, at: [root] },
      keep: (path, at, owner) => {
        const field = byPath.get(pathText(path));
        if (!field) return false;
        const input = inputOf(field, pathText(at), owner);
        inputs.push(input);
        expressions.set(pathText(path), inputExpression(input.key));
        return true;
      },
    });
    ofNodes.set(keyOfNode(node), { template: { [root]: template ?? {} } as Json, inputs });
  }
  return { ofNodes, expressions };
}

type Owner = { readonly [key: string]: unknown };

function inputOf({ kind, name, isNumber, value }: NodeField, key: string, owner: Owner): NodeInput {
  const read = readMarker(String(value));
  const { default: own, isMany } = "fault" in read ? {} : read;
  const usual = own ?? owner["default"] ?? (owner["required"] === false ? "" : undefined);
  return {
    key,
    ...(kind === "variable" && name !== undefined && { variable: name }),
    ...(isNumber && { type: "Number" }),
    ...(isMany && { isMany }),
    ...(owner["required"] === true && { isRequired: true }),
    ...(usual !== undefined && usual !== null && { default: textOf(usual) }),
  };
}

/** Where a value may be asked for while the pipeline runs: it is read when its node begins, and not before. */
export function mayBeAsked({ kind, path, node }: Pick<NodeField, "kind" | "path" | "node">): boolean {
  const [field] = path.slice(node.path.length);
  switch (kind) {
    case "template":
    case "namespace":
    case "releaseName":
      return true;
    case "text":
      return field !== "timeout";
    case "variable":
      return (node.kind === "stage" || node.kind === "group") && field === "variables" && path.at(-1) === "value";
    case "script":
    case "secret":
    case "login":
    case "host":
    case "folder":
    case "output":
    case "condition":
    case "loop":
      return false;
  }
}

export type AskedVariable = { readonly node: DocumentNode; readonly path: Path };

/** The variables that are asked for, by the names that lead to them from `pipeline` on. */
export const askedVariables = (pipeline: PipelineDocument): ReadonlyMap<string, AskedVariable> =>
  new Map(
    valueFields(pipeline).flatMap(({ kind, name, node, path, value }) =>
      kind === "variable" && name !== undefined && isAskedMarker(value)
        ? [[[...node.names, "variables", name].join("\0"), { node, path }] as const]
        : [],
    ),
  );
