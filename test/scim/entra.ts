/**
 * The requests of Microsoft Entra ID (from its tutorial on SCIM endpoints). It looks for an unknown user to test the
 * connection, matches by userName, patches with capitalized operations and one path each, writes booleans as text by
 * default, deactivates before it deletes, and adds group members one at a time, reading groups without members.
 */
import { list, meta, type Step } from "./replay.ts";

const USER = "urn:ietf:params:scim:schemas:core:2.0:User";
const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group";
const PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

const UPN = "Test_User_feed3ace@testuser.com";
const by = (attribute: string, value: string): string => `?filter=${encodeURIComponent(`${attribute} eq "${value}"`)}`;
const patch = (...Operations: readonly unknown[]) => ({ schemas: [PATCH], Operations });

const person = (version: number, more: object = {}) => ({
  schemas: [USER, ENTERPRISE],
  id: "{user}",
  externalId: "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
  userName: UPN,
  name: { familyName: "familyName", givenName: "givenName", formatted: "givenName familyName" },
  displayName: "lennay",
  active: true,
  emails: [{ value: "Test_User_fd0ea19b@testuser.com", type: "work", primary: true }],
  [ENTERPRISE]: { department: "bob" },
  meta: meta("User", "user", version),
  ...more,
});

export const provisioning: readonly Step[] = [
  {
    does: "test the connection: look for an unknown user",
    ...{ method: "GET", path: `/Users${by("userName", "non-existent-5b64d4c2")}`, status: 200, answer: list() },
  },
  {
    does: "look for the person",
    ...{ method: "GET", path: `/Users${by("userName", UPN)}`, status: 200, answer: list() },
  },
  {
    does: "make the person",
    ...{ method: "POST", path: "/Users", status: 201, keep: "user", answer: person(1) },
    body: {
      schemas: [USER, ENTERPRISE],
      externalId: "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
      userName: UPN,
      active: true,
      displayName: "lennay",
      emails: [{ primary: true, type: "work", value: "Test_User_fd0ea19b@testuser.com" }],
      meta: { resourceType: "User" },
      name: { formatted: "givenName familyName", familyName: "familyName", givenName: "givenName" },
      roles: [],
      [ENTERPRISE]: { department: "bob" },
    },
  },
  {
    does: "find the person by the address, in Entra's own way",
    method: "GET",
    path: `/Users${by('emails[type eq "work"].value', "test_user_fd0ea19b@TESTUSER.com")}`,
    ...{ status: 200, answer: list(person(1)) },
  },
];

const mails = (value: string) => [{ value, type: "work", primary: true }];

export const renaming: readonly Step[] = [
  {
    does: "change address and family name",
    ...{ method: "PATCH", path: "/Users/{user}", status: 200 },
    body: patch(
      { op: "Replace", path: 'emails[type eq "work"].value', value: "updatedEmail@example.com" },
      { op: "Replace", path: "name.familyName", value: "updatedFamilyName" },
    ),
    answer: person(2, {
      emails: mails("updatedEmail@example.com"),
      name: { familyName: "updatedFamilyName", givenName: "givenName", formatted: "givenName familyName" },
    }),
  },
  {
    does: "change the userName, and add what was not there: a phone, a manager, by keys that are paths",
    ...{ method: "PATCH", path: "/Users/{user}", status: 200 },
    body: patch(
      { op: "Replace", path: "userName", value: "5b50642d-79fc-4410-9e90-4c077cdd1a59@testuser.com" },
      { op: "Add", path: 'phoneNumbers[type eq "mobile"].value', value: "+1 555 0100" },
      { op: "Add", value: { "name.formatted": "given updated", [`${ENTERPRISE}:manager`]: "boss" } },
    ),
    answer: person(3, {
      userName: "5b50642d-79fc-4410-9e90-4c077cdd1a59@testuser.com",
      emails: mails("updatedEmail@example.com"),
      name: { familyName: "updatedFamilyName", givenName: "givenName", formatted: "given updated" },
      phoneNumbers: [{ type: "mobile", value: "+1 555 0100" }],
      [ENTERPRISE]: { department: "bob", manager: { value: "boss" } },
    }),
  },
];

const changed = {
  userName: "5b50642d-79fc-4410-9e90-4c077cdd1a59@testuser.com",
  emails: mails("updatedEmail@example.com"),
  name: { familyName: "updatedFamilyName", givenName: "givenName", formatted: "given updated" },
  phoneNumbers: [{ type: "mobile", value: "+1 555 0100" }],
  [ENTERPRISE]: { department: "bob", manager: { value: "boss" } },
};

const group = (version: number, more: object = {}) => ({
  schemas: [GROUP],
  id: "{group}",
  externalId: "8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159",
  displayName: "displayName",
  meta: meta("Group", "group", version),
  ...more,
});

export const groupPush: readonly Step[] = [
  {
    does: "look for the group, without its members",
    method: "GET",
    path: `/Groups?excludedAttributes=members&filter=${encodeURIComponent('displayName eq "displayName"')}`,
    ...{ status: 200, answer: list() },
  },
  {
    does: "make the group, under a schema of Entra's own beside the right one",
    ...{ method: "POST", path: "/Groups", status: 201, keep: "group", answer: group(1) },
    body: {
      schemas: [GROUP, "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"],
      externalId: "8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159",
      displayName: "displayName",
      meta: { resourceType: "Group" },
    },
  },
  {
    does: "put the person into it",
    ...{ method: "PATCH", path: "/Groups/{group}", status: 200 },
    body: patch({ op: "Add", path: "members", value: [{ $ref: null, value: "{user}" }] }),
    answer: group(2, { members: [{ value: "{user}", display: "lennay", type: "User" }] }),
  },
  {
    does: "look whether the person is in it",
    method: "GET",
    path: `/Groups?attributes=id&filter=${encodeURIComponent('id eq "{group}" and members eq "{user}"')}`,
    ...{ status: 200, answer: list({ schemas: [GROUP], id: "{group}" }) },
  },
  {
    does: "rename the group",
    ...{ method: "PATCH", path: "/Groups/{group}", status: 200 },
    body: patch({
      op: "Replace",
      path: "displayName",
      value: "1879db59-3bdf-4490-ad68-ab880a269474updatedDisplayName",
    }),
    answer: group(3, {
      displayName: "1879db59-3bdf-4490-ad68-ab880a269474updatedDisplayName",
      members: [{ value: "{user}", display: "lennay", type: "User" }],
    }),
  },
  {
    does: "take the person out of it, named in the value",
    ...{ method: "PATCH", path: "/Groups/{group}", status: 200 },
    body: patch({ op: "Remove", path: "members", value: [{ $ref: null, value: "{user}" }] }),
    answer: group(4, { displayName: "1879db59-3bdf-4490-ad68-ab880a269474updatedDisplayName" }),
  },
  {
    does: "read the group, without its members",
    ...{ method: "GET", path: "/Groups/{group}?excludedAttributes=members", status: 200 },
    answer: group(4, { displayName: "1879db59-3bdf-4490-ad68-ab880a269474updatedDisplayName" }),
  },
];

export const deactivation: readonly Step[] = [
  {
    does: "deactivate the person softly, with a boolean that is a text",
    ...{ method: "PATCH", path: "/Users/{user}", status: 200 },
    body: patch({ op: "Replace", path: "active", value: "False" }),
    answer: person(4, { ...changed, active: false }),
  },
  {
    does: "read the person, who is there and not active",
    ...{ method: "GET", path: "/Users/{user}", status: 200, answer: person(4, { ...changed, active: false }) },
  },
];

export const reactivation: readonly Step[] = [
  {
    does: "let the person in again",
    ...{ method: "PATCH", path: "/Users/{user}", status: 200 },
    body: patch({ op: "Replace", path: "active", value: "True" }),
    answer: person(5, changed),
  },
  { does: "delete the group", method: "DELETE", path: "/Groups/{group}", status: 204 },
  { does: "delete the person for good", method: "DELETE", path: "/Users/{user}", status: 204 },
  {
    does: "look whether the person is gone",
    ...{ method: "GET", path: "/Users/{user}", status: 404 },
    answer: {
      schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
      status: "404",
      detail: "No User has the id [{user}].",
    },
  },
];
