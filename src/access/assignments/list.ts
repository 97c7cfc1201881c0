import type { Actor } from "../../core/actor.ts";
import type { Page, Window } from "../../core/page.ts";
import { scopeOf, type Place } from "../../core/reference.ts";
import { authorize } from "../grants/permits.ts";
import { countAssignments, selectAssignments, type AssignmentFilter } from "../store/assignments.ts";
import type { Assignment } from "./assignment.ts";
import type { AssignmentDeps } from "./deps.ts";

type AssignmentQuery = Window & { readonly filter: AssignmentFilter };

/** Lists the role assignments of one scope, the oldest first or in the given order. Throws what RequireScope throws. */
export const listRoleAssignments =
  ({ db, requireScope }: Pick<AssignmentDeps, "db" | "requireScope">) =>
  async (actor: Actor, place: Place, { filter, ...window }: AssignmentQuery): Promise<Page<Assignment>> => {
    const { accountId } = actor;
    authorize(actor, "core_role_view", scopeOf(accountId, place));
    await requireScope(actor, place);
    const items = await selectAssignments(db, accountId, { place, filter, window });
    return { items, ...window, total: () => countAssignments(db, accountId, { place, filter }) };
  };

export type ListRoleAssignments = ReturnType<typeof listRoleAssignments>;
