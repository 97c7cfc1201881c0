import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Refusal } from "../../core/refused.ts";
import { refusalOn } from "./operations.ts";
import type { Db } from "../../platform/db/db.ts";
import { selectApplicationsById } from "../store/applications-by-id.ts";

/** Existing applications: in which the actor has the permission, and the others. Runs one statement. */
export const findVisibleApplications =
  (deps: { db: Db }) =>
  async (
    actor: Actor,
    ids: readonly Uuid[],
    permission: "core_project_view" | "core_environment_access" = "core_project_view",
  ): Promise<{ readonly permitted: ReadonlySet<Uuid>; readonly refused: ReadonlyMap<Uuid, Refusal> }> => {
    const found = ids.length === 0 ? [] : await selectApplicationsById(deps.db, actor.accountId, ids);
    const permitted = new Set<Uuid>();
    const refused = new Map<Uuid, Refusal>();
    for (const one of found) {
      const refusal = refusalOn(actor, permission, one);
      if (refusal) refused.set(one.id, refusal);
      else permitted.add(one.id);
    }
    return { permitted, refused };
  };
