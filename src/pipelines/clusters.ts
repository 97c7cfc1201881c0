/** The clusters of infrastructures: their steps run on delegates that can connect, and get a kubeconfig there. */
import type { UsedConnector } from "../connectors/index.ts";
import type { NodeId, Plan, PlanNode } from "../engine/index.ts";
import type { Outline } from "./document/evaluate-variables.ts";
import { deploymentOf, type PipelineDocument } from "./document/schema.ts";
import { nodesIn, stageOf, type StepNode, visitPipeline } from "./document/visit.ts";

/** The connectors of a run by their references. */
export type Connectors = ReadonlyMap<string, UsedConnector>;

/** The plan with the cluster of each script that runs on its delegate's machine; a remote host has its own. */
export function withClusters({ plan, idOf }: Outline, document: PipelineDocument, connectors: Connectors): Plan {
  const nodes = new Map<NodeId, PlanNode>();
  for (const step of nodesIn(visitPipeline(document))) {
    const node = step.kind === "step" ? plan.nodes[idOf(step)] : undefined;
    const infrastructure = step.kind === "step" ? infrastructureOf(step) : undefined;
    const reference = infrastructure?.infrastructureDefinition?.spec.connectorRef ?? "";
    const connector = connectors.get(reference);
    if (node?.kind !== "step" || node.work.kind !== "shell" || node.work["target"]) continue;
    if (!infrastructure || !connector) continue;
    const selectors = selectorsOf(node.selectors, connector);
    const kubernetes = { connector: reference, namespace: "<+infra.namespace>", selectors };
    const home = { ...projectOf(plan), environmentRef: infrastructure.environmentRef };
    nodes.set(node.id, { ...node, selectors, work: { ...node.work, home, kubernetes } });
  }
  return nodes.size === 0 ? plan : { ...plan, nodes: { ...plan.nodes, ...Object.fromEntries(nodes) } };
}

const infrastructureOf = (step: StepNode) => {
  const stage = stageOf(step);
  return stage && deploymentOf(stage.document)?.infrastructure;
};

/**
 * The identity of a delegate is that of the ones that the connector names, whatever the step says. Otherwise the
 * connector's selectors apply where no other level has any.
 */
function selectorsOf(own: readonly string[], { selectors, isInherited }: UsedConnector): readonly string[] {
  if (isInherited) return [...new Set([...own, ...selectors])];
  return own.length > 0 ? own : selectors;
}

function projectOf({ context }: Plan) {
  const { org, project } = context as {
    readonly [key in "org" | "project"]: { readonly identifier: string };
  };
  return { orgIdentifier: org.identifier, projectIdentifier: project.identifier };
}
