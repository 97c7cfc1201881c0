/** Details of RFC 7643 and RFC 7644: unique values, unique names, conditions, and messages that name the fault. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { directoryToken } from "../support/clients/directory.ts";
import { JSON_TYPE } from "../support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../support/platform.ts";
import { callScim } from "./replay.ts";

const USER = "urn:ietf:params:scim:schemas:core:2.0:User";
const GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group";
const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
const USERS = "/Users";
const SEARCH = "urn:ietf:params:scim:api:messages:2.0:SearchRequest";

let platform: TestPlatform;
let token: string;
before(async () => {
  platform = await startTestPlatform();
  token = await directoryToken(platform);
});
after(() => platform?.stop());

type How = { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> };
const call = (method: string, path: string, how: How = {}): Promise<Answer> =>
  callScim(platform, { token }, method, path, how);
const patch = (path: string, ...Operations: readonly unknown[]): Promise<Answer> =>
  call("PATCH", path, { body: { schemas: [PATCH], Operations } });
async function person(userName: string, more: object = {}): Promise<string> {
  const { status, body, text } = await call("POST", "/Users", { body: { schemas: [USER], userName, ...more } });
  assert.equal(status, 201, text);
  return `/Users/${body.id}`;
}
const refused = ({ status, body, text }: Answer): unknown => {
  assert.ok(status >= 400, text);
  return [status, body.scimType];
};

test("adding an existing value changes nothing, and no list has the same value and type twice", async () => {
  const work = { value: "ada@example.com", type: "work", primary: true };
  const home = { value: "ada@home.example", type: "home" };
  const emails = [work, home];
  const addresses = [{ locality: "London", type: "work" }];
  const path = await person("ada@example.com", { emails, addresses });
  const add = (name: string, value: unknown): Promise<Answer> => patch(path, { op: "add", path: name, value });
  for (const [name, value] of [
    ["emails", [home]],
    ["emails", [{ type: "HOME", value: "Ada@Home.example" }]],
    ["emails", [work, home]],
    ["addresses", [{ type: "work", locality: "London" }]],
    ['emails[type eq "home"].value', "ada@home.example"],
  ] as const) {
    const { body } = await add(name, value);
    assert.deepEqual([body.emails, body.addresses, body.meta.version], [emails, addresses, 'W/"1"'], name);
  }
  const more = await add("emails", [{ ...home, display: "At home" }]);
  assert.deepEqual(more.body.emails, [work, { ...home, display: "At home" }], "new sub-attributes are merged");
  const moved = await add("emails", [{ ...home, primary: true }]);
  assert.deepEqual(
    (moved.body.emails as { primary?: boolean }[]).map(({ primary }) => primary),
    [false, true],
  );
  const same = await patch(path, { op: "replace", path: 'emails[type eq "work"]', value: { ...home, primary: true } });
  assert.deepEqual(same.body.emails, [{ ...home, display: "At home", primary: true }], "equal values are merged");
  const twice = await call("PUT", path, {
    body: { schemas: [USER], userName: "ada@example.com", emails: [home, home] },
  });
  assert.deepEqual(twice.body.emails, [home]);
});

test("an add without a value is invalidValue and changes nothing", async () => {
  const path = await person("novalue@example.com", { displayName: "Still here" });
  for (const operation of [{ op: "add", path: "displayName" }, { op: "Add", path: "emails" }, { op: "add" }])
    assert.deepEqual(refused(await patch(path, operation)), [400, "invalidValue"], JSON.stringify(operation));
  assert.equal((await call("GET", path)).body.displayName, "Still here");
});

test("a name that is present twice in different letter case is refused, at any depth", async () => {
  const path = await person("twice@example.com");
  const whole = { schemas: [USER], userName: "other@example.com" };
  for (const body of [
    { ...whole, USERNAME: "evil@example.com" },
    { ...whole, name: { givenName: "A", GivenName: "B" } },
    { ...whole, emails: [{ value: "a@example.com", VALUE: "b@example.com" }] },
    { ...whole, [ENTERPRISE]: { department: "A", Department: "B" } },
    { ...whole, [ENTERPRISE]: { department: "A" }, [ENTERPRISE.toUpperCase()]: { department: "B" } },
  ])
    for (const [method, where] of [
      ["POST", "/Users"],
      ["PUT", path],
    ] as const)
      assert.deepEqual(refused(await call(method, where, { body })), [400, "invalidSyntax"], JSON.stringify(body));
  for (const value of [{ displayName: "A", DISPLAYNAME: "B" }, { [ENTERPRISE]: { department: "A", Department: "B" } }])
    assert.deepEqual(refused(await patch(path, { op: "replace", value })), [400, "invalidSyntax"]);
  const operations = [{ op: "replace", path: "title", value: "A" }];
  const body = { schemas: [PATCH], Operations: operations, operations };
  assert.deepEqual(refused(await call("PATCH", path, { body })), [400, "invalidSyntax"]);
});

test("documents about the server cannot be filtered: 403", async () => {
  for (const path of ["/Schemas", "/ResourceTypes", "/ServiceProviderConfig", `/Schemas/${USER}`]) {
    assert.equal((await call("GET", `${path}?filter=id%20pr`)).status, 403, path);
    assert.equal((await call("GET", path)).status, 200, path);
  }
});

test("If-None-Match prevents PUT, PATCH and DELETE of a known version: 412", async () => {
  const made = await call("POST", "/Groups", { body: { schemas: [GROUP], displayName: "Conditions" } });
  const cases = [
    [await person("none@example.com"), { schemas: [USER], userName: "none@example.com", title: "T" }],
    [`/Groups/${made.body.id}`, { schemas: [GROUP], displayName: "Conditions too" }],
  ] as const;
  for (const [path, whole] of cases) {
    const bodies = {
      PUT: whole,
      PATCH: { schemas: [PATCH], Operations: [{ op: "replace", path: "externalId", value: "x" }] },
      DELETE: undefined,
    };
    for (const [method, body] of Object.entries(bodies))
      for (const tag of ["*", 'W/"1"', '"7", "1"']) {
        const answer = await call(method, path, { body, headers: { "if-none-match": tag } });
        assert.equal(answer.status, 412, `${method} ${path} ${tag}`);
        assert.match(answer.body.detail, /If-None-Match/);
      }
    assert.equal((await call("GET", path)).body.meta.version, 'W/"1"');
    assert.equal(
      (await call("PATCH", path, { body: bodies.PATCH, headers: { "if-none-match": '"7"' } })).body.meta.version,
      'W/"2"',
    );
    const gone = `${path.slice(0, 8)}AAAAAAAAAAAAAAAAAAAAAA`;
    assert.equal((await call("DELETE", gone, { headers: { "if-none-match": "*" } })).status, 404);
  }
});

test("faults of sortBy and of long filters are named", async () => {
  for (const [sortBy, words] of [
    ["foo", /^sortBy cannot be used: foo is no attribute of a User/],
    ["emails[", /^sortBy cannot be used/],
    ["name", /^sortBy cannot be used: name the part to sort by/],
    ["addresses", /^sortBy cannot be used: addresses has no value/],
    ["password", /^sortBy cannot be used/],
    ["x".repeat(5_000), /^sortBy cannot be used: it has more than 4096 characters/],
  ] as const) {
    const searched = await call("POST", `${USERS}/.search`, { body: { schemas: [SEARCH], sortBy } });
    for (const answer of [await call("GET", `/Users?sortBy=${encodeURIComponent(sortBy)}`), searched]) {
      assert.deepEqual(refused(answer), [400, "invalidValue"], sortBy);
      assert.match(answer.body.detail, words);
    }
  }
  const filter = `userName eq "${"x".repeat(5_000)}"`;
  const searched = await call("POST", `${USERS}/.search`, { body: { schemas: [SEARCH], filter } });
  for (const answer of [await call("GET", `/Users?filter=${encodeURIComponent(filter)}`), searched]) {
    assert.deepEqual(refused(answer), [400, "invalidFilter"]);
    assert.match(answer.body.detail, /more than 4096 characters/);
  }
});

test("surrounding spaces of an e-mail address are removed", async () => {
  const path = await person("spaces@example.com", { emails: [{ value: "  sp@example.com ", type: "work" }] });
  assert.deepEqual((await call("GET", path)).body.emails, [{ value: "sp@example.com", type: "work" }]);
  const changed = await patch(path, { op: "replace", path: 'emails[type eq "work"].value', value: " sp@example.com" });
  assert.deepEqual([changed.body.emails[0].value, changed.body.meta.version], ["sp@example.com", 'W/"1"']);
});

test("resources are found by their schemas", async () => {
  await person("worker@example.com", { [ENTERPRISE]: { department: "R&D" } });
  const names = async (filter: string, type = "Users"): Promise<string[]> => {
    const { status, body, text } = await call("GET", `/${type}?filter=${encodeURIComponent(filter)}`);
    assert.equal(status, 200, text);
    return body.Resources.map((one: Record<string, string>) => one["userName"] ?? one["displayName"]);
  };
  assert.deepEqual(await names(`schemas eq "${ENTERPRISE}"`), ["worker@example.com"]);
  assert.deepEqual(await names(`Schemas eq "${USER.toUpperCase()}" and userName sw "worker"`), ["worker@example.com"]);
  assert.ok(!(await names(`not (schemas eq "${ENTERPRISE}")`)).includes("worker@example.com"));
  assert.deepEqual(await names(`schemas eq "${GROUP}"`), []);
  await call("POST", "/Groups", { body: { schemas: [GROUP], displayName: "By schema" } });
  assert.ok((await names(`schemas eq "${GROUP}"`, "Groups")).includes("By schema"));
  assert.ok((await names("schemas pr", "Groups")).includes("By schema"));
});

test("409 names the address or userName that is taken, not that of the changed user", async () => {
  await person("eve", { emails: [{ value: "eve@example.com" }] });
  const path = await person("carl@example.com", { emails: [{ value: "carl@example.com" }] });
  const words = async (answer: Promise<Answer>): Promise<string> => {
    const { status, body } = await answer;
    assert.deepEqual([status, body.scimType], [409, "uniqueness"]);
    return /\[(.*)\]/.exec(body.detail)?.[1] ?? "";
  };
  const taken = [{ value: "EVE@example.com", type: "work" }];
  assert.equal(await words(patch(path, { op: "replace", path: "emails", value: taken })), "eve@example.com");
  assert.equal(await words(patch(path, { op: "replace", path: "userName", value: "Eve" })), "Eve");
  const body = { schemas: [USER], userName: "fresh@example.com", emails: taken };
  assert.equal(await words(call("POST", "/Users", { body })), "eve@example.com");
  assert.equal(await words(call("PUT", path, { body })), "eve@example.com");
});

test("an absent resource is named by its id, by each method, also to callers without permission to see it", async () => {
  const id = "AAAAAAAAAAAAAAAAAAAAAA";
  for (const [type, schema, name] of [
    ["Users", USER, "userName"],
    ["Groups", GROUP, "displayName"],
  ] as const)
    for (const [method, body] of [
      ["GET", undefined],
      ["PUT", { schemas: [schema], [name]: "x@example.com" }],
      ["PATCH", { schemas: [PATCH], Operations: [{ op: "add", path: name, value: "x@example.com" }] }],
      ["DELETE", undefined],
    ] as const) {
      const answer = await call(method, `/${type}/${id}`, { body });
      assert.equal(answer.status, 404);
      assert.match(answer.body.detail, new RegExp(`\\[${id}\\]`), `${method} ${type}`);
    }
  const query = `mutation { deleteUserGroup(input: { userGroupId: "${id}" }) { clientMutationId } }`;
  const { text } = await platform.send("POST", `/gateway/api/graphql?accountId=${platform.accountId}`, {
    contentType: JSON_TYPE,
    body: JSON.stringify({ query }),
  });
  assert.match(text, new RegExp(`User group \\[${id}\\] not found`));
});

test("a user's attributes have 64 KiB together", async () => {
  const photos = Array.from({ length: 5 }, (_, nth) => ({ value: `https://x.example/${nth}/${"p".repeat(8_000)}` }));
  const path = await person("large@example.com", { photos });
  assert.deepEqual(
    refused(
      await patch(
        path,
        ...["roles", "entitlements"].map((name) => ({
          op: "add",
          path: name,
          value: [{ value: "r".repeat(8_000) }, { value: "s".repeat(8_000) }],
        })),
      ),
    ),
    [400, "invalidValue"],
  );
});
