import { actorEmail, type Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import { fromWire } from "../core/ids.ts";
import type { Audit } from "../audit/index.ts";
import { type Interrupt, INTERRUPTS, isFinal, type State } from "../engine/index.ts";
import { authorizeSomewhere, holdsSomewhere, permits, type Authorize } from "../access/index.ts";
import type { MaybeInProject } from "../pipelines/index.ts";
import type { Advancing } from "./advancing/quarantine.ts";
import type { ExecutionDetail } from "./execution.ts";
import type { GetExecution } from "./get.ts";
import { problem } from "./problems.ts";
import { restStatus } from "./wire/status.ts";

export type InterruptDeps = {
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly clock: Clock;
  readonly get: GetExecution;
  readonly advancing: Advancing;
};

/** What an interrupt is asked of: an execution, or one of its nodes. */
export type InterruptTarget = { readonly executionId: string; readonly nodeId?: string | undefined };

/**
 * Interrupts an execution or a node of it: reference of the interrupts in docs/api/executions.md. Throws
 * `execution.not_found`, `execution.node_not_found`, `execution.interrupt_target`, `execution.already_ended`,
 * `execution.abort_again`, `execution.interrupt_refused`.
 */
export type InterruptExecution = (
  actor: Actor,
  target: InterruptTarget,
  scope: MaybeInProject,
  interrupt: Interrupt,
) => Promise<void>;

/** They apply to the whole execution, the others to a node. */
const OF_EXECUTION: ReadonlySet<Interrupt> = new Set(["AbortAll", "ExpireAll", "Pause", "Resume"]);

/** The interrupt of a word that clients send; generated clients write it in upper case. Throws `execution.interrupt_unsupported`. */
export function interruptOf(word: string, target: InterruptTarget): Interrupt {
  const plain = word.replaceAll("_", "").toLowerCase();
  const found = INTERRUPTS.find((one) => one.toLowerCase() === plain);
  if (found === undefined) throw problem("execution.interrupt_unsupported", [word, INTERRUPTS.join(", ")]);
  // Clients of this family end a single node by this name, too.
  return found === "AbortAll" && target.nodeId !== undefined ? "Abort" : found;
}

/** Without the e-mail address: who may read executions need not see people's addresses. */
const nameOf = (actor: Actor): string => {
  if (actor.kind === "system") return "the system";
  return actor.name === actorEmail(actor) ? (actor.name.split("@")[0] ?? "") : actor.name;
};

export const makeInterruptExecution =
  (deps: InterruptDeps): InterruptExecution =>
  async (actor, { executionId: wireId, nodeId }, scope, interrupt) => {
    if (!holdsSomewhere(actor, "core_pipeline_execute")) authorizeSomewhere(actor, permissionFor(interrupt));
    if (OF_EXECUTION.has(interrupt) !== (nodeId === undefined))
      throw problem("execution.interrupt_target", [
        interrupt,
        nodeId === undefined ? "a node: name one by its id" : "the whole execution: name no node",
      ]);
    const execution = await permitted(deps, actor, { wireId, scope, interrupt });
    const { orgIdentifier, projectIdentifier } = execution;
    const node = nodeId === undefined ? undefined : fromWire(nodeId);
    if (nodeId !== undefined && node === undefined) throw problem("execution.node_not_found", [wireId, nodeId]);
    await deps.advancing(async (tx, lock) => {
      const run = await lock({ accountId: actor.accountId, id: execution.id });
      // Asked under the lock: of two aborts at once, and of an abort and the end, one is told that it came too late.
      if (!run) throw problem("execution.not_found", [wireId]);
      if (isFinal(run.before.status)) throw problem("execution.already_ended", [wireId, restStatus(run.before.status)]);
      if (run.before.aborting && interrupt === "AbortAll") throw problem("execution.abort_again", [wireId]);
      const asked = { kind: "interrupted", at: deps.clock.now(), interrupt, by: nameOf(actor) } as const;
      const after = await run.give(node === undefined ? asked : { ...asked, node });
      if (after === run.before)
        throw problem("execution.interrupt_refused", [interrupt, whyRefused(run.before, interrupt, nodeId)]);
      await deps.audit.record(tx, actor, {
        operation: interrupt === "AbortAll" ? "execution.abort" : "execution.interrupt",
        resourceType: "PIPELINE",
        resourceId: execution.pipelineIdentifier,
        scope: { orgIdentifier, projectIdentifier },
        after: { execution: wireId, interrupt, ...(nodeId !== undefined && { node: nodeId }) },
      });
    });
  };

type Asked = { readonly wireId: string; readonly scope: MaybeInProject; readonly interrupt: Interrupt };

const STOPS: ReadonlySet<Interrupt> = new Set(["AbortAll", "Abort", "ExpireAll"]);

/** Who may start a run may interrupt one; to stop one, the permission to abort is enough. */
const permissionFor = (interrupt: Interrupt) =>
  STOPS.has(interrupt) ? "core_pipeline_abort" : "core_pipeline_execute";

async function permitted(
  deps: InterruptDeps,
  actor: Actor,
  { wireId, scope, interrupt }: Asked,
): Promise<ExecutionDetail> {
  const execution = await deps.get(actor, wireId, scope);
  const { orgIdentifier, projectIdentifier, pipelineIdentifier } = execution;
  const place = { accountId: actor.accountId, orgIdentifier, projectIdentifier };
  if (!permits(actor, "core_pipeline_execute", place, pipelineIdentifier))
    deps.authorize(actor, permissionFor(interrupt), place, pipelineIdentifier);
  return execution;
}

function whyRefused({ paused, aborting }: State, interrupt: Interrupt, nodeId: string | undefined): string {
  if (aborting) return "the execution is being aborted";
  if (interrupt === "Resume") return "the execution is not paused";
  if (interrupt === "Pause") return paused ? "the execution is paused already" : "the execution has not begun";
  if (interrupt === "MarkAsSuccess")
    return `node [${nodeId}] is no step that runs or waits, or it is an approval, which only approvers let pass`;
  if (interrupt === "MarkAsFailure") return `node [${nodeId}] is no step that runs or waits`;
  if (interrupt === "Abort") return `node [${nodeId}] does not run`;
  if (interrupt === "Ignore")
    return `node [${nodeId}] does not wait for a manual intervention, or lacks an approval, which only approvers let pass`;
  if (interrupt === "Retry")
    return `node [${nodeId}] does not wait for a manual intervention, or the execution has no room for the nodes of another try`;
  const group = interrupt === "StepGroupRollback" ? ", or has no step group around it" : "";
  return `node [${nodeId}] does not wait for a manual intervention${group}`;
}
