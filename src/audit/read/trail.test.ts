/** Reading the audit trail: GraphQL `audits` and the REST list. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  eventually,
  JSON_TYPE,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  triggerYaml,
} from "../../../test/support/contract.ts";
import { assignServiceAccountRole, serviceToken } from "../../../test/support/service-accounts.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";

const DAY = 86_400_000;
const START = 1_800_000_000_000;
let platform: TestPlatform;
let viewer: string;

/** One entry a day: the project, its targets, the pipeline, an application by GraphQL, and a call of the webhook. */
before(async () => {
  platform = await startTestPlatform();
  viewer = await platform.addUser("_account_viewer");
  await made(create.project(platform, projectYaml()));
  platform.clock.advance(DAY);
  await createTargets(platform);
  await made(create.pipeline(platform, pipelineYaml()));
  platform.clock.advance(DAY);
  await platform.graphql(`mutation { createApplication(input: { name: "made here" }) { application { id } } }`);
  platform.clock.advance(DAY);
  const { webhookUrl } = await made(create.trigger(platform, "deploy", triggerYaml()));
  await platform.send("POST", new URL(webhookUrl).pathname, { body: "{}", contentType: JSON_TYPE, apiKey: null });
  await eventually(async () => {
    await platform.platform.sweep();
    const rows = await platform.db.query("select 1 from audit_entries where actor_kind = 'trigger'");
    return rows[0];
  });
});
after(() => platform?.stop());

const WHOLE = `__typename id triggeredAt request { url resourcePath requestMethod remoteIpAddress responseStatusCode }
  changes { appId appName resourceId resourceName resourceType operationType createdAt failure }
  ... on UserChangeSet { triggeredBy { id name email } } ... on ApiKeyChangeSet { apiKeyId }
  ... on GitChangeSet { gitCommitId author repoUrl }`;

async function audits(args: string) {
  const { body } = await platform.graphql(`{ audits${args} { nodes { ${WHOLE} } pageInfo { total hasMore limit } } }`);
  assert.equal(body.errors, undefined, JSON.stringify(body.errors));
  return body.data.audits;
}

const list = (filter: unknown, query = "", how: { apiKey?: string } = {}): Promise<Answer> =>
  platform.send("POST", `/audit/api/audits/list?${query}`, {
    contentType: JSON_TYPE,
    body: JSON.stringify(filter),
    ...how,
  });

test("audits: newest first, with actor, operation, time and request", async () => {
  const { nodes, pageInfo } = await audits("");
  const [newest] = nodes;
  assert.equal(newest.__typename, "GenericChangeSet");
  assert.equal(newest.changes[0].operationType, "START");
  assert.equal(newest.request, null, "no request of a person started it");
  assert.equal(pageInfo.total, nodes.length);
  const times = nodes.map((node: { triggeredAt: number }) => node.triggeredAt);
  assert.deepEqual(
    times,
    times.toSorted((a: number, b: number) => b - a),
  );
  for (const name of ["startTime", "endTime"]) {
    const body = JSON.stringify({ [name]: 8_640_000_000_000_001 });
    const overflowAttempt = await platform.send("POST", "/audit/api/audits/list", {
      contentType: "application/json",
      body,
    });
    assert.equal(overflowAttempt.status, 400);
    assert.match(overflowAttempt.body.message, new RegExp(`${name}: is beyond the range of dates`));
  }
  const { userByName: admin } = (await platform.graphql(`{ userByName(name: "admin") { id name email } }`)).body.data;
  const { id, ...first } = nodes.at(-1);
  assert.match(id, /^[A-Za-z0-9_-]{22}$/);
  assert.deepEqual(first, {
    __typename: "UserChangeSet",
    triggeredAt: START,
    triggeredBy: admin,
    request: {
      url: "/gateway/ng/api/projects",
      resourcePath: "/gateway/ng/api/projects",
      requestMethod: "POST",
      remoteIpAddress: "127.0.0.1",
      responseStatusCode: 200,
    },
    changes: [
      {
        appId: null,
        appName: null,
        resourceId: "shop",
        resourceName: null,
        resourceType: "PROJECT",
        operationType: "CREATE",
        createdAt: START,
        failure: false,
      },
    ],
  });
  const byGraphql = nodes.find((node: { triggeredAt: number }) => node.triggeredAt === START + 2 * DAY);
  assert.equal(byGraphql.request.resourcePath, "/gateway/api/graphql");
});

test("audits within a time range, absolute or relative to now; with limit and offset", async () => {
  const all = await audits("");
  const range = await audits(`(filters: [{ time: { specific: { from: ${START + DAY}, to: ${START + 2 * DAY} } } }])`);
  const within = (node: { triggeredAt: number }): boolean =>
    node.triggeredAt >= START + DAY && node.triggeredAt <= START + 2 * DAY;
  assert.deepEqual(range.nodes, all.nodes.filter(within));
  assert.ok(range.nodes.length > 2 && range.nodes.length < all.nodes.length);
  const recent = await audits("(filters: { time: { relative: { timeUnit: DAYS, noOfUnits: 1 } } })");
  assert.deepEqual(
    recent.nodes,
    all.nodes.filter((node: { triggeredAt: number }) => node.triggeredAt >= START + 2 * DAY),
  );
  const both = await audits(
    `(filters: [{ time: { relative: { timeUnit: HOURS, noOfUnits: 24 } } }, { time: { specific: { from: 0, to: ${START + 2 * DAY} } } }])`,
  );
  assert.deepEqual(
    both.nodes.map((node: { changes: { resourceId: string }[] }) => node.changes[0]?.resourceId),
    ["made_here"],
  );
  const page = await audits("(limit: 2, offset: 1)");
  assert.deepEqual(page.nodes, all.nodes.slice(1, 3));
  assert.deepEqual(page.pageInfo, { total: all.nodes.length, hasMore: true, limit: 2 });
  await audits("(filters: { time: { relative: { timeUnit: WEEKS, noOfUnits: 9007199254740991 } } })");
});

test("the REST list: every field of an event", async () => {
  const { content, ...page } = await made(
    list({ filterType: "Audit", resources: [{ type: "PROJECT", identifier: "shop" }], actions: ["CREATE"] }),
  );
  assert.deepEqual([page.totalItems, page.pageIndex, page.pageSize], [1, 0, 50]);
  const [event] = content;
  const { auditId, insertId, requestMetadata, authenticationInfo, ...rest } = event;
  assert.equal(auditId, insertId);
  assert.deepEqual(rest, {
    resourceScope: { accountIdentifier: platform.accountId, orgIdentifier: "default", projectIdentifier: "shop" },
    httpRequestInfo: { requestMethod: "POST", requestPath: "/gateway/ng/api/projects" },
    timestamp: START,
    module: null,
    resource: { type: "PROJECT", identifier: "shop", labels: null },
    action: "CREATE",
    auditEventData: {
      type: "CHANGES",
      changes: [
        { field: "name", after: "The shop" },
        { field: "color", after: "#0063F7" },
      ],
      cut: false,
    },
    yamlDiffRecord: { oldYaml: "", newYaml: 'name: The shop\ncolor: "#0063F7"\n' },
  });
  assert.equal(requestMetadata.clientIP, "127.0.0.1");
  assert.match(requestMetadata.correlationId, /^[0-9a-f-]{36}$/);
  assert.equal(authenticationInfo.principal.type, "USER");
  assert.deepEqual(authenticationInfo.labels, { username: "admin", email: "admin@railhead.local" });
});

test("the REST list filtered by scope, principal, action and time; paged", async () => {
  const ids = async (filter: object, query = ""): Promise<string[]> =>
    (await made(list(filter, query))).content.map((event: { auditId: string }) => event.auditId);
  const { nodes } = await audits("");
  const all: string[] = nodes.map(({ id }: { id: string }) => id);
  assert.deepEqual(await ids({}), all);
  assert.deepEqual(await ids({}, "pageSize=2&pageIndex=1"), all.slice(2, 4));
  const shop = await ids({ scopes: [{ orgIdentifier: "default", projectIdentifier: "shop" }] });
  assert.ok(shop.length > 0 && shop.length < all.length);
  assert.deepEqual(await ids({ scopes: [{ orgIdentifier: "default" }] }), all);
  assert.deepEqual(await ids({ scopes: [{ orgIdentifier: "other" }] }), []);
  assert.deepEqual(await ids({ actions: ["START"] }), all.slice(0, 1));
  assert.deepEqual(await ids({ startTime: START, endTime: START }), all.slice(-1));
  const { userByName: admin } = (await platform.graphql(`{ userByName(name: "admin") { id } }`)).body.data;
  assert.deepEqual(await ids({ principals: [{ type: "USER", identifier: admin.id }] }), all.slice(1));
  assert.deepEqual(await ids({ principals: [{ type: "USER", identifier: "x" }] }), []);
  for (const field of ["modules", "environments", "staticFilter"]) {
    const refused = await list({ [field]: ["CD"] });
    assert.deepEqual([refused.status, refused.body.code], [400, "SCHEMA_VALIDATION_FAILED"], field);
    assert.match(refused.body.message, new RegExp(`'${field}' is not supported yet`));
  }
});

test("principals are named by id or by what people call them, and texts are found in names and identifiers", async () => {
  const identifier = "auditor";
  const post = (path: string, body: object, apiKey = platform.apiKey): Promise<Answer> =>
    platform.send("POST", path, { contentType: JSON_TYPE, body: JSON.stringify(body), apiKey });
  const { uuid } = await made(post("/ng/api/serviceaccount", { identifier, name: "Night Watch" }));
  await assignServiceAccountRole(platform, identifier, "_account_admin");
  const apiKey = await serviceToken(platform, identifier);
  await made(post("/ng/api/organizations", { organization: { identifier: "by_robot", name: "By robot" } }, apiKey));
  const found = async (filter: object): Promise<readonly string[]> =>
    (await list(filter)).body.data.content.map(
      ({ resource }: { resource: { identifier: string } }) => resource.identifier,
    );
  const type = "SERVICE_ACCOUNT";
  for (const name of [uuid, identifier])
    assert.deepEqual(await found({ principals: [{ type, identifier: name }] }), ["by_robot"], name);
  assert.deepEqual(await found({ principals: [{ type: "USER", identifier }] }), []);
  assert.deepEqual(await found({ principals: [{ type, identifier: "audit" }] }), []);
  const admin = await found({
    principals: [{ type: "USER", identifier: "admin@railhead.local" }],
    actions: ["CREATE"],
  });
  assert.ok(admin.includes("shop") && !admin.includes("by_robot"));
  for (const searchTerm of ["NIGHT wat", "auditor@service", "by_ro"])
    assert.ok((await found({ searchTerm })).includes("by_robot"), searchTerm);
  assert.deepEqual(await found({ searchTerm: "%" }), []);
  assert.deepEqual(await found({ searchTerm: "by_robot", principals: [{ type: "USER", identifier: "x" }] }), []);
  assert.ok((await found({ searchTerm: "project.create" })).includes("shop"));
  assert.equal((await list({ searchTerm: "x".repeat(257) })).status, 400);
});

test("orgIdentifier and projectIdentifier of the query also limit the scopes of the body", async () => {
  const found = async (query: string, body: object = {}): Promise<string[]> => {
    const answer = await list(body, query);
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data.content.map(({ auditId }: { auditId: string }) => auditId);
  };
  const here = { orgIdentifier: "default", projectIdentifier: "shop" };
  const all = await found("pageSize=100");
  const org = await found("pageSize=100", { scopes: [{ orgIdentifier: "default" }] });
  const shop = await found("pageSize=100", { scopes: [here] });
  assert.ok(shop.length > 0 && shop.length < org.length && org.length <= all.length);
  const inShop = "pageSize=100&orgIdentifier=default&projectIdentifier=shop";
  assert.deepEqual(await found("pageSize=100&orgIdentifier=default"), org);
  assert.deepEqual(await found(inShop), shop);
  for (const scopes of [[{}], [here], [{ orgIdentifier: "default" }], [{ orgIdentifier: "other" }, here]])
    assert.deepEqual(await found(inShop, { scopes }), shop, JSON.stringify(scopes));
  for (const scopes of [[{ orgIdentifier: "other" }], [{ ...here, projectIdentifier: "bank" }]])
    assert.deepEqual(await found(inShop, { scopes }), [], JSON.stringify(scopes));
  assert.deepEqual(await found("pageSize=100&orgIdentifier=default", { scopes: [here] }), shop);
  assert.deepEqual(await found("orgIdentifier=nowhere"), []);
  const refused = await list({}, "projectIdentifier=shop");
  assert.deepEqual([refused.status, refused.body.code], [400, "INVALID_REQUEST"]);
  assert.match(refused.body.message, /orgIdentifier is required beside projectIdentifier/);
});

test("the trail contains no query, no token and no credential", async () => {
  const answer = await platform.send("POST", "/ng/api/delegate-token-ng?tokenName=quiet&note=hush-hush");
  assert.equal(answer.status, 200);
  const token = answer.body.resource?.value ?? answer.body.data?.value;
  const text = JSON.stringify(await platform.db.query("select * from audit_entries"));
  for (const secret of ["hush-hush", platform.apiKey, "/webhook/", String(token)]) assert.ok(!text.includes(secret));
});

test("a scope of another account is refused, whether the account exists or not", async () => {
  const other = await platform.addAccount();
  const asked = (accountIdentifier: string): Promise<Answer> => list({ scopes: [{ accountIdentifier }, {}] });
  assert.equal((await asked(platform.accountId)).status, 200);
  for (const account of [other.accountId, "AAAAAAAAAAAAAAAAAAAAAA", "x"]) {
    const { status, body } = await asked(account);
    assert.deepEqual([status, body.message], [403, "User not authorized."], account);
  }
});

test("the trail of another account is separate, and a viewer may read", async () => {
  const other = await platform.addAccount();
  const theirs = await platform.send("POST", "/audit/api/audits/list", {
    apiKey: other.apiKey,
    account: other.accountId,
  });
  assert.equal(theirs.body.data.totalItems, 0);
  assert.equal((await list({}, "", { apiKey: viewer })).status, 200);
});

test("the newest entries of a long trail are found with the index", async () => {
  const plan = await platform.db.transaction(async (tx) => {
    await tx.query("set local enable_seqscan = off");
    return tx.query<{ "QUERY PLAN": string }>(
      `explain select id from audit_entries where account_id = (select min(id::text)::uuid from accounts)
          and at >= coalesce(null::bigint, 0) and at <= coalesce(null::bigint, 9223372036854775807)
        order by at desc, id desc limit 10`,
    );
  });
  const text = plan.map((row) => row["QUERY PLAN"]).join("\n");
  assert.match(text, /audit_entries_newest/);
  assert.doesNotMatch(text, /Sort/);
});

test("the YAML of an entry before and after, by its id; null without a difference", async () => {
  const yaml = (id: string, how: { apiKey?: string } = {}): Promise<Answer> =>
    platform.send("GET", `/audit/api/auditYaml?auditId=${id}`, how);
  const { content } = await made(list({ resources: [{ type: "PROJECT" }], actions: ["CREATE"] }));
  const created = content.find(({ yamlDiffRecord }: { yamlDiffRecord: object | null }) => yamlDiffRecord);
  const sides = await made(yaml(created.auditId));
  assert.deepEqual(sides, created.yamlDiffRecord);
  assert.equal(sides.oldYaml, "");
  assert.match(sides.newYaml, /^name: /m);
  const executor = await platform.addUser("_pipeline_executor");
  assert.equal((await yaml(created.auditId, { apiKey: executor })).status, 403);
  platform.clock.advance(DAY);
  await platform.platform.sweep();
  const refused = (await made(list({ outcomes: ["REFUSED"] }))).content[0];
  assert.deepEqual(await made(yaml(refused.auditId)), { oldYaml: null, newYaml: null });
  for (const id of ["AAAAAAAAAAAAAAAAAAAAAA", "x"]) {
    const { status, body } = await yaml(id);
    assert.deepEqual([status, body.message], [404, `Audit entry with id [${id}] not found.`]);
  }
  assert.equal((await yaml(created.auditId, { apiKey: viewer })).status, 200);
});
