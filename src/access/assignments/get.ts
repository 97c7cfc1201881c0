import type { Actor } from "../../core/actor.ts";
import { scopeOf, type Referred } from "../../core/reference.ts";
import { authorize } from "../grants/permits.ts";
import { problem } from "../problems.ts";
import { findAssignment } from "../store/assignments.ts";
import type { Assignment } from "./assignment.ts";
import type { AssignmentDeps } from "./deps.ts";

/** Returns one role assignment. Throws `access.no_assignment`. */
export const getRoleAssignment =
  ({ db }: Pick<AssignmentDeps, "db">) =>
  async (actor: Actor, key: Referred): Promise<Assignment> => {
    authorize(actor, "core_role_view", scopeOf(actor.accountId, key));
    const assignment = await findAssignment(db, actor.accountId, key);
    if (!assignment) throw problem("access.no_assignment", [key.identifier]);
    return assignment;
  };

export type GetRoleAssignment = ReturnType<typeof getRoleAssignment>;
