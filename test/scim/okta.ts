/**
 * The requests of Okta (from its SCIM 2.0 reference). It looks for the userName, creates the user, reads and replaces
 * the whole user for a change of the profile, patches `active` without a path to deactivate, and replaces again to
 * reactivate. It looks for groups by name, creates them with members, renames them with their id in the value, and
 * fills them by PATCH.
 */
import { list, meta, type Step } from "./replay.ts";

const USER = "urn:ietf:params:scim:schemas:core:2.0:User";
const GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group";
const PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

const isaac = (version: number, more: object = {}) => ({
  schemas: [USER],
  id: "{isaac}",
  externalId: "00ujl29u0le5T6Aj10h7",
  userName: "isaac.brock@example.com",
  name: { familyName: "Brock", givenName: "Isaac" },
  displayName: "Isaac Brock",
  locale: "en-US",
  active: true,
  emails: [{ value: "isaac.brock@example.com", type: "work", primary: true }],
  meta: meta("User", "isaac", version),
  ...more,
});
const sent = {
  schemas: [USER],
  userName: "isaac.brock@example.com",
  name: { givenName: "Isaac", familyName: "Brock" },
  emails: [{ primary: true, value: "isaac.brock@example.com", type: "work" }],
  displayName: "Isaac Brock",
  locale: "en-US",
  externalId: "00ujl29u0le5T6Aj10h7",
  groups: [],
};
const renamed = { name: { familyName: "Brock-Smith", givenName: "Isaac" }, displayName: "Isaac Brock-Smith" };
const BY_NAME = `/Users?filter=${encodeURIComponent('userName eq "isaac.brock@example.com"')}&startIndex=1&count=100`;

export const provisioning: readonly Step[] = [
  {
    does: "look whether there is such a person",
    ...{ method: "GET", path: BY_NAME, status: 200, answer: list() },
  },
  {
    does: "create the user, with a password that is not used",
    ...{ method: "POST", path: "/Users", body: { ...sent, password: "1mz050nq", active: true }, status: 201 },
    ...{ keep: "isaac", answer: isaac(1) },
  },
  {
    does: "make the same person again",
    ...{ method: "POST", path: "/Users", body: { ...sent, active: true }, status: 409 },
    answer: {
      schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
      status: "409",
      scimType: "uniqueness",
      detail: "A user with e-mail address or userName [isaac.brock@example.com] already exists.",
    },
  },
  {
    does: "find the person",
    ...{ method: "GET", path: BY_NAME, status: 200, answer: list(isaac(1)) },
  },
];

export const renaming: readonly Step[] = [
  {
    does: "read the person",
    ...{ method: "GET", path: "/Users/{isaac}", status: 200, answer: isaac(1) },
  },
  {
    does: "replace the whole of them, as it was read, with another name",
    ...{ method: "PUT", path: "/Users/{isaac}", body: { ...isaac(1), ...renamed }, status: 200 },
    answer: isaac(2, renamed),
  },
];

export const groupPush: readonly Step[] = [
  {
    does: "look whether there is such a group",
    method: "GET",
    path: `/Groups?filter=${encodeURIComponent('displayName eq "Test SCIMv2"')}&startIndex=1&count=100`,
    ...{ status: 200, answer: list() },
  },
  {
    does: "create the group without members",
    ...{ method: "POST", path: "/Groups", status: 201, keep: "team" },
    body: { schemas: [GROUP], displayName: "Test SCIMv2", members: [] },
    answer: { schemas: [GROUP], id: "{team}", displayName: "Test SCIMv2", meta: meta("Group", "team", 1) },
  },
  {
    does: "put the person into it",
    ...{ method: "PATCH", path: "/Groups/{team}", status: 200 },
    body: {
      schemas: [PATCH],
      Operations: [{ op: "add", path: "members", value: [{ value: "{isaac}", display: "isaac.brock@example.com" }] }],
    },
    answer: {
      ...{ schemas: [GROUP], id: "{team}", displayName: "Test SCIMv2" },
      members: [{ value: "{isaac}", display: "Isaac Brock-Smith", type: "User" }],
      meta: meta("Group", "team", 2),
    },
  },
  {
    does: "rename the group, with its own id in the value",
    ...{ method: "PATCH", path: "/Groups/{team}", status: 200 },
    body: {
      schemas: [PATCH],
      Operations: [{ op: "replace", value: { id: "{team}", displayName: "Test SCIMv2 renamed" } }],
    },
    answer: {
      ...{ schemas: [GROUP], id: "{team}", displayName: "Test SCIMv2 renamed" },
      members: [{ value: "{isaac}", display: "Isaac Brock-Smith", type: "User" }],
      meta: meta("Group", "team", 3),
    },
  },
  {
    does: "read the person, who shows the group",
    ...{ method: "GET", path: "/Users/{isaac}", status: 200 },
    answer: {
      ...isaac(2, renamed),
      groups: [{ value: "{team}", display: "Test SCIMv2 renamed", type: "direct" }],
    },
  },
];

export const deactivation: readonly Step[] = [
  {
    does: "deactivate the person, without a path",
    ...{ method: "PATCH", path: "/Users/{isaac}", status: 200 },
    body: { schemas: [PATCH], Operations: [{ op: "replace", value: { active: false } }] },
    answer: isaac(3, { ...renamed, active: false }),
  },
  {
    does: "read the group, which the person has left",
    ...{ method: "GET", path: "/Groups/{team}", status: 200 },
    answer: { schemas: [GROUP], id: "{team}", displayName: "Test SCIMv2 renamed", meta: meta("Group", "team", 3) },
  },
];

export const reactivation: readonly Step[] = [
  {
    does: "find the person, who is not active",
    ...{ method: "GET", path: BY_NAME, status: 200, answer: list(isaac(3, { ...renamed, active: false })) },
  },
  {
    does: "replace the whole of them, active again",
    ...{
      method: "PUT",
      path: "/Users/{isaac}",
      body: { ...sent, ...renamed, id: "{isaac}", active: true },
      status: 200,
    },
    answer: isaac(4, renamed),
  },
  {
    does: "push the group's members anew",
    ...{ method: "PUT", path: "/Groups/{team}", status: 200 },
    body: {
      ...{ schemas: [GROUP], id: "{team}", displayName: "Test SCIMv2 renamed" },
      members: [{ value: "{isaac}", display: "isaac.brock@example.com" }],
    },
    answer: {
      ...{ schemas: [GROUP], id: "{team}", displayName: "Test SCIMv2 renamed" },
      members: [{ value: "{isaac}", display: "Isaac Brock-Smith", type: "User" }],
      meta: meta("Group", "team", 4),
    },
  },
  {
    does: "take the group away",
    ...{ method: "DELETE", path: "/Groups/{team}", status: 204 },
  },
];
