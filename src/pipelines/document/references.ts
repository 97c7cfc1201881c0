import type { Path } from "../../platform/document/position/path.ts";
import { deploymentOf, type PipelineDocument } from "./schema.ts";
import { type StageNode, stagesIn } from "./visit.ts";

/** A place of a pipeline that names something outside of it. */
export type Reference = {
  readonly kind: "service" | "environment" | "connector";
  /** Begins with `pipeline`. */
  readonly path: Path;
  readonly value: string;
  /** The stage that it stands in. */
  readonly stage: StageNode;
};

/** All of them, in the order of the document. */
export const referencesIn = (pipeline: PipelineDocument): readonly Reference[] => stagesIn(pipeline).flatMap(ofStage);

function ofStage(stage: StageNode): readonly Reference[] {
  const deployment = deploymentOf(stage.document);
  if (!deployment) return [];
  const { serviceConfig, infrastructure } = deployment;
  const connector = infrastructure.infrastructureDefinition?.spec.connectorRef;
  const reference = (kind: Reference["kind"], path: Path, value: string): Reference => ({
    ...{ kind, value, stage },
    path: [...stage.path, "spec", ...path],
  });
  return [
    reference("service", ["serviceConfig", "serviceRef"], serviceConfig.serviceRef),
    reference("environment", ["infrastructure", "environmentRef"], infrastructure.environmentRef),
    ...(connector === undefined
      ? []
      : [reference("connector", ["infrastructure", "infrastructureDefinition", "spec", "connectorRef"], connector)]),
  ];
}
