/** Service accounts over REST, in the account, an organization and a project. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  JSON_TYPE,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  SCOPE,
} from "../../../test/support/contract.ts";
import { assignServiceAccountRole, graphqlAs, serviceToken } from "../../../test/support/service-accounts.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
});
after(() => platform?.stop());

const send = (method: string, path: string, body?: object, apiKey?: string): Promise<Answer> =>
  platform.send(method, `/ng/api/${path}`, {
    ...(body === undefined ? {} : { contentType: JSON_TYPE, body: JSON.stringify(body) }),
    ...(apiKey === undefined ? {} : { apiKey }),
  });
const named = (identifier: string): object => ({ identifier, name: identifier });
const codeOf = ({ status, body }: Answer): unknown[] => [status, body.code];

const PLACES = [
  ["the account", "", {}],
  ["an organization", "orgIdentifier=default", { orgIdentifier: "default" }],
  [
    "a project",
    "orgIdentifier=default&projectIdentifier=shop",
    { orgIdentifier: "default", projectIdentifier: "shop" },
  ],
] as const;

for (const [where, scope, place] of PLACES)
  test(`in ${where}: made, listed, renamed, and deleted with its tokens`, async () => {
    const body = { ...named("robot"), description: "d", tags: { a: "b" }, email: "ignored@example.com" };
    const account = await made(send("POST", `serviceaccount?${scope}`, body));
    const expected = {
      identifier: "robot",
      name: "robot",
      email: "robot@service.railhead.local",
      description: "d",
      tags: { a: "b" },
      accountIdentifier: platform.accountId,
      orgIdentifier: null,
      projectIdentifier: null,
      ...place,
    };
    const { uuid, ...fields } = account;
    assert.match(uuid, /^[\w-]{22}$/);
    assert.deepEqual(fields, expected);
    const text = await serviceToken(platform, "robot", scope);
    assert.match(text, new RegExp(`^sat\\.${platform.accountId}\\.[\\w-]{22}\\.[\\w-]{43}$`));
    const renamed = await made(send("PUT", `serviceaccount/robot?${scope}`, named("robot")));
    assert.deepEqual(renamed, { ...expected, uuid, description: "", tags: {} });
    assert.deepEqual(await made(send("GET", `serviceaccount?${scope}`)), [renamed]);
    assert.deepEqual(await made(send("GET", `serviceaccount?${scope}&identifiers=other`)), []);
    const now = platform.clock.now();
    const aggregate = { serviceAccount: renamed, createdAt: now, lastModifiedAt: now, tokensCount: 1 };
    assert.deepEqual(await made(send("GET", `serviceaccount/aggregate/robot?${scope}`)), aggregate);
    const page = await made(send("GET", `serviceaccount/aggregate?${scope}&searchTerm=ROB&pageSize=1`));
    assert.deepEqual([page.content, page.totalItems], [[aggregate], 1]);
    const shown = await made(
      send("GET", `token/aggregate?${scope}&apiKeyType=SERVICE_ACCOUNT&parentIdentifier=robot&apiKeyIdentifier=k`),
    );
    const { token } = shown.content[0];
    assert.deepEqual([token.email, token.username, token.parentIdentifier], [expected.email, "robot", "robot"]);
    assert.deepEqual(
      [token.orgIdentifier, token.projectIdentifier],
      [expected.orgIdentifier, expected.projectIdentifier],
    );
    // It is authenticated and has no permission before a role is assigned.
    assert.equal((await send("GET", "projects?orgIdentifier=default", undefined, text)).status, 403);
    assert.deepEqual(codeOf(await send("POST", `serviceaccount?${scope}`, named("robot"))), [400, "DUPLICATE_FIELD"]);
    assert.equal(await made(send("DELETE", `serviceaccount/robot?${scope}`)), true);
    assert.deepEqual(codeOf(await send("GET", "projects?orgIdentifier=default", undefined, text)), [
      401,
      "INVALID_TOKEN",
    ]);
    for (const [method, path] of [
      ["DELETE", "serviceaccount/robot"],
      ["GET", "serviceaccount/aggregate/robot"],
    ] as const)
      assert.deepEqual(codeOf(await send(method, `${path}?${scope}`)), [404, "ENTITY_NOT_FOUND"]);
    assert.deepEqual(codeOf(await send("PUT", `serviceaccount/robot?${scope}`, named("robot"))), [
      404,
      "ENTITY_NOT_FOUND",
    ]);
  });

test("a token of a service account works like a user's, within its roles", async () => {
  await made(send("POST", "serviceaccount", named("worker")));
  const text = await serviceToken(platform, "worker");
  await assignServiceAccountRole(platform, "worker", "_account_admin");
  const project = await create.project(
    { ...platform, send: (m, p, o) => platform.send(m, p, { ...o, apiKey: text }) },
    projectYaml("by_worker"),
  );
  assert.equal(project.status, 200, project.text);
  assert.equal((await graphqlAs(platform, text, "{ applications { nodes { name } } }")).body.errors, undefined);
  const [entry] = await platform.db.query(
    "select actor_kind, actor_name, actor_email, operation from audit_entries where resource_id = 'by_worker'",
  );
  assert.deepEqual(entry, {
    actor_kind: "service_account",
    actor_name: "worker",
    actor_email: "worker@service.railhead.local",
    operation: "project.create",
  });
});

test("an execution started by a service account names it in GraphQL and REST lists", async () => {
  await made(send("POST", "serviceaccount", named("starter")));
  const text = await serviceToken(platform, "starter");
  await assignServiceAccountRole(platform, "starter", "_account_admin");
  await createTargets(platform);
  await made(create.pipeline(platform, pipelineYaml()));
  const as = { ...platform, send: ((m, p, o) => platform.send(m, p, { ...o, apiKey: text })) as TestPlatform["send"] };
  await made(create.run(as, "deploy"));
  const { body } = await platform.graphql(
    `{ executions(limit: 1) { nodes { cause { ... on ExecutedByUser { user { name email isPasswordExpired } } } } } }`,
  );
  assert.deepEqual(body.data?.executions.nodes, [
    { cause: { user: { name: "starter", email: "starter@service.railhead.local", isPasswordExpired: false } } },
  ]);
  const path = `/pipeline/api/pipelines/execution/summary?${SCOPE}&myDeployments=true`;
  assert.equal((await made(as.send("POST", path))).totalElements, 1);
  assert.equal((await made(platform.send("POST", path))).totalElements, 0);
});

test("keys of a service account need core_serviceaccount_manageapikey in its scope", async () => {
  await made(send("POST", "serviceaccount", named("guarded")));
  const text = await serviceToken(platform, "guarded");
  const viewer = await platform.addUser("_account_viewer");
  const owner = { apiKeyType: "SERVICE_ACCOUNT", parentIdentifier: "guarded" };
  const query = "apiKeyType=SERVICE_ACCOUNT&parentIdentifier=guarded";
  const shop = await platform.addUser("_project_admin", { orgIdentifier: "default", projectIdentifier: "shop" });
  for (const apiKey of [viewer, text, shop])
    for (const [method, path, body] of [
      ["POST", "apikey", { ...owner, ...named("x") }],
      ["PUT", "apikey/k", { ...owner, ...named("k") }],
      ["DELETE", `apikey/k?${query}`, undefined],
      ["GET", `apikey?${query}`, undefined],
      ["POST", "token", { ...owner, apiKeyIdentifier: "k", ...named("x") }],
      ["PUT", "token/t", { ...owner, apiKeyIdentifier: "k", ...named("t") }],
      ["POST", `token/rotate/t?${query}&apiKeyIdentifier=k`, undefined],
      ["DELETE", `token/t?${query}&apiKeyIdentifier=k`, undefined],
    ] as const) {
      const answer = await send(method, path, body, apiKey);
      assert.deepEqual(codeOf(answer), [403, "NG_ACCESS_DENIED"], `${method} ${path}: ${answer.text}`);
      assert.equal(answer.body.message, "Missing permission core_serviceaccount_manageapikey.");
    }
  // The administrator of its project creates them.
  const scope = "orgIdentifier=default&projectIdentifier=shop";
  await made(send("POST", `serviceaccount?${scope}`, named("guarded"), shop));
  assert.equal((await send("POST", `apikey?${scope}`, { ...owner, ...named("k") }, shop)).status, 200);
  assert.deepEqual(codeOf(await send("GET", `apikey?${query.replace("guarded", "unknown")}`)), [
    404,
    "ENTITY_NOT_FOUND",
  ]);
});

test("without the permission, an existing and an unknown service account get the same answer", async () => {
  await made(send("POST", "serviceaccount", named("there")));
  const viewer = await platform.addUser("_account_viewer");
  const answers: unknown[] = [];
  for (const parentIdentifier of ["there", "nowhere"]) {
    const query = `apiKeyType=SERVICE_ACCOUNT&parentIdentifier=${parentIdentifier}`;
    const body = { apiKeyType: "SERVICE_ACCOUNT", parentIdentifier, ...named("k") };
    for (const [method, path, sent] of [
      ["GET", `apikey?${query}`, undefined],
      ["POST", "apikey", body],
      ["POST", "token", { ...body, apiKeyIdentifier: "k" }],
    ] as const) {
      const { status, body: answer } = await send(method, path, sent, viewer);
      answers.push([status, answer.code, answer.message]);
    }
  }
  assert.deepEqual(answers.slice(0, 3), answers.slice(3));
});

test("a service account cannot have personal keys and cannot create keys for a user", async () => {
  await made(send("POST", "serviceaccount", named("lonely")));
  const text = await serviceToken(platform, "lonely");
  await assignServiceAccountRole(platform, "lonely", "_account_admin");
  const body = { apiKeyType: "USER", ...named("x") };
  assert.deepEqual(codeOf(await send("POST", "apikey", body, text)), [400, "INVALID_REQUEST"]);
  const me = (await platform.graphql(`{ userByName(name: "admin") { id } }`)).body.data.userByName.id;
  assert.deepEqual(codeOf(await send("POST", "apikey", { ...body, parentIdentifier: me }, text)), [
    403,
    "ACCESS_DENIED",
  ]);
});

test("unknown scopes, and bodies that contradict the address, are refused", async () => {
  assert.equal((await send("POST", "serviceaccount?orgIdentifier=none", named("x"))).status, 404);
  assert.equal((await send("GET", "serviceaccount?orgIdentifier=default&projectIdentifier=none")).status, 404);
  const other = await send("POST", "serviceaccount?orgIdentifier=default", { ...named("x"), orgIdentifier: "none" });
  assert.match(other.body.message, /contradicts itself: orgIdentifier is none in the body and default in the address/);
  assert.match((await send("PUT", "serviceaccount/a", named("b"))).body.message, /contradicts itself/);
  const foreign = { ...named("x"), accountIdentifier: "AAAAAAAAAAAAAAAAAAAAAA" };
  assert.deepEqual(codeOf(await send("POST", "serviceaccount", foreign)), [403, "ACCESS_DENIED"]);
  const own = { id: "x", createdAt: 1, platformManaged: true };
  const answer = await send("POST", "serviceaccount", { ...named("x"), ...own });
  assert.equal(answer.headers.get("railhead-ignored-fields"), "id, createdAt, platformManaged");
  const { email: theirs, uuid: _, ...rest } = await made(Promise.resolve(answer));
  const { email: others, uuid: __, ...plain } = await made(send("POST", "serviceaccount", named("y")));
  assert.deepEqual({ ...rest, identifier: "y", name: plain.name }, plain);
  assert.notEqual(theirs, others);
});

test("deleting a project deletes its service accounts, and their tokens end", async () => {
  await made(create.project(platform, projectYaml("short")));
  const scope = "orgIdentifier=default&projectIdentifier=short";
  await made(send("POST", `serviceaccount?${scope}`, named("mayfly")));
  const text = await serviceToken(platform, "mayfly", scope);
  assert.equal((await send("GET", "projects?orgIdentifier=default", undefined, text)).status, 403);
  await made(send("DELETE", "projects/short?orgIdentifier=default"));
  assert.equal((await send("GET", "projects?orgIdentifier=default", undefined, text)).status, 401);
});
