/** Finds the deployments among the nodes that an event has changed. */
import {
  contextOfPipeline,
  evaluateTemplate,
  ExpressionError,
  pipelineOf,
  scopeFor,
  type InstanceId,
  type Json,
  type NodeState,
  type Plan,
  type PlanNode,
} from "../../engine/index.ts";
import { homeOf, markText, seenFrom } from "../marks.ts";
import type { NodeChange } from "../node-rows.ts";
import { commitOf } from "./commit.ts";
import type { DeploymentChange } from "./deployment.ts";
import { member } from "./json.ts";

type Find = (id: InstanceId) => NodeState | undefined;

/** A stage that a retry has taken over was deployed by the earlier execution. */
export function deploymentsIn(plan: Plan, find: Find, changes: readonly NodeChange[]): readonly DeploymentChange[] {
  return changes.flatMap(({ node }) => {
    const definition = plan.nodes[node.definition];
    if (definition?.kind !== "stage" || definition.type !== "Deployment") return [];
    if (node.isReused || node.startedAt === null) return [];
    const { status, startedAt, endedAt, id } = node;
    const found = describe(plan, find, { node, definition });
    return found ? [{ id, status, startedAt, endedAt, ...found }] : [];
  });
}

type Stage = { readonly node: NodeState; readonly definition: PlanNode };

/** Undefined while the service or the environment has no value, and for one of another project. */
function describe(plan: Plan, find: Find, { node, definition }: Stage) {
  const context = contextOfPipeline(plan, pipelineOf(plan, definition.id));
  const stage = definition.path.reduce<Json | undefined>(member, context);
  const spec = member(stage, "spec");
  const home = homeOf(plan, context);
  const evaluate = evaluatorOf(plan, find, node.id);
  const [service, environment] = [
    member(member(spec, "serviceConfig"), "serviceRef"),
    member(member(spec, "infrastructure"), "environmentRef"),
  ].map((reference) => (typeof reference === "string" ? seenFrom(home, evaluate(reference)) : undefined));
  if (typeof service !== "string" || typeof environment !== "string" || !service || !environment) return undefined;
  const commit = commitOf(member(plan.context["trigger"], "payload"));
  return {
    ...{ service: markText(service), environment: markText(environment), version: versionOf(evaluate) },
    ...{ commitId: commit?.id ?? null, committedAt: commit?.committedAt ?? null },
  };
}

const VERSION_NAMES = ["version", "tag", "imageTag", "image_tag", "image"] as const;
const VERSION_PLACES = [
  "stage.spec.serviceConfig.serviceDefinition.spec.variables",
  "stage.variables",
  "pipeline.variables",
] as const;

/** The first of these variables that has a value: of the service, of the stage, of the pipeline. */
function versionOf(evaluate: (template: string) => string | undefined): string | null {
  for (const place of VERSION_PLACES)
    for (const name of VERSION_NAMES) {
      const value = evaluate(`<+${place}.${name}>`);
      if (value) return markText(value);
    }
  return null;
}

/** Evaluates for a node. Answers nothing for what has no value; secrets have none in expressions. */
function evaluatorOf(plan: Plan, find: Find, id: InstanceId) {
  const scope = scopeFor(plan, find, id);
  return (template: string): string | undefined => {
    try {
      return template.includes("<+") ? evaluateTemplate(template, scope) : template;
    } catch (error) {
      if (error instanceof ExpressionError) return undefined;
      throw error;
    }
  };
}
