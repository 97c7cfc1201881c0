/** User groups. Groups of an identity provider are changed by the provider only, and it changes no others. */
import { createGroup } from "./create.ts";
import { deleteGroup } from "./delete.ts";
import type { GroupDeps } from "./deps.ts";
import { getGroups } from "./get/by-ids.ts";
import { getGroupByName } from "./get/by-name.ts";
import { getGroup } from "./get/get.ts";
import { checkManage } from "./get/require-group.ts";
import { listGroups } from "./list/list.ts";
import { listGroupsOf } from "./list/of-users.ts";
import { getPeopleByEmail } from "./members/people-by-email.ts";
import { getMembers } from "./members/get.ts";
import { listMembers } from "./members/list.ts";
import { listMembersOfGroups } from "./members/of-groups.ts";
import { changeProvidedGroup } from "./update/change-provided.ts";
import { updateGroup } from "./update/update.ts";

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
  membersOf: getMembers(deps),
  listGroupsOf: listGroupsOf(deps),
  checkManage,
  peopleByEmail: getPeopleByEmail(deps),
});
