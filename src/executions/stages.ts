import { authorizeSomewhere } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import type { Db } from "../platform/db/db.ts";
import { seenBy } from "./get.ts";
import { listStages, type StageRow } from "./store/stages.ts";

/** The stages of each of these executions, in their order, by one statement; none of those that the actor may not see. */
export type ListStages = (actor: Actor, executions: readonly Uuid[]) => Promise<readonly (readonly StageRow[])[]>;

export const makeListStages =
  (deps: { readonly db: Db }): ListStages =>
  async (actor, executions) => {
    authorizeSomewhere(actor, "core_pipeline_view");
    const filter = [{ is: "executionIn", value: executions } as const, ...seenBy(actor)];
    const rows = await listStages(deps.db, actor.accountId, filter);
    const found = Map.groupBy(rows, ({ executionId }) => executionId);
    return executions.map((id) => found.get(id) ?? []);
  };
