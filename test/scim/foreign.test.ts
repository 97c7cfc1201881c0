/** Requests of large identity providers beyond RFC 7643 and 7644, and properties that their validators compare. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestPlatform, type Answer, type TestPlatform } from "../support/platform.ts";

let platform: TestPlatform;
before(async () => void (platform = await startTestPlatform()));
after(() => platform?.stop());

const USER = "urn:ietf:params:scim:schemas:core:2.0:User";
const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group";
const PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

const call = (method: string, path: string, body?: object): Promise<Answer> =>
  platform.send(method, `/gateway/ng/api/scim/account/${platform.accountId}${path}`, {
    account: null,
    ...(body ? { body: JSON.stringify(body), contentType: "application/scim+json" } : {}),
  });
async function ok(answer: Promise<Answer>) {
  const { status, text, body } = await answer;
  assert.ok(status === 200 || status === 201, text);
  return body;
}
const found = async (path: string, filter: string): Promise<readonly string[]> => {
  const { Resources } = await ok(call("GET", `${path}?filter=${encodeURIComponent(filter)}`));
  return Resources.map(({ id }: { id: string }) => id);
};

test("the first administrator has both parts of the name and is found by them", async () => {
  const [first] = (await ok(call("GET", "/Users"))).Resources;
  const words = first.displayName.split(" ");
  const [familyName, givenName] = [words.at(-1), words.slice(0, -1).join(" ") || first.displayName];
  assert.deepEqual(first.name, { familyName, givenName });
  for (const [part, text] of Object.entries(first.name as Record<string, string>))
    assert.deepEqual(await found("/Users", `name.${part} eq "${text}"`), [first.id]);
  await platform.db.query("update users set name = 'Ada King  Lovelace' where given_name = ''");
  assert.deepEqual((await ok(call("GET", `/Users/${first.id}`))).name, {
    familyName: "Lovelace",
    givenName: "Ada King",
  });
  assert.deepEqual(await found("/Users", 'name.givenName eq "ada king" and name.familyName sw "love"'), [first.id]);
});

test("filters may name attributes that no user has, and attributes of an extension without its URN", async () => {
  const manager = await ok(call("POST", "/Users", { schemas: [USER], userName: "boss@example.com" }));
  const user = await ok(
    call("POST", "/Users", {
      schemas: [USER, ENTERPRISE],
      userName: "ada@example.com",
      [ENTERPRISE]: { manager: { value: manager.id }, department: "Engines" },
    }),
  );
  for (const filter of [
    `id eq "${user.id}" and manager eq "${manager.id}"`,
    `id eq "${user.id}" and manager.value eq "${manager.id}"`,
    `${ENTERPRISE}:manager eq "${manager.id}"`,
    `id eq "${user.id}" and department eq "engines"`,
    `id eq "${user.id}" and not (shoeSize eq "9")`,
    `id eq "${user.id}" and shoeSize ne 9`,
    `id eq "${user.id}" and not (shoes[size eq 9])`,
  ])
    assert.deepEqual(await found("/Users", filter), [user.id], filter);
  for (const filter of [
    `id eq "${user.id}" and manager eq "${user.id}"`,
    `id eq "${user.id}" and shoeSize eq "9"`,
    `id eq "${user.id}" and shoeSize gt 9`,
    `id eq "${user.id}" and shoeSize pr`,
    `id eq "${user.id}" and name.shoeSize co "x"`,
    `id eq "${user.id}" and emails[shoeSize eq true]`,
    `id eq "${user.id}" and urn:example:params:shoes:size eq 9`,
  ])
    assert.deepEqual(await found("/Users", filter), [], filter);
  const team = await ok(
    call("POST", "/Groups", { schemas: [GROUP], displayName: "Team", members: [{ value: user.id }] }),
  );
  assert.deepEqual(await found("/Groups", `id eq "${team.id}" and members eq "${user.id}"`), [team.id]);
  assert.deepEqual(await found("/Groups", `id eq "${team.id}" and manager eq "${user.id}"`), []);
  for (const wrong of ['id eq "x" and', "shoeSize eq", 'password eq "x"', 'name eq "x"']) {
    const { status, body } = await call("GET", `/Users?filter=${encodeURIComponent(wrong)}`);
    assert.deepEqual([status, body.scimType], [400, "invalidFilter"], wrong);
  }
  assert.equal((await call("GET", "/Users?sortBy=shoeSize")).status, 400);
});

test("a single value may be a list of one", async () => {
  const { id } = await ok(call("POST", "/Users", { schemas: [USER], userName: "m@example.com" }));
  const listed = {
    schemas: [USER, ENTERPRISE],
    userName: "single@example.com",
    nickName: [{ value: "Al" }],
    title: ["Engineer"],
    active: [{ value: "False" }],
    name: [{ givenName: "Alan", familyName: [{ value: "Turing" }] }],
    [ENTERPRISE]: { manager: [{ value: id }], department: [] },
  };
  const made = await ok(call("POST", "/Users", listed));
  assert.deepEqual(
    [made.nickName, made.title, made.active, made.name, made[ENTERPRISE]],
    ["Al", "Engineer", false, { familyName: "Turing", givenName: "Alan" }, { manager: { value: id } }],
  );
  const operations = [
    { op: "Replace", path: "nickName", value: [{ value: "Tury" }] },
    { op: "Replace", path: "active", value: [{ value: true }] },
    { op: "Add", path: `${ENTERPRISE}:manager`, value: [{ value: made.id }] },
    { op: "Add", path: "name.givenName", value: [{ value: "A." }] },
    { op: "Replace", path: "title", value: [] },
  ];
  const patched = await ok(call("PATCH", `/Users/${made.id}`, { schemas: [PATCH], Operations: operations }));
  assert.deepEqual(
    [patched.nickName, patched.title, patched.active, patched.name.givenName, patched[ENTERPRISE].manager.value],
    ["Tury", undefined, true, "A.", made.id],
  );
  for (const nickName of [[{ value: "a" }, { value: "b" }], [{ value: 1 }], [["a"]]]) {
    const { status, body } = await call("POST", "/Users", { schemas: [USER], userName: "two@example.com", nickName });
    assert.deepEqual([status, body.scimType], [400, "invalidValue"], JSON.stringify(nickName));
  }
});

test("addresses with a trailing slash are the same", async () => {
  for (const older of ["", "older"]) {
    const base = `${older ? "" : "/gateway/ng"}/api/scim/account/${platform.accountId}`;
    for (const path of ["/Users/?count=1", "/Groups/?count=1", "/ServiceProviderConfig/", "/Schemas/"]) {
      const answer = await platform.send("GET", base + path, { account: null });
      assert.equal(answer.status, 200, `${base}${path}: ${answer.text}`);
    }
  }
  const user = { schemas: [USER], userName: "slash@example.com" };
  const { id } = await ok(call("POST", "/Users/", user));
  assert.equal((await ok(call("GET", `/Users/${id}/`))).id, id);
  assert.equal(
    (await platform.send("GET", `/ng/api/scim/account/${platform.accountId}/Users/`, { apiKey: null })).status,
    401,
  );
  assert.equal((await call("GET", "/Users//")).status, 404);
});

/** RFC 7643 section 8.7: the attributes in its order. Default type `string`; `*` several values, `!` required. */
const RFC: Readonly<Record<string, readonly string[]>> = {
  [USER]: [
    "userName! server",
    "name complex: formatted, familyName, givenName, middleName, honorificPrefix, honorificSuffix",
    "displayName",
    "nickName",
    "profileUrl reference",
    "title",
    "userType",
    "preferredLanguage",
    "locale",
    "timezone",
    "active boolean",
    "password writeOnly never",
    "emails* complex: value, display, type, primary boolean",
    "phoneNumbers* complex: value, display, type, primary boolean",
    "ims* complex: value, display, type, primary boolean",
    "photos* complex: value reference, display, type, primary boolean",
    "addresses* complex: formatted, streetAddress, locality, region, postalCode, country, type",
    "groups* complex readOnly: value readOnly, $ref reference readOnly, display readOnly, type readOnly",
    "entitlements* complex: value, display, type, primary boolean",
    "roles* complex: value, display, type, primary boolean",
    "x509Certificates* complex: value binary, display, type, primary boolean",
  ],
  [GROUP]: ["displayName!", "members* complex: value immutable, $ref reference immutable, type immutable"],
  [ENTERPRISE]: [
    "employeeNumber",
    "costCenter",
    "organization",
    "division",
    "department",
    "manager complex: value, $ref reference, displayName readOnly",
  ],
};

type Described = {
  readonly [key: string]: unknown;
  readonly name: string;
  readonly subAttributes?: readonly Described[];
};

function written(one: Described): string {
  const { name, type, multiValued, required, mutability, returned, uniqueness, caseExact, subAttributes } = one;
  assert.equal(typeof one["description"], "string", name);
  assert.equal(caseExact ?? false, false, name);
  const signs = `${name}${multiValued ? "*" : ""}${required ? "!" : ""}`;
  const words = [type, mutability, returned, uniqueness].filter(
    (word) => !["string", "readWrite", "default", "none"].includes(String(word)),
  );
  const head = [signs, ...words].join(" ");
  return subAttributes ? `${head}: ${subAttributes.map(written).join(", ")}` : head;
}

test("the schemas describe the attributes of RFC 7643 section 8.7", async () => {
  const { Resources } = await ok(call("GET", "/Schemas"));
  const shown = Resources.map(({ id, attributes }: { id: string; attributes: readonly Described[] }) => [
    id,
    attributes.map(written),
  ]);
  assert.deepEqual(Object.fromEntries(shown), RFC);
});
