import type { Uuid } from "../../core/ids.ts";
import { authorize } from "../grants/permits.ts";
import { problem } from "../problems.ts";
import { findPeopleByEmail } from "../store/members.ts";
import {
  createMembersOf,
  getGroup,
  getGroupByName,
  getGroups,
  listGroups,
  listGroupsOf,
  listMembers,
  listMembersOfGroups,
} from "./read.ts";
import type { GroupKey } from "./user-group.ts";
import { changeProvidedGroup, createGroup, deleteGroup, updateGroup, type GroupDeps } from "./write.ts";
import type { Actor } from "../../core/actor.ts";
import { scopeOf } from "../../core/reference.ts";

/** The operations on user groups, for REST, GraphQL and SCIM. */
export type UserGroups = ReturnType<typeof createUserGroups>;

export const createUserGroups = (deps: GroupDeps) => ({
  create: createGroup(deps),
  update: updateGroup(deps),
  changeProvided: changeProvidedGroup(deps),
  delete: deleteGroup(deps),
  get: getGroup(deps),
  getGroups: getGroups(deps),
  getByName: getGroupByName(deps),
  list: listGroups(deps),
  listMembers: listMembers(deps),
  listMembersOfGroups: listMembersOfGroups(deps),
  membersOf: createMembersOf(deps),
  listGroupsOf: listGroupsOf(deps),
  /** Checks the permission before the request is read further. */
  checkManage: (actor: Actor, key: Extract<GroupKey, { identifier: string }>): void =>
    authorize(actor, "core_usergroup_manage", scopeOf(actor.accountId, key), key.identifier),
  /** Throws `access.no_person`. */
  peopleByEmail: async (accountId: Uuid, emails: readonly string[]): Promise<readonly Uuid[]> => {
    const found = await findPeopleByEmail(deps.db, accountId, emails);
    const known = new Set(found.map(({ email }) => email.toLowerCase()));
    const missing = emails.find((email) => !known.has(email.toLowerCase()));
    if (missing !== undefined) throw problem("access.no_person", [missing]);
    return found.map(({ id }) => id);
  },
});
