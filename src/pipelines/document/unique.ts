import type { Path } from "../../platform/document/position/path.ts";
import type { PipelineDocument, StageDocument } from "./schema.ts";

export type Duplicate = { readonly path: Path; readonly message: string };
type Named = { readonly path: Path; readonly name: string };

/**
 * Identifiers and names that are given twice where they must differ: stages of
 * the pipeline, steps of a stage (rollback steps included), variables of a list.
 * The second and later ones are at fault.
 */
export function duplicates(pipeline: PipelineDocument): readonly Duplicate[] {
  const stages = pipeline.stages.map(({ stage }, index) => ({
    path: ["pipeline", "stages", index, "stage", "identifier"],
    name: stage.identifier,
  }));
  return [
    ...repeated("variable name", names(["pipeline", "variables"], pipeline.variables)),
    ...repeated("stage identifier", stages),
    ...pipeline.stages.flatMap(({ stage }, index) => ofStage(stage, ["pipeline", "stages", index, "stage"])),
  ];
}

function ofStage(stage: StageDocument, path: Path): readonly Duplicate[] {
  const { execution, serviceConfig } = stage.spec;
  const lists = ["steps", "rollbackSteps"] as const;
  const steps = lists.flatMap((key) =>
    (execution[key] ?? []).map(({ step }, index) => ({
      step,
      path: [...path, "spec", "execution", key, index, "step"],
    })),
  );
  const service = [...path, "spec", "serviceConfig", "serviceDefinition", "spec", "variables"];
  return [
    ...repeated("variable name", names([...path, "variables"], stage.variables)),
    ...repeated("variable name", names(service, serviceConfig.serviceDefinition?.spec?.variables)),
    ...repeated(
      "step identifier",
      steps.map((one) => ({ path: [...one.path, "identifier"], name: one.step.identifier })),
    ),
    ...steps.flatMap(({ step, path: at }) => [
      ...repeated("variable name", names([...at, "spec", "environmentVariables"], step.spec.environmentVariables)),
      ...repeated("variable name", names([...at, "spec", "outputVariables"], step.spec.outputVariables)),
    ]),
  ];
}

const names = (path: Path, list: readonly { readonly name: string }[] | null | undefined): Named[] =>
  (list ?? []).map(({ name }, index) => ({ path: [...path, index, "name"], name }));

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
