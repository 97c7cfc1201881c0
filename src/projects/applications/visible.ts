import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import { isPermitted } from "./operations.ts";
import type { Db } from "../../platform/db/db.ts";
import { existingApplications } from "../store/exist.ts";

/** Returns the ids of existing applications in which the actor has the permission, by one statement. */
export const findVisibleApplications =
  (deps: { db: Db }) =>
  async (
    actor: Actor,
    ids: readonly Uuid[],
    permission: "core_project_view" | "core_environment_access" = "core_project_view",
  ): Promise<ReadonlySet<Uuid>> => {
    if (ids.length === 0) return new Set();
    const found = await existingApplications(deps.db, actor.accountId, ids);
    return new Set(found.filter((one) => isPermitted(actor, permission, one)).map(({ id }) => id));
  };
