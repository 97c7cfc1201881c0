/** PATCH on a resource in memory (RFC 7644 section 3.5.2), and the extensions of Entra and Okta. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ENTERPRISE_SCHEMA, GROUP, USER } from "../schema/resources.ts";
import { applyPatch } from "./patch.ts";
import { PATCH_SCHEMA, readPatch } from "./patch-operations.ts";

const ADA = {
  userName: "ada@example.com",
  name: { givenName: "Ada", familyName: "Lovelace" },
  emails: [
    { value: "ada@example.com", type: "work", primary: true },
    { value: "ada@home.example", type: "home" },
  ],
  active: true,
};
const TEAM = { displayName: "Team", members: [{ value: "a" }, { value: "b" }, { value: "c" }] };

type Op = { readonly op: string; readonly path?: string; readonly value?: unknown };
const apply = (now: object, Operations: readonly Op[], type = USER): object =>
  applyPatch(
    type,
    { id: "me", resource: now as Record<string, unknown> },
    readPatch({ schemas: [PATCH_SCHEMA], Operations }),
  );
const ada = (...operations: Op[]): object => apply(ADA, operations);
const team = (...operations: Op[]): object => apply(TEAM, operations, GROUP);
const refused = (wire: string, run: () => unknown): void => assert.throws(run, { wire });

test("add: with and without a path, single and plural, existing values only once", () => {
  assert.deepEqual(ada({ op: "add", path: "title", value: "Countess" }), { ...ADA, title: "Countess" });
  assert.deepEqual(ada({ op: "add", value: { nickName: "A", name: { middleName: "K" } } }), {
    ...ADA,
    nickName: "A",
    name: { ...ADA.name, middleName: "K" },
  });
  const phone = { value: "+1", type: "work" };
  assert.deepEqual(ada({ op: "add", path: "phoneNumbers", value: [phone, phone] }), { ...ADA, phoneNumbers: [phone] });
  assert.deepEqual(ada({ op: "add", path: "emails", value: ADA.emails[1] }), ADA);
  const added = ada({ op: "add", path: "emails", value: [{ value: "n@example.com", primary: true }] }) as typeof ADA;
  assert.deepEqual(
    added.emails.map(({ primary }) => primary),
    [false, undefined, true],
    "a new primary one takes that from the old",
  );
});

test("replace: values, parts, filtered items; a missing list is added to, a filter without a match is noTarget", () => {
  assert.deepEqual(ada({ op: "replace", path: "name.familyName", value: "King" }), {
    ...ADA,
    name: { givenName: "Ada", familyName: "King" },
  });
  assert.deepEqual(ada({ op: "replace", path: "name", value: { familyName: "King" } }), {
    ...ADA,
    name: { givenName: "Ada", familyName: "King" },
  });
  const emails = [{ ...ADA.emails[0], value: "x@example.com" }, ADA.emails[1]];
  const path = 'emails[type eq "WORK"].value';
  assert.deepEqual(ada({ op: "replace", path, value: "x@example.com" }), { ...ADA, emails });
  assert.deepEqual(apply({ userName: "a" }, [{ op: "replace", path, value: "x@example.com" }]), {
    userName: "a",
    emails: [{ type: "WORK", value: "x@example.com" }],
  });
  refused("noTarget", () => ada({ op: "replace", path: 'emails[type eq "other"].value', value: "x" }));
  assert.deepEqual(ada({ op: "replace", path: "emails", value: [] }), {
    userName: ADA.userName,
    name: ADA.name,
    active: true,
  });
});

test("remove: values, parts, items; without a path noTarget; a missing value is no error", () => {
  const { name: _, ...nameless } = ADA;
  assert.deepEqual(ada({ op: "remove", path: "name" }), nameless);
  assert.deepEqual(ada({ op: "remove", path: "name.givenName" }), { ...ADA, name: { familyName: "Lovelace" } });
  assert.deepEqual(team({ op: "remove", path: 'members[value eq "b"]' }), {
    displayName: "Team",
    members: [{ value: "a" }, { value: "c" }],
  });
  assert.deepEqual(team({ op: "remove", path: 'members[value eq "z"]' }), TEAM);
  assert.deepEqual(team({ op: "remove", path: "members" }), { displayName: "Team" });
  assert.deepEqual(team({ op: "remove", path: 'members[value eq "a" or value eq "c"]' }), {
    displayName: "Team",
    members: [{ value: "b" }],
  });
  assert.deepEqual(ada({ op: "remove", path: 'emails[not (type eq "work")]' }), { ...ADA, emails: [ADA.emails[0]] });
  refused("noTarget", () => ada({ op: "remove" }));
  refused("mutability", () => ada({ op: "remove", path: "userName" }));
});

test("requests of Entra: capitalized operations, False as a text, values to remove, keys that are paths, plain manager ids", () => {
  assert.deepEqual(ada({ op: "Replace", path: "active", value: "False" }), { ...ADA, active: false });
  assert.deepEqual(ada({ op: "Replace", value: { active: "false" } }), { ...ADA, active: false });
  assert.deepEqual(team({ op: "Remove", path: "members", value: [{ value: "b" }] }), {
    displayName: "Team",
    members: [{ value: "a" }, { value: "c" }],
  });
  const value = {
    "name.familyName": "King",
    'emails[type eq "home"].value': "k@home.example",
    [`${ENTERPRISE_SCHEMA}:department`]: "Engines",
  };
  assert.deepEqual(ada({ op: "Add", value }), {
    ...ADA,
    name: { givenName: "Ada", familyName: "King" },
    emails: [ADA.emails[0], { value: "k@home.example", type: "home" }],
    [ENTERPRISE_SCHEMA]: { department: "Engines" },
  });
  assert.deepEqual(ada({ op: "Add", path: `${ENTERPRISE_SCHEMA}:manager`, value: "m1" }), {
    ...ADA,
    [ENTERPRISE_SCHEMA]: { manager: { value: "m1" } },
  });
  assert.deepEqual(ada({ op: "Add", path: 'phoneNumbers[type eq "mobile"].value', value: "+2" }), {
    ...ADA,
    phoneNumbers: [{ type: "mobile", value: "+2" }],
  });
});

test("requests of Okta: the group's own id among the replaced attributes", () => {
  assert.deepEqual(team({ op: "replace", value: { id: "me", displayName: "New" } }), { ...TEAM, displayName: "New" });
  refused("mutability", () => team({ op: "replace", value: { id: "another", displayName: "New" } }));
});

test("all operations or none, and the original resource stays unchanged", () => {
  const before = structuredClone(ADA);
  refused("invalidPath", () =>
    ada({ op: "replace", path: "title", value: "x" }, { op: "replace", path: "shoeSize", value: "44" }),
  );
  ada({ op: "remove", path: 'emails[type eq "work"].value' });
  assert.deepEqual(ADA, before);
});

test("read-only attributes and invalid operations are refused with their scimType", () => {
  for (const path of ["id", "groups", "meta.version", 'groups[value eq "x"]'])
    refused("mutability", () => ada({ op: "replace", path, value: "x" }));
  refused("mutability", () => ada({ op: "add", value: { groups: [{ value: "admins" }] } }));
  for (const path of [
    "shoeSize",
    "name.shoe",
    "title[value pr]",
    "urn:x:y",
    "emails[shoe pr]",
    "__proto__",
    "constructor.name",
  ])
    refused("invalidPath", () => ada({ op: "replace", path, value: "x" }));
  for (const value of [7, {}, ["x", "y"], true])
    refused("invalidValue", () => ada({ op: "replace", path: "title", value }));
  for (const value of ["yes", 1, "", {}]) refused("invalidValue", () => ada({ op: "replace", path: "active", value }));
  refused("invalidValue", () => ada({ op: "replace", value: "x" }));
  refused("invalidSyntax", () => ada({ op: "move", path: "title" }));
  refused("invalidSyntax", () => readPatch({ schemas: [PATCH_SCHEMA], Operations: [] }));
  refused("invalidSyntax", () => readPatch({ Operations: [{ op: "add", path: "title", value: "x" }] }));
});

test("keys of prototypes are no attributes", () => {
  const value = JSON.parse('{"__proto__":{"active":false},"constructor":{"x":1}}') as object;
  assert.deepEqual(ada({ op: "add", value }), ADA);
  assert.equal(({} as Record<string, unknown>)["active"], undefined);
});

const PHONES = Array.from({ length: 190 }, (_, nth) => ({ value: `+${nth}`, type: "work" }));
const CROWD = { displayName: "Crowd", members: Array.from({ length: 9_000 }, (_, nth) => ({ value: `m${nth}` })) };
const crowd = (operations: readonly Op[]): object => apply(CROWD, operations, GROUP);

test("the values that all operations visit together are limited", () => {
  const removals = (count: number, conditions: number): Op[] =>
    Array.from({ length: count }, () => ({
      op: "remove",
      path: `members[${Array.from({ length: conditions }, () => 'value sw "x"').join(" or ")}]`,
    }));
  assert.deepEqual(crowd(removals(100, 1)), CROWD);
  refused("tooMany", () => crowd(removals(1_000, 1)));
  refused("tooMany", () => crowd(removals(20, 80)));
  // Each addition to another list than the last one goes through the whole list.
  const additions = Array.from({ length: 100 }, (_, nth): readonly Op[] => [
    { op: "add", path: "members", value: [{ value: "m1" }] },
    { op: "replace", path: "displayName", value: `Crowd ${nth}` },
  ]).flat();
  refused("tooMany", () => crowd(additions));
  const long = { value: "v".repeat(8_000), type: "work" };
  const long100 = Array.from({ length: 100 }, (_, nth) => ({ ...long, value: `${long.value}${nth}` }));
  const searches = Array.from({ length: 700 }, (): Op => ({ op: "remove", path: 'phoneNumbers[value co "x"]' }));
  refused("tooMany", () => apply({ ...ADA, phoneNumbers: long100 }, searches));
});

test("additions to one list in a row are one: any number of them fits, with the same result", () => {
  const one = (nth: number): Op => ({ op: "add", path: "members", value: { value: `n${nth}` } });
  const all = crowd(Array.from({ length: 1_000 }, (_, nth) => one(nth))) as typeof CROWD;
  assert.equal(all.members.length, 10_000);
  assert.deepEqual(all.members.at(-1), { value: "n999" });
  // A value that becomes the primary one takes that from the last one, so these stay single.
  const primary = (value: string): Op => ({ op: "add", path: "emails", value: { value, primary: true } });
  const { emails } = ada(primary("x@example.com"), primary("y@example.com")) as typeof ADA;
  assert.deepEqual(
    emails.filter((one) => one.primary).map(({ value }) => value),
    ["y@example.com"],
  );
});

test("removals from one list in a row are one: any number of them fits, with the same result", () => {
  const one = (nth: number): Op => ({ op: "remove", path: `members[value eq "m${nth}"]` });
  const left = crowd(Array.from({ length: 1_000 }, (_, nth) => one(nth))) as typeof CROWD;
  assert.deepEqual(left.members, CROWD.members.slice(1_000));
  assert.deepEqual(team({ op: "remove", path: 'members[value eq "A"]' }), TEAM, "case counts");
  const home: Op = { op: "remove", path: 'emails[value eq "ADA@HOME.example"]' };
  assert.deepEqual(ada(home), { ...ADA, emails: ADA.emails.slice(0, 1) }, "case does not count");
  const add: Op = { op: "add", path: "members", value: [{ value: "a" }] };
  assert.deepEqual(
    team({ op: "remove", path: 'members[value eq "a"]' }, add, { op: "remove", path: 'members[value eq "c"]' }),
    {
      ...TEAM,
      members: [{ value: "b" }, { value: "a" }],
    },
  );
});

test("no number of operations makes a list longer than the schema allows", () => {
  const more: Op = {
    op: "add",
    path: "phoneNumbers",
    value: Array.from({ length: 11 }, (_, nth) => ({ value: `n${nth}` })),
  };
  refused("invalidValue", () => apply({ ...ADA, phoneNumbers: PHONES }, [more]));
  refused("invalidValue", () =>
    crowd([
      { op: "add", path: "members", value: PHONES.map(({ value }) => ({ value })) },
      { op: "add", path: "members", value: Array.from({ length: 900 }, (_, nth) => ({ value: `n${nth}` })) },
    ]),
  );
});
