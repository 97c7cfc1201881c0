/** Inputs that a node of an execution asks for when it begins: read, and submitted. */
import type { Audit } from "../../audit/index.ts";
import { authorizeSomewhere, type Authorize, type Permission } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { toWire } from "../../core/ids.ts";
import { referred, scopeOf } from "../../core/reference.ts";
import { asksOf, awaitsInputs, inputsFault, isFinal, type NodeInputs, type NodeState } from "../../engine/index.ts";
import { type MaybeInProject, type PipelineText, submittedValues } from "../../pipelines/index.ts";
import type { Advancing } from "../advancing/quarantine.ts";
import type { GetNode } from "../detail.ts";
import type { ExecutionDetail } from "../execution.ts";
import { chainedAround } from "../pipelines-around.ts";
import { problem } from "../problems.ts";
import type { ShownNode } from "../shown-nodes.ts";
import { findNodesById } from "../store/advance.ts";
import { nodeStatus, restStatus } from "../wire/status.ts";

/** A node that asks for inputs, and what it asks for. */
export type AskingNode = {
  readonly node: ShownNode;
  readonly execution: ExecutionDetail;
  readonly asks: NodeInputs;
};

/** Throws `execution.no_node` and `execution.no_inputs`. */
export type GetNodeInputs = (actor: Actor, nodeId: string, scope: MaybeInProject) => Promise<AskingNode>;

export const makeGetNodeInputs =
  (deps: { readonly node: GetNode }): GetNodeInputs =>
  async (actor, nodeId, scope) => {
    const { execution, node } = await deps.node(actor, nodeId, scope);
    const asks = asksOf(node.definition);
    if (!asks) throw problem("execution.no_inputs", [nodeId]);
    return { node, execution, asks };
  };

export type SubmitInputsDeps = {
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly clock: Clock;
  readonly nodeInputs: GetNodeInputs;
  readonly advancing: Advancing;
};

/** `executionId`: the execution that the caller means; any if it is left out. */
export type InputTarget = { readonly nodeId: string; readonly executionId?: string };

/**
 * Submits the inputs of a node that waits for them. Of several submissions at once one counts, and the others are told.
 * Throws `execution.no_node`, `execution.no_inputs`, `execution.inputs_not_awaited`, `execution.inputs_too_large`, and the
 * problems of submittedValues.
 */
export type SubmitInputs = (
  actor: Actor,
  target: InputTarget,
  scope: MaybeInProject,
  given: PipelineText,
) => Promise<ExecutionDetail>;

export const makeSubmitInputs =
  (deps: SubmitInputsDeps): SubmitInputs =>
  async (actor, { nodeId, executionId }, scope, given) => {
    authorizeSomewhere(actor, "core_pipeline_execute");
    const { node, execution, asks } = await deps.nodeInputs(actor, nodeId, scope);
    if (executionId !== undefined && executionId !== toWire(execution.id)) throw problem("execution.no_node", [nodeId]);
    const { orgIdentifier, projectIdentifier, pipelineIdentifier } = execution;
    const { accountId } = actor;
    deps.authorize(actor, "core_pipeline_execute", { accountId, orgIdentifier, projectIdentifier }, pipelineIdentifier);
    permitUses(deps, actor, execution);
    if (!awaitsInputs(node.state)) throw notAwaited(nodeId, whyNot(node.state));
    const values = submittedValues(asks, given);
    await deps.advancing(async (tx, lock) => {
      const run = await lock({ accountId, id: execution.id });
      if (!run) throw problem("execution.no_node", [nodeId]);
      const { before } = run;
      if (isFinal(before.status)) throw notAwaited(nodeId, `the execution has ended as ${restStatus(before.status)}`);
      const after = await run.give({ kind: "inputSubmitted", at: deps.clock.now(), node: node.id, values });
      if (after === before) {
        // Read under the lock: the node waited a moment ago.
        const stillWaits = [...(await findNodesById(tx, accountId, [node.id])).values()].some(awaitsInputs);
        const tooLarge = stillWaits ? inputsFault(before, values) : undefined;
        if (tooLarge !== undefined) throw problem("execution.inputs_too_large", [nodeId, tooLarge]);
        throw notAwaited(nodeId, "they were submitted by another request, or its time is up");
      }
      await deps.audit.record(tx, actor, {
        operation: "execution.submit-inputs",
        resourceType: "PIPELINE",
        resourceId: pipelineIdentifier,
        scope: { orgIdentifier, projectIdentifier },
        after: { execution: toWire(execution.id), node: nodeId, inputs: Object.keys(values) },
      });
    });
    return execution;
  };

/**
 * Inputs may choose where secrets go and what is done with the rest, so who submits them needs what who starts the
 * pipeline needs. Throws `access.not_permitted`.
 */
function permitUses({ authorize }: Pick<SubmitInputsDeps, "authorize">, actor: Actor, execution: ExecutionDetail) {
  const { plan } = execution;
  const { accountId } = actor;
  for (const node of Object.keys(plan.chained ?? {})) {
    const chained = chainedAround(plan, node).at(-1);
    if (chained) authorize(actor, "core_pipeline_execute", { accountId, ...chained.scope }, chained.identifier);
  }
  for (const { kind, reference, pipeline } of plan.references ?? []) {
    const home = (pipeline === undefined ? undefined : chainedAround(plan, pipeline).at(-1)?.scope) ?? execution;
    const key = referred(reference, home);
    if (!key) continue;
    const permissions: readonly Permission[] =
      kind === "secret" ? ["core_secret_access"] : [`core_${kind}_view`, `core_${kind}_access`];
    for (const permission of permissions) authorize(actor, permission, scopeOf(accountId, key), key.identifier);
  }
}

const notAwaited = (nodeId: string, why: string): Error => problem("execution.inputs_not_awaited", [nodeId, why]);

function whyNot(state: NodeState): string {
  if (state.inputs !== undefined) return "they are there already";
  return `its status is ${nodeStatus(state, false)}`;
}
