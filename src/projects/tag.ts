import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import { authorizeSomewhere } from "../access/index.ts";
import type { Audit } from "../audit/index.ts";
import { changedTags, type TagChange } from "../platform/document/tags.ts";
import type { Db } from "../platform/db/db.ts";
import { requireEditableApplication } from "./applications/operations.ts";
import { problem } from "./problems.ts";
import { lockProjectForChange } from "./store/projects.ts";
import { changeProject } from "./update.ts";

/** Changes one tag of an application. Throws `project.no_application`, `document.invalid`. */
export const tagApplication =
  (deps: { readonly db: Db; readonly audit: Audit; readonly clock: Clock }) =>
  async (actor: Actor, applicationId: string, to: TagChange): Promise<void> => {
    authorizeSomewhere(actor, "core_project_edit");
    await deps.db.transaction(async (tx) => {
      const project = await requireEditableApplication(tx, actor, applicationId);
      const current = await lockProjectForChange(tx, actor.accountId, project.id);
      const missing = problem("project.no_application");
      if (!current) throw missing;
      await changeProject(tx, deps, {
        actor,
        project,
        changes: { tags: changedTags(current.tags, to) },
        version: undefined,
        missing,
      });
    });
  };
