import { isMarker } from "./marker.ts";
import type { Path } from "../../platform/document/position/path.ts";
import type { PipelineDocument, StageDocument, StepDocument } from "./schema.ts";

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
  /** Of a value of the type Number. */
  readonly isNumber?: true;
};

/** All of them, in the order of the document; paths begin with `pipeline`. */
export function valueFields(pipeline: PipelineDocument): readonly ValueField[] {
  return [
    ...ofList("variable", ["pipeline", "variables"], pipeline.variables),
    ...pipeline.stages.flatMap(({ stage }, index) => ofStage(stage, ["pipeline", "stages", index, "stage"])),
  ];
}

function ofStage(stage: StageDocument, path: Path): readonly ValueField[] {
  const { serviceConfig, execution } = stage.spec;
  const service = [...path, "spec", "serviceConfig", "serviceDefinition", "spec", "variables"];
  const steps = (key: "steps" | "rollbackSteps") =>
    (execution[key] ?? []).flatMap(({ step }, index) =>
      ofStep(step, [...path, "spec", "execution", key, index, "step"]),
    );
  return [
    ...ofList("variable", [...path, "variables"], stage.variables),
    ...ofList("variable", service, serviceConfig.serviceDefinition?.spec?.variables),
    ...steps("steps"),
    ...steps("rollbackSteps"),
  ];
}

function ofStep({ spec }: StepDocument, path: Path): readonly ValueField[] {
  const script: ValueField = {
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

function ofTarget(target: StepDocument["spec"]["executionTarget"], path: Path): readonly ValueField[] {
  const { host, connectorRef, workingDirectory } = target ?? {};
  const fields: readonly ValueField[] = [
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

const ofList = (kind: ValueField["kind"], path: Path, list: readonly Valued[] | null | undefined): ValueField[] =>
  (list ?? []).flatMap(({ type, value, default: usual }, index) => {
    const field = (name: string, text: ValueField["value"]): ValueField => ({
      kind: type === "Secret" ? "secret" : kind,
      path: [...path, index, name],
      value: text,
      ...(type === "Number" && { isNumber: true }),
    });
    return [field("value", value), ...(isMarker(value) && usual != null ? [field("default", usual)] : [])];
  });
