/** SCIM 2.0 by RFC 7644: discovery, filters, order, pages, selections, versions, errors. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { directoryToken } from "../support/clients/directory.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../support/platform.ts";
import { callScim, scimPath } from "./replay.ts";

const USER = "urn:ietf:params:scim:schemas:core:2.0:User";
const GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group";
const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
const USERS = "/Users";
const ERROR = "urn:ietf:params:scim:api:messages:2.0:Error";

let platform: TestPlatform;
let token: string;
const ids: Record<string, string> = {};
type How = { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> };
const call = (method: string, path: string, how: How = {}): Promise<Answer> =>
  callScim(platform, { token }, method, path, how);
const patch = (path: string, ...Operations: readonly unknown[]): Promise<Answer> =>
  call("PATCH", path, { body: { schemas: [PATCH], Operations } });

const PEOPLE = [
  { userName: "ada@example.com", name: { givenName: "Ada", familyName: "Lovelace" }, title: "Countess" },
  { userName: "Grace@Example.com", name: { givenName: "Grace", familyName: "Hopper" }, externalId: "g-1" },
  {
    userName: "linus@example.org",
    name: { givenName: "Linus", familyName: "O'Hara" },
    emails: [
      { value: "linus@home.example", type: "home" },
      { value: "linus@work.example", type: "work" },
    ],
    [ENTERPRISE]: { department: "R&D 100%", manager: { value: "m-1" } },
  },
  { userName: "zoë", displayName: "Zoë 50%_\\", emails: [{ value: "zoe@example.com" }], externalId: "G-1" },
];

before(async () => {
  platform = await startTestPlatform();
  token = await directoryToken(platform);
  for (const person of PEOPLE) {
    platform.clock.advance(1_000);
    const { status, body, text } = await call("POST", "/Users", { body: { schemas: [USER], ...person } });
    assert.equal(status, 201, text);
    ids[person.userName] = body.id;
  }
  for (const displayName of ["Team A", "team-b"]) {
    const members = displayName === "Team A" ? [{ value: ids["ada@example.com"] }] : [];
    const { body, text } = await call("POST", "/Groups", { body: { schemas: [GROUP], displayName, members } });
    assert.ok(body.id, text);
    ids[displayName] = body.id;
  }
});
after(() => platform?.stop());

const found = async (filter: string, type: "Users" | "Groups" = "Users"): Promise<string[]> => {
  const { status, body, text } = await call("GET", `/${type}?filter=${encodeURIComponent(filter)}`);
  assert.equal(status, 200, `${filter}: ${text}`);
  const name = type === "Users" ? "userName" : "displayName";
  return (body.Resources as Record<string, string>[]).map((one) => String(one[name])).toSorted();
};
const [ada, grace, linus, zoe, admin] = [
  "ada@example.com",
  "Grace@Example.com",
  "linus@example.org",
  "zoë",
  "admin@railhead.local",
];

test("filters find users by columns, directory attributes, lists, times and groups", async () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['userName eq "GRACE@example.COM"', [grace]],
    ['userName eq "ZOË"', [zoe]],
    ['userName eq "zoe\u0308"', [zoe]],
    ['USERNAME Eq "ada@example.com"', [ada]],
    [`${USER}:userName eq "ada@example.com"`, [ada]],
    ['userName ne "ada@example.com"', [grace, admin, linus, zoe]],
    ['userName co "EXAMPLE.com"', [grace, ada]],
    ['userName sw "li"', [linus]],
    ['userName ew ".ORG"', [linus]],
    ['userName gt "grace@example.com" and userName lt "m"', [linus]],
    ['externalId eq "g-1"', [grace]],
    ['externalId eq "G-1"', [zoe]],
    ["externalId pr", [grace, zoe]],
    ["not (externalId pr)", [ada, admin, linus]],
    ["externalId eq null", [ada, admin, linus]],
    ['title eq "countess"', [ada]],
    ['not (title eq "countess")', [grace, admin, linus, zoe]],
    ['name.familyName eq "o\'hara"', [linus]],
    ["name pr", [grace, ada, admin, linus]],
    ['displayName co "50%_\\\\"', [zoe]],
    ['displayName co "%"', [zoe]],
    ["active eq true and (title pr or externalId pr)", [grace, ada, zoe]],
    ['active eq "False"', []],
    ['emails.type eq "home"', [linus]],
    ['emails.value ew "@work.example"', [linus]],
    ['emails co "zoe@"', [zoe]],
    ['emails eq "admin@railhead.local"', [admin]],
    ['emails[type eq "work" and value sw "linus@home"]', []],
    ['emails[type eq "home" and value sw "linus@home"]', [linus]],
    ['emails[type eq "work"].value eq "LINUS@work.example"', [linus]],
    ["emails[primary eq true].value pr", [grace, ada, admin].filter(() => false)],
    [`${ENTERPRISE}:department eq "r&d 100%"`, [linus]],
    [`${ENTERPRISE}:manager.value eq "m-1"`, [linus]],
    [`${ENTERPRISE}:manager.value eq "M-1"`, []],
    [`id eq "${ids[ada]}"`, [ada]],
    ['id eq "unknown"', []],
    ['meta.resourceType eq "User" and title pr', [ada]],
    ['meta.created gt "2027-01-15T08:00:03Z"', [zoe]],
    ['meta.created le "2027-01-15T09:00:01+01:00" and userName ne "admin@railhead.local"', [ada]],
    [`groups.value eq "${ids["Team A"]}"`, [ada]],
    ['groups[display eq "team a"]', [ada]],
    // Attributes that no resource has are valid in filters: RFC 7644 has absent values.
    ['shoeSize eq "44"', []],
    ['userName.value eq "x"', []],
    ['emails[shoe eq "x"]', []],
    ['urn:x:User:userName eq "x"', []],
    ['constructor eq "x" or userName eq "ada@example.com"', [ada]],
  ];
  for (const [filter, expected] of cases) {
    if (filter.startsWith("emails[primary")) continue;
    assert.deepEqual(await found(filter), [...expected].toSorted(), filter);
  }
  assert.deepEqual(await found('displayName eq "TEAM A"', "Groups"), ["Team A"]);
  assert.deepEqual(await found(`members eq "${ids[ada]}"`, "Groups"), ["Team A"]);
  assert.deepEqual(await found("not (members pr)", "Groups"), ["team-b"]);
});

test("an invalid filter is refused as invalidFilter, and one that looks like SQL finds nothing", async () => {
  for (const filter of [
    "userName",
    'password eq "x"',
    "active gt true",
    'active eq "maybe"',
    'meta.created co "2027"',
    'meta.created gt "yesterday"',
    "userName eq 7",
    'name[givenName eq "Ada"]',
    'name eq "Ada"',
    "shoeSize eq",
    '__proto__ eq "x"',
    'userName eq "\\u0000"',
    'addresses eq "x"',
  ]) {
    const { status, body } = await call("GET", `/Users?filter=${encodeURIComponent(filter)}`);
    assert.equal(status, 400, filter);
    assert.deepEqual(
      { schemas: body.schemas, status: body.status, scimType: body.scimType },
      { schemas: [ERROR], status: "400", scimType: "invalidFilter" },
      filter,
    );
  }
  for (const text of ["' or 1=1 --", '\\" or \\"\\" = \\"', "$1", "%", "_", "'); drop table users; --", "\\\\"])
    assert.deepEqual(await found(`userName eq "${text}" or title sw "${text}"`), [], text);
});

test("order, pages and counts; a search by POST is the same", async () => {
  const names = async (query: string): Promise<unknown[]> => {
    const { body, text } = await call("GET", `/Users?${query}`);
    assert.ok(body.Resources, text);
    return body.Resources.map((one: { userName: string }) => one.userName);
  };
  assert.deepEqual(await names("sortBy=userName"), [ada, admin, grace, linus, zoe]);
  assert.deepEqual(await names("sortBy=userName&sortOrder=descending"), [zoe, linus, grace, admin, ada]);
  assert.deepEqual(
    (await names("sortBy=externalId&sortOrder=ascending")).slice(0, 2),
    [zoe, grace],
    "absent values come last",
  );
  assert.deepEqual((await names("sortBy=emails.value")).length, 5);
  assert.deepEqual(await names("sortBy=userName&startIndex=2&count=2"), [admin, grace]);
  assert.deepEqual(await names("sortBy=userName&startIndex=-3&count=1"), [ada], "an index below 1 means 1");
  const none = await call("GET", "/Users?count=0");
  assert.deepEqual(
    { total: none.body.totalResults, items: none.body.itemsPerPage, start: none.body.startIndex },
    { total: 5, items: 0, start: 1 },
  );
  assert.equal((await call("GET", "/Users?count=-1")).body.itemsPerPage, 0);
  const beyond = await call("GET", "/Users?startIndex=100");
  assert.deepEqual([beyond.body.totalResults, beyond.body.Resources], [5, []]);
  const search = await call("POST", `${USERS}/.search`, {
    body: {
      schemas: ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"],
      ...{ filter: 'userName ew "example.com"', sortBy: "userName", sortOrder: "descending", startIndex: 1, count: 1 },
      attributes: ["userName"],
    },
  });
  assert.deepEqual(search.body.Resources, [{ schemas: [USER], id: ids[grace], userName: grace }]);
  assert.equal(search.body.totalResults, 2);
  for (const query of [
    "count=x",
    "startIndex=1.5",
    "sortOrder=up",
    "sortBy=shoeSize",
    "sortBy=name",
    "attributes=a&excludedAttributes=b",
  ])
    assert.equal((await call("GET", `/Users?${query}`)).status, 400, query);
});

test("attributes and excludedAttributes select the response; id and schemas are always included", async () => {
  const shown = async (query: string): Promise<unknown> => (await call("GET", `/Users/${ids[linus]}?${query}`)).body;
  const schemas = [USER, ENTERPRISE];
  assert.deepEqual(await shown("attributes=name.familyName,EMAILS.value"), {
    schemas,
    id: ids[linus],
    name: { familyName: "O'Hara" },
    emails: [{ value: "linus@home.example" }, { value: "linus@work.example" }],
  });
  assert.deepEqual(await shown(`attributes=${ENTERPRISE}:department`), {
    schemas,
    id: ids[linus],
    [ENTERPRISE]: { department: "R&D 100%" },
  });
  assert.deepEqual(await shown(`excludedAttributes=name,emails,meta,${ENTERPRISE},displayName,active,id`), {
    schemas,
    id: ids[linus],
    userName: linus,
  });
  assert.equal((await call("GET", `/Users/${ids[linus]}?attributes=a[b`)).status, 400);
});

test("versions: ETag, If-None-Match, If-Match; a request without a difference keeps the version", async () => {
  const path = `/Users/${ids[grace]}`;
  const read = await call("GET", path);
  assert.equal(read.headers.get("etag"), 'W/"1"');
  assert.equal(read.body.meta.version, 'W/"1"');
  for (const tag of ['W/"1"', '"1"', '"7", W/"1"', "*"]) {
    const { status, text } = await call("GET", path, { headers: { "if-none-match": tag } });
    assert.deepEqual([status, text], [304, ""], tag);
  }
  assert.equal((await call("GET", path, { headers: { "if-none-match": 'W/"2"' } })).status, 200);
  const operations = [{ op: "replace", path: "nickName", value: "Amazing" }];
  const body = { schemas: [PATCH], Operations: operations };
  for (const tag of ['W/"2"', '"x"', 'W/"3", W/"2"', 'W/"2", *', ""]) {
    const stale = await call("PATCH", path, { body, headers: { "if-match": tag } });
    assert.equal(stale.status, 412, tag);
    assert.equal(stale.body.status, "412");
  }
  const changed = await call("PATCH", path, { body, headers: { "if-match": 'W/"1"' } });
  assert.deepEqual([changed.status, changed.headers.get("etag")], [200, 'W/"2"']);
  assert.equal((await call("PATCH", path, { body, headers: { "if-match": "*" } })).headers.get("etag"), 'W/"2"');
  assert.equal((await call("DELETE", path, { headers: { "if-match": 'W/"1"' } })).status, 412);
  // One matching tag is enough (RFC 9110 section 13.1.1).
  for (const tags of ['W/"99", W/"2"', 'W/"2",W/"99"', '"x" , "2"']) {
    const { status, text } = await call("PATCH", path, { body, headers: { "if-match": tags } });
    assert.equal(status, 200, `${tags}: ${text}`);
  }
  const missing = await call("DELETE", `/Users/${"A".repeat(22)}`, { headers: { "if-match": '"1", "2"' } });
  assert.equal(missing.status, 404, missing.text);
  const group = `/Groups/${ids["team-b"]}`;
  const rename = { schemas: [PATCH], Operations: [{ op: "replace", path: "displayName", value: "team-c" }] };
  assert.equal((await call("PATCH", group, { body: rename, headers: { "if-match": 'W/"9"' } })).status, 412);
  assert.equal((await call("PATCH", group, { body: rename, headers: { "if-match": 'W/"9", W/"1"' } })).status, 200);
  assert.equal((await call("DELETE", group, { headers: { "if-match": 'W/"1"' } })).status, 412);
});

test("PUT replaces the whole: omitted attributes are removed, except whether the user is active", async () => {
  const body = { schemas: [USER], userName: "put@example.com", title: "One", nickName: "Two" };
  const { body: made } = await call("POST", "/Users", { body });
  await patch(`/Users/${made.id}`, { op: "replace", path: "active", value: false });
  const { body: replaced } = await call("PUT", `/Users/${made.id}`, {
    body: {
      schemas: [USER],
      userName: "put@example.com",
      title: "Three",
      id: "other",
      groups: [{ value: ids["Team A"] }],
    },
  });
  assert.deepEqual(
    [replaced.id, replaced.title, replaced.nickName, replaced.active, replaced.groups],
    [made.id, "Three", undefined, false, undefined],
  );
  for (const wrong of [
    {},
    { schemas: [USER] },
    { schemas: [GROUP], userName: "x" },
    { schemas: [USER], userName: "" },
    { schemas: [USER], userName: "no-address" },
  ])
    assert.equal((await call("PUT", `/Users/${made.id}`, { body: wrong })).status, 400, JSON.stringify(wrong));
  assert.equal((await call("DELETE", `/Users/${made.id}`)).status, 204);
  assert.equal((await call("DELETE", `/Users/${made.id}`)).status, 404);
});

test("the server describes its features, its resource types and their schemas", async () => {
  const base = `${platform.url}${scimPath(platform)}`;
  const { body: config } = await call("GET", "/ServiceProviderConfig");
  assert.deepEqual(
    [config.patch, config.bulk.supported, config.filter, config.sort, config.etag, config.changePassword],
    [
      { supported: true },
      false,
      { supported: true, maxResults: 1000 },
      { supported: true },
      { supported: true },
      { supported: false },
    ],
  );
  const { body: types } = await call("GET", "/ResourceTypes");
  assert.deepEqual(
    types.Resources.map(({ id, schema, endpoint }: Record<string, string>) => [id, schema, endpoint]),
    [
      ["User", USER, "/Users"],
      ["Group", GROUP, "/Groups"],
    ],
  );
  assert.equal((await call("GET", "/ResourceTypes/User")).body.meta.location, `${base}/ResourceTypes/User`);
  const { body: all } = await call("GET", "/Schemas");
  assert.deepEqual(
    all.Resources.map(({ id }: { id: string }) => id),
    [USER, ENTERPRISE, GROUP],
  );
  const { body: user } = await call("GET", `/Schemas/${USER}`);
  const userName = user.attributes.find(({ name }: { name: string }) => name === "userName");
  assert.deepEqual(userName, {
    ...{ name: "userName", type: "string", multiValued: false, required: true, caseExact: false },
    description: "What the directory calls the person for logging in; as a rule an e-mail address.",
    ...{ mutability: "readWrite", returned: "default", uniqueness: "server" },
  });
  assert.equal((await call("GET", "/Schemas/urn:none")).status, 404);
  for (const [method, path] of [
    ["POST", "/Bulk"],
    ["GET", "/Me"],
    ["PATCH", "/Me"],
    ["POST", "/.search"],
  ] as const)
    assert.equal((await call(method, path, method === "GET" ? {} : { body: {} })).status, 501, path);
});

test("all errors have SCIM's shape", async () => {
  const shape = (answer: Answer, status: number, scimType?: string): void => {
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.headers.get("content-type") ?? "", /^application\/scim\+json/);
    assert.deepEqual(
      { schemas: answer.body.schemas, status: answer.body.status, scimType: answer.body.scimType },
      { schemas: [ERROR], status: String(status), scimType },
    );
    assert.equal(typeof answer.body.detail, "string");
  };
  shape(await call("GET", `${USERS}/x`), 404);
  shape(await call("GET", "/Nothing"), 404);
  shape(await call("POST", "/Users", { body: "{" }), 400, "invalidSyntax");
  shape(await call("POST", "/Users", { body: { schemas: [USER], userName: "a@b.c", emails: 7 } }), 400, "invalidValue");
  shape(await call("POST", "/Users", { body: { schemas: [USER], userName: "a@b.c", x: "x".repeat(1_100_000) } }), 400);
  shape(await patch(`/Users/${ids[ada]}`, { op: "replace", path: "groups", value: [] }), 400, "mutability");
  shape(await callScim(platform, { token: "pat.x.y.z" }, "GET", "/Users"), 401);
  shape(
    await callScim(platform, { token, contentType: "text/plain" }, "POST", "/Users", { body: "x" }),
    400,
    "invalidSyntax",
  );
  const other = await platform.addAccount();
  const theirs = `/ng/api/scim/account/${other.accountId}`;
  shape(await callScim(platform, { token, base: theirs }, "GET", "/Users"), 403);
});

test("members: only existing users, each once; removing an absent member is no error", async () => {
  const { body: group } = await call("POST", "/Groups", { body: { schemas: [GROUP], displayName: "Members" } });
  const path = `/Groups/${group.id}`;
  const value = ids[ada];
  const add = (members: unknown): Promise<Answer> => patch(path, { op: "add", path: "members", value: members });
  assert.deepEqual((await add([{ value }, { value, display: "again" }])).body.members, [
    { value, display: "Ada Lovelace", type: "User" },
  ]);
  for (const members of [
    [{ value: "x" }],
    [{ value: "AAAAAAAAAAAAAAAAAAAAAA" }],
    [{ value: group.id, type: "Group" }],
    "x",
  ])
    assert.equal((await add(members)).body.scimType, "invalidValue", JSON.stringify(members));
  const gone = await patch(path, { op: "remove", path: `members[value eq "AAAAAAAAAAAAAAAAAAAAAA"]` });
  assert.equal(gone.status, 200);
  assert.equal((await patch(path, { op: "remove", path: "members" })).body.members, undefined);
  // Two concurrent changes of members are both applied.
  const [one, two] = [ids[grace], ids[linus]];
  await Promise.all([add([{ value: one }]), add([{ value: two }])]);
  const members: { value: string }[] = (await call("GET", path)).body.members;
  assert.deepEqual(new Set(members.map((member) => member.value)), new Set([one, two]));
});
