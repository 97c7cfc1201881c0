/** Asks again when a queued execution begins: the permissions of its principals count as they are then. */
import type { Uuid } from "../../core/ids.ts";
import { Problem } from "../../core/problem.ts";
import type { RequirePrincipals } from "../../pipelines/index.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { Plans } from "../advancing/plans.ts";
import { problem } from "../problems.ts";
import { findQueuedFacts, type Queued } from "../store/queue.ts";

export type PermitDeps = { readonly requirePrincipals: RequirePrincipals; readonly plans: Pick<Plans, "of"> };

export type Refusal = { readonly pipelineIdentifier: string; readonly message: string };

/** Why the execution may not begin. What chained pipelines use is checked when it is delivered. */
export async function refusalOf(
  { requirePrincipals, plans }: PermitDeps,
  tx: Tx,
  { accountId, id, orgIdentifier, projectIdentifier }: Queued & { readonly accountId: Uuid },
): Promise<Refusal | undefined> {
  const { principals, pipelineIdentifier, isPipelineDeleted } = await findQueuedFacts(tx, accountId, id);
  try {
    if (isPipelineDeleted) throw problem("execution.pipeline_deleted", [pipelineIdentifier]);
    const { references = [] } = await plans.of(tx, { accountId, id });
    const uses = references.filter(({ pipeline }) => pipeline === undefined);
    const scope = { orgIdentifier, projectIdentifier };
    await requirePrincipals({ accountId, scope, pipelineIdentifier, principals, uses }, tx);
    return undefined;
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return { pipelineIdentifier, message: error.message };
    throw error;
  }
}
