import type { Uuid } from "../../core/ids.ts";
import { authorize } from "../permits.ts";
import { problem } from "../problems.ts";
import { findPeopleByEmail } from "../store/members.ts";
import {
  makeGetGroup,
  makeGetGroupByName,
  makeListGroups,
  makeListGroupsOf,
  makeListMembers,
  makeMembersOf,
} from "./read.ts";
import type { GroupKey } from "./user-group.ts";
import { makeChangeProvidedGroup, makeCreateGroup, makeDeleteGroup, makeUpdateGroup, type GroupDeps } from "./write.ts";
import type { Actor } from "../../core/actor.ts";
import { scopeOf } from "../../core/reference.ts";

export type UserGroups = ReturnType<typeof makeUserGroups>;

export const makeUserGroups = (deps: GroupDeps) => ({
  create: makeCreateGroup(deps),
  update: makeUpdateGroup(deps),
  changeProvided: makeChangeProvidedGroup(deps),
  delete: makeDeleteGroup(deps),
  get: makeGetGroup(deps),
  getByName: makeGetGroupByName(deps),
  list: makeListGroups(deps),
  listMembers: makeListMembers(deps),
  membersOf: makeMembersOf(deps),
  listGroupsOf: makeListGroupsOf(deps),
  /** Before what is not asked of the group is looked at. */
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
