/** Asks again when a queued execution begins: the permissions of its principals count as they are then. */
import type { Uuid } from "../../core/ids.ts";
import { Problem } from "../../core/problem.ts";
import type { Plan } from "../../engine/index.ts";
import type { RequirePrincipals } from "../../pipelines/index.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { Plans } from "../advancing/plans.ts";
import { throwStuck } from "../advancing/stuck.ts";
import { requireLivePipelines } from "../live-pipelines.ts";
import { chainedAround } from "../pipelines-around.ts";
import { problem } from "../problems.ts";
import { requireTriggers, type TriggersOf } from "../rerun.ts";
import { findQueuedFacts, type Queued } from "../store/queue.ts";

export type PermitDeps = TriggersOf & {
  readonly requirePrincipals: RequirePrincipals;
  readonly plans: Pick<Plans, "of">;
};

export type Refusal = { readonly pipelineIdentifier: string; readonly message: string };

/**
 * Why the execution may not begin. It asks of people, pipelines and triggers what a delivery of a
 * secret asks (docs/decisions/0020-principals.md); whether what it names is still the same, only a delivery asks. Throws
 * Stuck for an execution that cannot be read.
 */
export async function refusalOf(
  { requirePrincipals, plans, isTriggerLive }: PermitDeps,
  tx: Tx,
  { accountId, id, orgIdentifier, projectIdentifier }: Queued & { readonly accountId: Uuid },
): Promise<Refusal | undefined> {
  const { principals, pipelineIdentifier, isPipelineDeleted } = await findQueuedFacts(tx, accountId, id);
  try {
    if (isPipelineDeleted) throw problem("execution.pipeline_deleted", [pipelineIdentifier]);
    const plan = await plans.of(tx, { accountId, id });
    const pipelines = chainedIn(plan);
    await requireLivePipelines(tx, accountId, pipelines);
    // A second connection inside a transaction could wait for its own pool.
    await requireTriggers(
      { isTriggerLive: (account, trigger) => isTriggerLive(account, trigger, tx) },
      accountId,
      principals,
    );
    const usesOf = (pipeline?: string) => (plan.references ?? []).filter((one) => one.pipeline === pipeline);
    const run = {
      ...{ accountId, scope: { orgIdentifier, projectIdentifier }, pipelineIdentifier, principals, uses: usesOf() },
      // The execution stores the refusal.
      hidesAddresses: true,
      chained: pipelines.map(({ node, scope, identifier, depth }) => ({
        ...{ scope, pipelineIdentifier: identifier, depth, uses: usesOf(node) },
      })),
    };
    await requirePrincipals(run, tx);
    return undefined;
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return { pipelineIdentifier, message: error.message };
    return throwStuck({ accountId, id }, error);
  }
}

/** All pipelines that stages of the execution run, each after those around it. */
const chainedIn = (plan: Plan) =>
  Object.values(plan.nodes).flatMap(({ kind, id }) =>
    kind === "pipeline" && id !== plan.root ? (chainedAround(plan, id).at(-1) ?? []) : [],
  );
