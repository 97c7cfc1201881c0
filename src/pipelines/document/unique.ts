import type { Path } from "../../platform/document/position/path.ts";
import type { PipelineDocument } from "./schema.ts";
import { SERVICE_VARIABLES } from "./texts.ts";
import { type DocumentNode, namedChildren, nodesIn, visitPipeline } from "./visit.ts";

export type Duplicate = { readonly path: Path; readonly message: string };
type Named = { readonly path: Path; readonly name: string };

/**
 * Identifiers and names that are given twice where they must differ: stages of
 * the pipeline, steps and step groups of a stage or step group (rollback steps
 * included), variables of a list. The second and later ones are at fault.
 */
export const duplicates = (pipeline: PipelineDocument): readonly Duplicate[] =>
  nodesIn(visitPipeline(pipeline)).flatMap(ofNode);

function ofNode(node: DocumentNode): readonly Duplicate[] {
  switch (node.kind) {
    case "pipeline":
      return [
        ...repeatedNames([...node.path, "variables"], node.document.variables),
        ...repeated("stage identifier", identifiers(node, "stages")),
      ];
    case "stage": {
      const { variables, spec } = node.document;
      return [
        ...repeatedNames([...node.path, "variables"], variables),
        ...repeatedNames([...node.path, ...SERVICE_VARIABLES], spec.serviceConfig.serviceDefinition?.spec?.variables),
        ...repeatedSteps(node),
      ];
    }
    case "group":
      return repeatedSteps(node);
    case "step":
    case "parallel":
      return [];
  }
}

const identifiers = (node: DocumentNode, list: "stages" | "steps" | "rollbackSteps"): readonly Named[] =>
  namedChildren(node, list).map(({ document, path }) => ({ path: [...path, "identifier"], name: document.identifier }));

const repeatedSteps = (node: DocumentNode): readonly Duplicate[] =>
  repeated("step identifier", [...identifiers(node, "steps"), ...identifiers(node, "rollbackSteps")]);

const repeatedNames = (path: Path, list: readonly { readonly name: string }[] | null | undefined): Duplicate[] =>
  repeated(
    "variable name",
    (list ?? []).map(({ name }, index) => ({ path: [...path, index, "name"], name })),
  );

function repeated(what: string, all: readonly Named[]): Duplicate[] {
  const seen = new Set<string>();
  return all.flatMap(({ path, name }) => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [{ path, message: `The ${what} '${name}' is given twice` }];
  });
}
