import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import { authorizeSomewhere } from "../access/index.ts";
import type { Audit } from "../audit/index.ts";
import { changedTags, type TagChange } from "../platform/document/tags.ts";
import type { Db } from "../platform/db/db.ts";
import { existing } from "./applications.ts";
import { problem } from "./problems.ts";
import { holdProject } from "./store/projects.ts";
import { change } from "./update.ts";

/** Changes one tag of an application. Throws `project.no_application`, `document.invalid`. */
export const tagApplication =
  (deps: { readonly db: Db; readonly audit: Audit; readonly clock: Clock }) =>
  async (actor: Actor, applicationId: string, to: TagChange): Promise<void> => {
    authorizeSomewhere(actor, "core_project_edit");
    await deps.db.transaction(async (tx) => {
      const project = await existing(tx, actor, applicationId, "core_project_edit");
      const held = await holdProject(tx, actor.accountId, project.id);
      const gone = problem("project.no_application");
      if (!held) throw gone;
      await change(tx, deps, actor, {
        project,
        changes: { tags: changedTags(held.tags, to) },
        version: undefined,
        gone,
      });
    });
  };
