import { reach } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import type { Db } from "../platform/db/db.ts";
import type { ExecutionFilter } from "./store/conditions.ts";
import { findSeenPipelines } from "./store/pipelines.ts";

/** The condition of a reader who may not see everything. */
export function seenBy(actor: Actor): ExecutionFilter {
  const places = reach(actor, "core_pipeline_view");
  return places === "all" ? [] : [{ is: "seenBy", value: JSON.stringify(places) }];
}

/** More pipelines are compared with each execution. */
const PIPELINES_AT_MOST = 500;

/**
 * The same within a project. The pipelines are looked up first: a reader of one pipeline with few executions would wait
 * until all executions of the project were compared.
 */
export async function seenInProject(db: Db, actor: Actor, projectId: Uuid): Promise<ExecutionFilter> {
  const places = reach(actor, "core_pipeline_view");
  if (places === "all") return [];
  const ids = await findSeenPipelines(db, actor.accountId, { projectId, places }, PIPELINES_AT_MOST + 1);
  return ids.length > PIPELINES_AT_MOST ? seenBy(actor) : [{ is: "pipelineSeen", value: ids }];
}
