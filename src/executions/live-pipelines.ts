import type { Uuid } from "../core/ids.ts";
import type { Store } from "../platform/db/db.ts";
import type { ChainedPipeline } from "./pipelines-around.ts";
import { problem } from "./problems.ts";
import { findLivePipelines } from "./store/pipelines.ts";

/** Throws `execution.pipeline_deleted` for a chained pipeline that was deleted since the start. */
export async function requireLivePipelines(
  db: Store,
  accountId: Uuid,
  chained: readonly ChainedPipeline[],
): Promise<void> {
  if (chained.length === 0) return;
  const ids = chained.map(({ id }) => id);
  const live = await findLivePipelines(db, accountId, ids);
  const deleted = chained.find(({ id }) => !live.has(id));
  if (deleted) throw problem("execution.pipeline_deleted", [deleted.identifier]);
}
