import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import { scopeOf } from "../../core/reference.ts";
import { authorize } from "../grants/permits.ts";
import { problem } from "../problems.ts";
import { addMembers } from "../store/members.ts";
import { insertGroup } from "../store/user-groups.ts";
import { groupEntry, shownGroup } from "./audit.ts";
import type { GroupDeps } from "./deps.ts";
import { requirePeople } from "./members/change.ts";
import { isBuiltIn, type NewUserGroup, type UserGroup, type Writer } from "./user-group.ts";

/**
 * Creates a group with these members. Throws what RequireScope throws, `access.reserved_identifier`,
 * `access.duplicate`, `access.name_taken`, `access.no_person`.
 */
export const createGroup =
  (deps: Omit<GroupDeps, "dereference" | "keepAdministrator">) =>
  async (
    actor: Actor,
    input: NewUserGroup,
    { members, writer = "interface" }: { readonly members: readonly Uuid[]; readonly writer?: Writer },
  ): Promise<UserGroup> => {
    const { accountId } = actor;
    authorize(actor, "core_usergroup_manage", scopeOf(accountId, input), input.identifier);
    await deps.requireScope(actor, input);
    if (isBuiltIn(input.identifier)) throw problem("access.reserved_identifier", [input.identifier]);
    const at = deps.clock.now();
    const group: UserGroup = {
      ...input,
      id: deps.newId(),
      externallyManaged: writer === "provider",
      externalId: input.externalId ?? null,
      version: 1,
      createdAt: at,
      updatedAt: at,
    };
    await deps.db.transaction(async (tx) => {
      await requirePeople(tx, accountId, members);
      if (!(await insertGroup(tx, accountId, group)))
        throw problem("access.duplicate", ["user group", group.identifier]);
      await addMembers(tx, accountId, { groupId: group.id, ids: members, at });
      await deps.audit.record(tx, actor, groupEntry("create", { group, after: shownGroup(group, { added: members }) }));
      deps.invalidateGrants(tx, accountId);
    });
    return group;
  };
