import type { Path } from "../../platform/document/position/path.ts";
import type { PipelineDocument } from "./schema.ts";
import { type DocumentNode, namedChildren, nodesIn, visitPipeline } from "./visit.ts";

export type Duplicate = { readonly path: Path; readonly message: string };
type Named = { readonly path: Path; readonly name: string };

/**
 * Identifiers that are given twice where they must differ: stages of the
 * pipeline, steps and step groups of a stage or step group (rollback steps
 * included). The second and later ones are at fault.
 */
export const duplicates = (pipeline: PipelineDocument): readonly Duplicate[] =>
  nodesIn(visitPipeline(pipeline)).flatMap(ofNode);

function ofNode(node: DocumentNode): readonly Duplicate[] {
  switch (node.kind) {
    case "pipeline":
      return repeated("stage identifier", identifiers(node, "stages"));
    case "stage":
    case "group":
      return repeated("step identifier", [...identifiers(node, "steps"), ...identifiers(node, "rollbackSteps")]);
    case "step":
    case "parallel":
      return [];
  }
}

const identifiers = (node: DocumentNode, list: "stages" | "steps" | "rollbackSteps"): readonly Named[] =>
  namedChildren(node, list).map(({ document, path }) => ({ path: [...path, "identifier"], name: document.identifier }));

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
