import { moduleOf } from "../../steps/table.ts";
import { loopFields, type StrategyDocument } from "./looping.ts";
import { type ValueField, variableFields } from "../../steps/value-field.ts";
import { chainFields } from "./chain.ts";
import { chainOf, deploymentOf, type PipelineDocument, type StageDocument } from "./schema.ts";
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

export const serviceVariablesOf = (stage: StageDocument) =>
  deploymentOf(stage)?.serviceConfig.serviceDefinition?.spec?.variables;

function fieldsOf(node: DocumentNode): readonly ValueField[] {
  switch (node.kind) {
    case "pipeline":
      return [
        ...variableFields("variable", ["variables"], node.document.variables),
        ...controlFields({ timeout: node.document.timeout }),
      ];
    case "stage": {
      return [
        ...variableFields("variable", ["variables"], node.document.variables),
        ...variableFields("variable", SERVICE_VARIABLES, serviceVariablesOf(node.document)),
        ...infraFields(node.document),
        ...chainedFields(node.document),
        ...controlFields(node.document),
      ];
    }
    case "step": {
      const { type, spec } = node.document;
      const fields = moduleOf(type).valueFields(spec);
      return [...fields.map((field) => ({ ...field, path: ["spec", ...field.path] })), ...controlFields(node.document)];
    }
    case "group":
      return [...variableFields("variable", ["variables"], node.document.variables), ...controlFields(node.document)];
    case "parallel":
      return [];
  }
}

type Controlled = {
  readonly timeout?: string | null | undefined;
  readonly when?: { readonly condition?: string | null | undefined } | null | undefined;
  readonly strategy?: StrategyDocument | null | undefined;
};

/** Of `timeout`, `when` and `strategy`. */
const controlFields = ({ timeout, when, strategy }: Controlled): readonly ValueField[] => [
  ...(timeout ? [{ kind: "text" as const, path: ["timeout"], value: timeout }] : []),
  ...(when?.condition ? [{ kind: "condition" as const, path: ["when", "condition"], value: when.condition }] : []),
  ...(strategy ? loopFields(strategy) : []),
];

function chainedFields(stage: StageDocument): readonly ValueField[] {
  const chain = chainOf(stage);
  return chain ? chainFields(chain) : [];
}

const INFRA = ["spec", "infrastructure", "infrastructureDefinition", "spec"];

function infraFields(stage: StageDocument): readonly ValueField[] {
  const infra = deploymentOf(stage)?.infrastructure.infrastructureDefinition?.spec;
  if (!infra) return [];
  return (["namespace", "releaseName"] as const).map((kind) => ({ kind, path: [...INFRA, kind], value: infra[kind] }));
}
