import { moduleOf } from "../../steps/table.ts";
import { type ValueField, variableFields } from "../../steps/value-field.ts";
import type { PipelineDocument } from "./schema.ts";
import { type DocumentNode, nodesIn, visitPipeline } from "./visit.ts";

/** A value field with its path from `pipeline` on, and the node that it is a field of. */
export type NodeField = ValueField & { readonly node: DocumentNode };

/** All of them, in the order of the document. */
export const valueFields = (pipeline: PipelineDocument): readonly NodeField[] =>
  nodesIn(visitPipeline(pipeline)).flatMap((node) =>
    fieldsOf(node).map((field) => ({ ...field, path: [...node.path, ...field.path], node })),
  );

/** Where the variables of a stage's service stand, from the stage. */
export const SERVICE_VARIABLES = ["spec", "serviceConfig", "serviceDefinition", "spec", "variables"];

function fieldsOf(node: DocumentNode): readonly ValueField[] {
  switch (node.kind) {
    case "pipeline":
      return variableFields("variable", ["variables"], node.document.variables);
    case "stage": {
      const { variables, spec } = node.document;
      const ofService = spec.serviceConfig.serviceDefinition?.spec?.variables;
      return [
        ...variableFields("variable", ["variables"], variables),
        ...variableFields("variable", SERVICE_VARIABLES, ofService),
      ];
    }
    case "step": {
      const { type, spec } = node.document;
      return moduleOf(type)
        .valueFields(spec)
        .map((field) => ({ ...field, path: ["spec", ...field.path] }));
    }
    case "group":
    case "parallel":
      return [];
  }
}
