import type {
  FailureStrategy,
  NodeId,
  Plan,
  PlanNode,
  ScriptBinding,
  SecretsHome,
  ShellTemplate,
} from "../engine/index.ts";
import { bindScript, secretsIn } from "../engine/index.ts";
import { type Context, contextOf, type Facts, type SomeFacts } from "./document/context.ts";
import { requireNumbers } from "./document/check-environment.ts";
import { parseDuration } from "./document/duration.ts";
import type { PipelineDocument, StageDocument, StepDocument } from "./document/schema.ts";
import { secretVariables, withSecrets } from "./document/secrets.ts";
import { evaluateKnownVariables, evaluateVariables } from "./document/evaluate-variables.ts";
import { withHosts } from "./hosts.ts";

export type { Facts } from "./document/context.ts";

/** How long a step may run that does not say so. */
export const DEFAULT_TIMEOUT_MS = 10 * 60_000;

type Item = NonNullable<StageDocument["spec"]["execution"]["rollbackSteps"]>[number];
type Selectors = PipelineDocument["delegateSelectors"];

/** A pipeline whose runtime inputs are filled in, and the same as its author alone has it; see `fillIn`. */
export type FilledPipeline = { readonly document: PipelineDocument; readonly authored: PipelineDocument };

/**
 * What the engine runs, from a pipeline whose runtime inputs are filled in.
 * Pure but for `newId`, which names each node once. Variables are evaluated here,
 * once: throws `pipeline.unresolved_variable` (400) when one reads what is not there, or is not of its type. Throws
 * `pipeline.host_refused` (400) when a caller would choose the host that a step logs in to.
 */
export function buildPlan({ document: pipeline, authored }: FilledPipeline, facts: Facts, newId: () => string): Plan {
  const context = contextOf(pipeline, facts);
  const { plan, stages } = nodesOf(pipeline, context, newId);
  evaluateVariables(plan, context, stages);
  requireNumbers(pipeline, plan, stages);
  return withHosts(plan, stages, authored, facts);
}

type Outline = { readonly plan: Plan; readonly stages: readonly NodeId[] };

/** The plan as expressions see it before the run is made; variables that cannot be evaluated yet have no value. */
export function outlineOf(pipeline: PipelineDocument, facts: SomeFacts, newId: () => string): Outline {
  const context = contextOf(pipeline, facts);
  const outline = nodesOf(pipeline, context, newId);
  evaluateKnownVariables(outline.plan, context, outline.stages);
  return outline;
}

function nodesOf(pipeline: PipelineDocument, context: Context, newId: () => string): Outline {
  const root = newId();
  const { org, project } = context.value as unknown as Pick<Facts, "org" | "project">;
  const scope = { orgIdentifier: org.identifier, projectIdentifier: project.identifier };
  const stages = pipeline.stages.map(({ stage }, nth) => {
    const home = { ...scope, environmentRef: stage.spec.infrastructure.environmentRef };
    return stageNodes(stage, pipeline, { home, variables: secretVariables(pipeline, nth) }, newId);
  });
  const children = stages.map(({ id }) => id);
  const { identifier, name } = pipeline;
  const top: PlanNode = { kind: "pipeline", id: root, identifier, name, path: ["pipeline"], children };
  const nodes = Object.fromEntries([top, ...stages.flatMap((stage) => stage.nodes)].map((node) => [node.id, node]));
  return { plan: { root, nodes, context: context.value }, stages: children };
}

/** A node with everything below it; `id` is its own. */
type Made = { readonly id: NodeId; readonly nodes: readonly PlanNode[] };

/** What a stage's steps need to ask for secrets. */
type Secrets = { readonly home: SecretsHome; readonly variables: ReturnType<typeof secretVariables> };

function stageNodes(stage: StageDocument, pipeline: PipelineDocument, secrets: Secrets, newId: () => string): Made {
  const id = newId();
  const { identifier, name, spec } = stage;
  const path = ["pipeline", "stages", identifier];
  const around = { levels: [stage.delegateSelectors, pipeline.delegateSelectors], secrets };
  const group = (key: "steps" | "rollbackSteps", title: string): Made =>
    groupNodes({ key, title, path: [...path, "spec", "execution", key] }, spec.execution[key] ?? [], around, newId);
  const steps = group("steps", "Execution");
  const rollback = group("rollbackSteps", "Rollback");
  const node: PlanNode = {
    kind: "stage",
    type: stage.type,
    id,
    identifier,
    name,
    path,
    steps: steps.id,
    rollback: rollback.id,
    failureStrategies: (stage.failureStrategies ?? []).map(strategyOf),
  };
  return { id, nodes: [node, ...steps.nodes, ...rollback.nodes] };
}

const strategyOf = ({ onFailure }: NonNullable<StageDocument["failureStrategies"]>[number]): FailureStrategy => ({
  errors: onFailure.errors,
  action: onFailure.action.type,
});

/** What steps take from what they stand in. */
type Around = { readonly levels: readonly Selectors[]; readonly secrets: Secrets };

function groupNodes(
  { key, title, path }: { readonly key: string; readonly title: string; readonly path: readonly string[] },
  items: readonly Item[],
  around: Around,
  newId: () => string,
): Made {
  const id = newId();
  const steps = items.map(({ step }) => stepNode(step, path, around, newId()));
  const children = steps.map((step) => step.id);
  return { id, nodes: [{ kind: "group", id, identifier: key, name: title, path, children }, ...steps] };
}

function stepNode(step: StepDocument, path: readonly string[], { levels, secrets }: Around, id: NodeId): PlanNode {
  const { identifier, name, spec } = step;
  const bound = bindScript(spec.source.spec.script);
  // Saving and merging have checked it: a fault here is a caller who has not merged.
  if ("faults" in bound)
    throw new Error(`the script of step ${identifier} was not checked: ${bound.faults[0]?.message}`);
  return {
    kind: "step",
    type: step.type,
    id,
    identifier,
    name,
    path: [...path, identifier],
    timeoutMs: timeoutOf(step),
    selectors: mostSpecific([spec.delegateSelectors, ...levels]),
    work: {
      kind: "shell",
      // On the line of the script's first, so that Bash counts lines as the author does.
      script: spec.errexit === true ? `set -e; ${bound.script}` : bound.script,
      ...environmentOf(spec.environmentVariables ?? [], bound.bindings, secrets),
      ...targetOf(spec, secrets),
      outputs: (spec.outputVariables ?? []).map((one) => ({ name: one.name, variable: one.value })),
    },
  };
}

type Variable = NonNullable<StepDocument["spec"]["environmentVariables"]>[number];

function environmentOf(
  variables: readonly Variable[],
  bindings: readonly ScriptBinding[],
  secrets: Secrets,
): Pick<ShellTemplate, "env" | "home"> {
  const given = variables.map(({ name, type, value }) => ({
    ...(type === "Number" ? { name, type } : { name }),
    value: type === "Secret" ? `<+secrets.getValue("${String(value)}")>` : String(value ?? ""),
  }));
  const bound = bindings.map(({ name, expression }) => ({ name, value: expression }));
  const env = [...given, ...bound].map((one) => ({ ...one, value: withSecrets(one.value, secrets.variables) }));
  return env.some(({ value }) => secretsIn(value).length > 0) ? { env, home: secrets.home } : { env };
}

function targetOf(
  { onDelegate, executionTarget }: StepDocument["spec"],
  { home }: Secrets,
): Pick<ShellTemplate, "home" | "target"> {
  const { host, connectorRef, workingDirectory } = executionTarget ?? {};
  if (onDelegate !== false || !host || !connectorRef) return {};
  return { home, target: { host, credential: connectorRef, ...(workingDirectory ? { workingDirectory } : {}) } };
}

function timeoutOf({ identifier, timeout }: StepDocument): number {
  if (!timeout) return DEFAULT_TIMEOUT_MS;
  const ms = parseDuration(timeout);
  if (ms === undefined) throw new Error(`the timeout of step ${identifier} was not checked: ${timeout}`);
  return ms;
}

/** The first level, from the step outwards, that names any selectors. */
function mostSpecific(levels: readonly Selectors[]): readonly string[] {
  for (const level of levels) {
    if (typeof level === "string") throw new Error(`delegate selectors were not merged: ${level}`);
    if (level && level.length > 0) return level;
  }
  return [];
}
