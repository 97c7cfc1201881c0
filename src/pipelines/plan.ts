import {
  type FailureAction,
  type FailureStrategy,
  FORMAT,
  type NodeId,
  type Plan,
  type PlanNode,
  type SecretsHome,
} from "../engine/index.ts";
import { type Context, contextOf, type Facts, type SomeFacts } from "./document/context.ts";
import { requireNumbers } from "./document/check-environment.ts";
import { moduleOf } from "../steps/table.ts";
import { parseDuration } from "../steps/schema/duration.ts";
import { deploymentOf, type PipelineDocument, type StageDocument, type StepDocument } from "./document/schema.ts";
import type { FailureActionDocument } from "./document/failure-strategies.ts";
import { secretVariables, withSecrets } from "./document/secrets.ts";
import { evaluateKnownVariables, evaluateVariables, type Outline } from "./document/evaluate-variables.ts";
import { ancestorsOf, type DocumentNode, type StageNode, stageOf, stagesIn, type StepNode } from "./document/visit.ts";
import { withClusters, type Connectors } from "./clusters.ts";
import { withHosts } from "./hosts.ts";

export type { Facts } from "./document/context.ts";

/** How long a step may run that does not say so. */
export const DEFAULT_TIMEOUT_MS = 10 * 60_000;

/** A pipeline whose runtime inputs are filled in, and the same as its author alone has it; see `fillIn`. */
export type FilledPipeline = {
  readonly document: PipelineDocument;
  readonly authored: PipelineDocument;
  /** By reference. */
  readonly connectors?: Connectors;
};

/**
 * What the engine runs, from a pipeline whose runtime inputs are filled in.
 * Pure but for `newId`, which names each node once. Variables are evaluated here,
 * once: throws `pipeline.unresolved_variable` (400) when one reads what is not there, or is not of its type. Throws
 * `pipeline.host_refused` (400) when a caller would choose the host that a step logs in to.
 */
export function buildPlan(
  { document: pipeline, authored, connectors = new Map() }: FilledPipeline,
  facts: Facts,
  newId: () => string,
): Plan {
  const context = contextOf(pipeline, facts);
  const outline = planNodes(pipeline, context, newId);
  evaluateVariables(outline, context);
  requireNumbers(pipeline, outline);
  const plan = withHosts(outline, authored, facts);
  return withClusters({ ...outline, plan }, pipeline, connectors);
}

/** The plan as expressions see it before the run is made; variables that cannot be evaluated yet have no value. */
export function outlineOf(pipeline: PipelineDocument, facts: SomeFacts, newId: () => string): Outline {
  const context = contextOf(pipeline, facts);
  const outline = planNodes(pipeline, context, newId);
  evaluateKnownVariables(outline, context);
  return outline;
}

function planNodes(pipeline: PipelineDocument, context: Context, newId: () => string): Outline {
  const root = newId();
  const { org, project } = context.value as unknown as Pick<Facts, "org" | "project">;
  const scope = { orgIdentifier: org.identifier, projectIdentifier: project.identifier };
  const stages = stagesIn(pipeline).map((stage) => stageNodes(stage, scope, newId));
  const children = stages.map(({ id }) => id);
  const { identifier, name } = pipeline;
  const top: PlanNode = { kind: "pipeline", id: root, identifier, name, path: ["pipeline"], children };
  const nodes = [top, ...stages.flatMap((stage) => stage.nodes)];
  const ids = new Map(nodes.map(({ path, id }) => [path.join("."), id]));
  return {
    plan: {
      format: FORMAT,
      root,
      nodes: Object.fromEntries(nodes.map((node) => [node.id, node])),
      context: context.value,
    },
    idOf: ({ names }) => ids.get(names.join(".")) ?? root,
  };
}

/** A node with everything below it; `id` is its own. */
type Made = { readonly id: NodeId; readonly nodes: readonly PlanNode[] };

function stageNodes(stage: StageNode, scope: Omit<SecretsHome, "environmentRef">, newId: () => string): Made {
  const id = newId();
  const { identifier, name, type, failureStrategies } = stage.document;
  const home = { ...scope, environmentRef: deploymentOf(stage.document)?.infrastructure.environmentRef ?? "" };
  const group = (list: "steps" | "rollbackSteps", title: string): Made => {
    const groupId = newId();
    const steps = stage.children.flatMap((child) =>
      child.kind === "step" && child.list === list ? [stepNode(child, home, newId())] : [],
    );
    const path = [...stage.names, "spec", "execution", list];
    const children = steps.map((step) => step.id);
    const node = { kind: "group" as const, role: list, id: groupId, identifier: list, name: title, path, children };
    return { id: groupId, nodes: [node, ...steps] };
  };
  const steps = group("steps", "Execution");
  const rollback = group("rollbackSteps", "Rollback");
  const node: PlanNode = {
    ...{ kind: "stage", type, id, identifier, name, path: stage.names },
    steps: steps.id,
    rollback: rollback.id,
    failureStrategies: (failureStrategies ?? []).map(strategyOf),
  };
  return { id, nodes: [node, ...steps.nodes, ...rollback.nodes] };
}

const strategyOf = ({ onFailure }: NonNullable<StageDocument["failureStrategies"]>[number]): FailureStrategy => ({
  errors: onFailure.errors,
  action: actionOf(onFailure.action),
});

/** Milliseconds of a duration that the schema has checked. */
function msOf(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new Error(`the duration was not checked: ${text}`);
  return ms;
}

function actionOf(action: FailureActionDocument): FailureAction {
  switch (action.type) {
    case "Retry":
    case "RetryStepGroup": {
      const { retryCount, retryIntervals, onRetryFailure } = action.spec;
      return {
        type: action.type,
        count: Number(retryCount),
        intervals: (retryIntervals ?? []).map(msOf),
        fallback: onRetryFailure ? actionOf(onRetryFailure.action) : { type: "MarkAsFailure" },
      };
    }
    case "ManualIntervention":
      return {
        type: action.type,
        timeoutMs: msOf(action.spec.timeout),
        fallback: actionOf(action.spec.onTimeout.action),
      };
    case "Abort":
    case "Ignore":
    case "MarkAsFailure":
    case "MarkAsSuccess":
    case "PipelineRollback":
    case "StageRollback":
    case "StepGroupRollback":
      return { type: action.type };
  }
}

function stepNode(step: StepNode, home: SecretsHome, id: NodeId): PlanNode {
  const { identifier, name, type, spec } = step.document;
  const secrets = secretVariables(step);
  const hasCluster = infrastructureOf(step) !== undefined;
  const context = { identifier, home, hasCluster, withSecrets: (text: string) => withSecrets(text, secrets) };
  return {
    ...{ kind: "step", type, id, identifier, name, path: step.names },
    timeoutMs: timeoutOf(step.document),
    selectors: selectorsOf(step),
    work: moduleOf(type).plan(spec, context),
  };
}

/** The definition of the infrastructure that a step runs on; undefined if there is none. */
function infrastructureOf(step: StepNode) {
  const stage = stageOf(step);
  return (stage && deploymentOf(stage.document)?.infrastructure.infrastructureDefinition) ?? undefined;
}

function timeoutOf({ identifier, timeout }: StepDocument): number {
  if (!timeout) return DEFAULT_TIMEOUT_MS;
  const ms = parseDuration(timeout);
  if (ms === undefined) throw new Error(`the timeout of step ${identifier} was not checked: ${timeout}`);
  return ms;
}

/** Those of the first level, from the step outwards, that has any. */
function selectorsOf(step: StepNode): readonly string[] {
  const { type, spec } = step.document;
  for (const selectors of [moduleOf(type).delegateSelectors(spec), ...ancestorsOf(step).map(selectorsAt)]) {
    if (typeof selectors === "string") throw new Error(`delegate selectors were not merged: ${selectors}`);
    if (selectors && selectors.length > 0) return selectors;
  }
  return [];
}

const selectorsAt = (node: DocumentNode) =>
  node.kind === "step" || node.kind === "parallel" ? undefined : node.document.delegateSelectors;
