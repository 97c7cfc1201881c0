import { isMarker } from "./marker.ts";
import type { Path } from "../../platform/document/position/path.ts";
import type { PipelineDocument, StepDocument } from "./schema.ts";
import { type DocumentNode, nodesIn, type StageNode, type StepNode, visitPipeline } from "./visit.ts";

/**
 * A place of a pipeline that a person's words go into as they are written:
 * a script, a template of which expressions are filled in when the step
 * starts, or a variable, which is evaluated once, when the execution starts. A
 * secret is the reference of one, in a variable of that type; a login that of
 * an SSH credential. A place is a template that is shown: no secret goes into it.
 */
export type ValueField = {
  readonly kind: "script" | "template" | "variable" | "secret" | "login" | "place";
  readonly path: Path;
  readonly value: string | number | boolean | null;
  /** The node that it is a field of. */
  readonly node: DocumentNode;
  /** Of a value of the type Number. */
  readonly isNumber?: true;
};

type FieldOfNode = Omit<ValueField, "node">;

/** All of them, in the order of the document; paths begin with `pipeline`. */
export const valueFields = (pipeline: PipelineDocument): readonly ValueField[] =>
  nodesIn(visitPipeline(pipeline)).flatMap((node) => fieldsOf(node).map((field) => ({ ...field, node })));

function fieldsOf(node: DocumentNode): readonly FieldOfNode[] {
  switch (node.kind) {
    case "pipeline":
      return ofList("variable", [...node.path, "variables"], node.document.variables);
    case "stage":
      return ofStage(node);
    case "step":
      return ofStep(node);
    case "group":
    case "parallel":
      return [];
  }
}

/** Where the variables of a stage's service stand, from the stage. */
export const SERVICE_VARIABLES = ["spec", "serviceConfig", "serviceDefinition", "spec", "variables"];

const ofStage = ({ document, path }: StageNode): readonly FieldOfNode[] => [
  ...ofList("variable", [...path, "variables"], document.variables),
  ...ofList(
    "variable",
    [...path, ...SERVICE_VARIABLES],
    document.spec.serviceConfig.serviceDefinition?.spec?.variables,
  ),
];

function ofStep({ document: { spec }, path }: StepNode): readonly FieldOfNode[] {
  const script: FieldOfNode = {
    kind: "script",
    path: [...path, "spec", "source", "spec", "script"],
    value: spec.source.spec.script,
  };
  return [
    script,
    ...ofList("template", [...path, "spec", "environmentVariables"], spec.environmentVariables),
    ...ofTarget(spec.executionTarget, [...path, "spec", "executionTarget"]),
  ];
}

function ofTarget(target: StepDocument["spec"]["executionTarget"], path: Path): readonly FieldOfNode[] {
  const { host, connectorRef, workingDirectory } = target ?? {};
  const fields: readonly FieldOfNode[] = [
    { kind: "place", path: [...path, "host"], value: host ?? null },
    { kind: "login", path: [...path, "connectorRef"], value: connectorRef ?? null },
    { kind: "place", path: [...path, "workingDirectory"], value: workingDirectory ?? null },
  ];
  return fields.filter(({ value }) => value !== null);
}

type Valued = {
  readonly type: string;
  readonly value: ValueField["value"];
  /** Of a variable: taken where a runtime input gets no value. */
  readonly default?: ValueField["value"] | undefined;
};

const ofList = (kind: ValueField["kind"], path: Path, list: readonly Valued[] | null | undefined): FieldOfNode[] =>
  (list ?? []).flatMap(({ type, value, default: usual }, index) => {
    const field = (name: string, text: ValueField["value"]): FieldOfNode => ({
      kind: type === "Secret" ? "secret" : kind,
      path: [...path, index, name],
      value: text,
      ...(type === "Number" && { isNumber: true }),
    });
    return [field("value", value), ...(isMarker(value) && usual != null ? [field("default", usual)] : [])];
  });
