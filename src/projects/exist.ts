import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import type { Authorize } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import { existingApplications } from "./store/exist.ts";

/** Those of the ids that are applications, by one statement. */
export type ApplicationsExist = (actor: Actor, ids: readonly Uuid[]) => Promise<ReadonlySet<Uuid>>;

export const makeApplicationsExist =
  (deps: { db: Db; authorize: Authorize }): ApplicationsExist =>
  async (actor, ids) => {
    if (ids.length === 0) return new Set();
    deps.authorize(actor, "core_project_view", { accountId: actor.accountId });
    return new Set(await existingApplications(deps.db, actor.accountId, ids));
  };
