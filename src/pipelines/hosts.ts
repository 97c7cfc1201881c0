/** The hosts that steps log in to: the author of the pipeline chooses them, never a caller. */
import type { Fault } from "../core/problem.ts";
import {
  type Budget,
  evaluateTemplate,
  ExpressionError,
  newBudget,
  type NodeId,
  type Plan,
  type PlanNode,
  scopeFor,
  type ShellTemplate,
  type WorkTemplate,
} from "../engine/index.ts";
import { pathText } from "../platform/document/position/path.ts";
import { contextOf, type Facts } from "./document/context.ts";
import { evaluateKnownVariables, type Outline } from "./document/evaluate-variables.ts";
import { problem } from "./document/problems.ts";
import type { PipelineDocument } from "./document/schema.ts";
import { valueFields } from "./document/texts.ts";

// The host is evaluated a second time, in a context that only the author of the pipeline can change: the document as its
// author has it, and identifiers of account, organization and project, which are immutable. It has neither the trigger,
// nor the facts of the run, nor results of steps, nor values of runtime inputs but those that the pipeline allows by
// name, nor the name of the project. The host of the step must be equal to the result: at the start of the run where it
// is known already, and when the step starts.

type Step = PlanNode & { readonly kind: "step" };
type Targeted = { readonly node: Step; readonly host: string; readonly path: string };

/**
 * The plan with the hosts that each step on another host may log in to. `authored` is the pipeline as its author alone
 * has it. Throws `pipeline.host_refused` (400), naming each path.
 */
export function withHosts(
  { plan, idOf }: Outline,
  authored: PipelineDocument,
  facts: Pick<Facts, "account" | "org" | "project">,
): Plan {
  const targeted = targetedSteps({ plan, idOf }, authored);
  if (targeted.length === 0) return plan;
  const context = contextOf(authored, { ...identifiersOf(facts), trigger: null, execution: null });
  const world: Plan = { ...plan, context: context.value };
  evaluateKnownVariables({ plan: world, idOf }, context);
  const budget = newBudget();
  const faults: Fault[] = [];
  const nodes = new Map<NodeId, PlanNode>();
  for (const { node, host, path } of targeted) {
    const target = targetOf(node.work);
    const allowed = evaluated(host, world, node.id, budget);
    const message = "fault" in allowed ? allowed.fault : faultOf(target?.host ?? "", allowed.value, plan, node.id);
    if (message !== undefined) faults.push({ path, message });
    else if (target && "value" in allowed)
      nodes.set(node.id, { ...node, work: { ...node.work, target: { ...target, hosts: [allowed.value] } } });
  }
  if (faults.length > 0) throw refusal(faults);
  return { ...plan, nodes: { ...plan.nodes, ...Object.fromEntries(nodes) } };
}

/** A person who may edit the project, and not the pipeline, can rename it. */
const identifiersOf = ({ account, org, project }: Pick<Facts, "account" | "org" | "project">) => ({
  account: { identifier: account.identifier },
  org: { identifier: org.identifier },
  project: { identifier: project.identifier },
});

const ADVICE = "Write the host out, or let the pipeline name the ones to choose from: <+input>.allowedValues(…)";

/** What reads the result of a step has no value yet, and is looked at when its step starts. */
function faultOf(host: string, allowed: string, plan: Plan, id: NodeId): string | undefined {
  const known = evaluated(host, plan, id);
  if ("fault" in known || known.value === allowed) return undefined;
  return `Inputs or the trigger make it another host than the pipeline's own. ${ADVICE}`;
}

function evaluated(
  text: string,
  plan: Plan,
  id: NodeId,
  budget?: Budget,
): { readonly value: string } | { readonly fault: string } {
  try {
    const scope = scopeFor(plan, () => undefined, id);
    return { value: evaluateTemplate(text, scope, budget) };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return {
      fault: `Without free inputs, the name of the project, the trigger and results of steps it has no value: ${error.message}. ${ADVICE}`,
    };
  }
}

/** Steps on other hosts, with the host as the author wrote it and its path in the document. */
const targetedSteps = ({ plan, idOf }: Outline, authored: PipelineDocument): readonly Targeted[] =>
  valueFields(authored).flatMap(({ kind, node: step, path, value }) => {
    const node = kind === "host" ? plan.nodes[idOf(step)] : undefined;
    if (node?.kind !== "step" || !targetOf(node.work)) return [];
    return [{ node, host: String(value), path: pathText(path) }];
  });

/** Scripts are the only work with a target. */
const targetOf = (work: WorkTemplate): ShellTemplate["target"] => (work as ShellTemplate).target;

const refusal = (faults: readonly Fault[]): Error =>
  problem("pipeline.host_refused", [faults.map(({ path, message }) => `${path}: ${message}`).join("; ")], { faults });
