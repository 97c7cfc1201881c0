import { FORMAT, type Plan, type PlanNode } from "../engine/index.ts";
import { type Context, contextOf, type Facts, type SomeFacts } from "./document/context.ts";
import { requireNumbers } from "./document/check-environment.ts";
import type { PipelineDocument } from "./document/schema.ts";
import { type GivenValue, withValues } from "./document/select-stages.ts";
import { evaluateKnownVariables, evaluateVariables, type Outline } from "./document/evaluate-variables.ts";
import { withClusters, type Connectors } from "./clusters.ts";
import { withHosts } from "./hosts.ts";
import type { Asks } from "./inputs.ts";
import { planNodes } from "./plan-nodes.ts";

export type { Facts } from "./document/context.ts";

/** A pipeline whose runtime inputs are filled in, and the same as its author alone has it; see `fillIn`. */
export type FilledPipeline = {
  readonly document: PipelineDocument;
  readonly authored: PipelineDocument;
  readonly asks?: Asks;
  /** By reference. */
  readonly connectors?: Connectors;
  /** Of stages that the run leaves out. */
  readonly values?: readonly GivenValue[];
};

/**
 * What the engine runs, from a pipeline whose runtime inputs are filled in.
 * Pure but for `newId`, which names each node once. Variables are evaluated here,
 * once: throws `pipeline.unresolved_variable` (400) when one reads what is not there, or is not of its type. Throws
 * `pipeline.host_refused` (400) when a caller would choose the host that a step logs in to.
 */
export const buildPlan = (filled: FilledPipeline, facts: Facts, newId: () => string): Plan =>
  buildOutline(filled, facts, newId).plan;

/** The same, with the ids that the nodes of the document have. A stage that runs another pipeline has no steps yet. */
export function buildOutline(
  { document: pipeline, authored, asks = NO_ASKS, connectors = new Map(), values = [] }: FilledPipeline,
  facts: Facts,
  newId: () => string,
): Outline {
  const own = contextOf(pipeline, facts);
  const context = { ...own, value: withValues(own.value, values) };
  const outline = planOf(pipeline, context, newId);
  evaluateVariables(outline, context);
  requireNumbers(pipeline, outline);
  const plan = withHosts(outline, authored, facts);
  return {
    ...outline,
    plan: withAsks({ ...outline, plan: withClusters({ ...outline, plan }, pipeline, connectors) }, asks),
  };
}

const NO_ASKS: Asks = new Map();

/** The plan with what its nodes ask for when they begin. */
function withAsks({ plan, idOf }: Outline, asks: Asks): Plan {
  const nodes = [...asks].map(([names, inputs]) => {
    const id = idOf({ names: names.split(".") });
    return [id, { ...plan.nodes[id], asks: inputs } as PlanNode] as const;
  });
  return nodes.length === 0 ? plan : { ...plan, nodes: { ...plan.nodes, ...Object.fromEntries(nodes) } };
}

/** The plan as expressions see it before the run is made; variables that cannot be evaluated yet have no value. */
export function outlineOf(pipeline: PipelineDocument, facts: SomeFacts, newId: () => string): Outline {
  const context = contextOf(pipeline, facts);
  const outline = planOf(pipeline, context, newId);
  evaluateKnownVariables(outline, context);
  return outline;
}

function planOf(pipeline: PipelineDocument, context: Context, newId: () => string): Outline {
  const { org, project } = context.value as unknown as Pick<Facts, "org" | "project">;
  const scope = { orgIdentifier: org.identifier, projectIdentifier: project.identifier };
  const { root, nodes, idOf } = planNodes(pipeline, scope, newId);
  const byId = Object.fromEntries(nodes.map((node) => [node.id, node]));
  return { plan: { format: FORMAT, root, nodes: byId, context: context.value }, idOf };
}
