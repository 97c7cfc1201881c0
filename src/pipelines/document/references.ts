import type { Path } from "../../platform/document/position/path.ts";
import type { PipelineDocument, StageDocument } from "./schema.ts";

/** A place of a pipeline that names something outside of it. */
export type Reference = {
  readonly kind: "service" | "environment" | "connector";
  /** Begins with `pipeline`. */
  readonly path: Path;
  readonly value: string;
  /** Index of the stage that it stands in. */
  readonly stage: number;
};

/** All of them, in the order of the document. */
export const referencesIn = (pipeline: PipelineDocument): readonly Reference[] =>
  pipeline.stages.flatMap(({ stage }, index) =>
    ofStage(stage).map(({ path, ...one }) => ({
      ...one,
      path: ["pipeline", "stages", index, "stage", "spec", ...path],
      stage: index,
    })),
  );

function ofStage({ spec }: StageDocument): readonly Omit<Reference, "stage">[] {
  const { serviceConfig, infrastructure } = spec;
  const definition = infrastructure.infrastructureDefinition;
  return [
    { kind: "service", path: ["serviceConfig", "serviceRef"], value: serviceConfig.serviceRef },
    { kind: "environment", path: ["infrastructure", "environmentRef"], value: infrastructure.environmentRef },
    ...(definition
      ? [
          {
            kind: "connector" as const,
            path: ["infrastructure", "infrastructureDefinition", "spec", "connectorRef"],
            value: definition.spec.connectorRef,
          },
        ]
      : []),
  ];
}
