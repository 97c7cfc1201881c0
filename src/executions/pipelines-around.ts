/** The pipelines of an execution that a node belongs to. */
import {
  ancestorsOf,
  contextOfPipeline,
  type Json,
  type NodeId,
  type Plan,
  pipelineOf,
  type PlanNode,
} from "../engine/index.ts";
import type { Uuid } from "../core/ids.ts";
import type { InProject } from "../pipelines/index.ts";

export type ChainedPipeline = {
  readonly node: NodeId;
  /** The id of what was saved. */
  readonly id: Uuid;
  readonly scope: InProject;
  readonly identifier: string;
  /** The number of pipelines around it. */
  readonly depth: number;
};

/** The chained pipelines around a definition, the outermost first; none in the pipeline of the execution itself. */
export function chainedAround(plan: Plan, definition: NodeId): readonly ChainedPipeline[] {
  if (!plan.chained || !Object.hasOwn(plan.nodes, definition)) return [];
  const own = plan.nodes[pipelineOf(plan, definition)];
  const found = own ? [own, ...ancestorsOf(plan, own.id)] : [];
  const chained = found.flatMap((node) => (node.kind === "pipeline" && node.saved !== undefined ? [node] : []));
  return chained.toReversed().map(({ id: node, saved }, nth) => {
    const { org, project, pipeline } = contextOfPipeline(plan, node);
    const scope = { orgIdentifier: identifierOf(org), projectIdentifier: identifierOf(project) };
    return { node, id: saved as Uuid, scope, identifier: identifierOf(pipeline), depth: nth + 1 };
  });
}

const identifierOf = (value: Json | undefined): string =>
  (value as { readonly identifier?: string } | undefined)?.identifier ?? "";

/** The path of a definition from the pipeline of the execution on: in a chained pipeline it begins with its stage. */
export function fullPathOf(plan: Plan, { id, path }: PlanNode): readonly string[] {
  if (!plan.chained || !Object.hasOwn(plan.nodes, id)) return path;
  const [stage] = ancestorsOf(plan, pipelineOf(plan, id));
  return stage ? [...fullPathOf(plan, stage), ...path] : path;
}
