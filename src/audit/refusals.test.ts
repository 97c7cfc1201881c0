/** Refused attempts in the audit trail: actor, operation, scope and reason; many attempts in few entries. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import { create, JSON_TYPE, made, projectYaml, YAML } from "../../test/support/contract.ts";
import { handClock, startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { fromWire, toWire, type Uuid } from "../core/ids.ts";
import type { RefusedAttempt } from "../core/refused.ts";
import { createRefusals, OVERFLOW } from "./refusals.ts";
import { KINDS_OF_ACCOUNT, WINDOW_MS } from "./repeats.ts";

let platform: TestPlatform;
let viewer: string;
let shopAdmin: string;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  viewer = await platform.addUser("_account_viewer");
  shopAdmin = await platform.addUser("_project_admin", { orgIdentifier: "default", projectIdentifier: "shop" });
});
after(() => platform?.stop());
beforeEach(() => platform.clock.advance(2 * WINDOW_MS));

type Row = Readonly<Record<string, unknown>>;

/** Refusals that the test has caused, without unpredictable columns. */
async function refused(): Promise<Row[]> {
  await platform.platform.sweep();
  return platform.db.query(
    `select operation, code, status, permission, attempts, actor_kind, actor_name, resource_type, resource_id,
            org_identifier, project_identifier, request_method, request_path, remote_address, correlation_id
       from audit_entries where outcome = 'refused' and at >= $1 order by id`,
    [platform.clock.now()],
  );
}

test("a missing permission is recorded with actor, permission, scope, and the correlation id of the response", async () => {
  const path = "/ng/api/projects/shop";
  const answer = await platform.send("DELETE", `${path}?orgIdentifier=default`, { apiKey: viewer });
  assert.equal(answer.status, 403);
  const [row, ...others] = await refused();
  assert.deepEqual(others, []);
  const { actor_name, ...rest } = row ?? {};
  assert.match(String(actor_name), /^user /);
  assert.deepEqual(rest, {
    operation: "project.delete",
    code: "access.not_permitted",
    status: 403,
    permission: "core_project_delete",
    attempts: 1,
    actor_kind: "user",
    resource_type: "PROJECT",
    resource_id: "shop",
    org_identifier: "default",
    project_identifier: "shop",
    request_method: "DELETE",
    request_path: path,
    remote_address: "127.0.0.1",
    correlation_id: answer.body.correlationId,
  });
});

test("a wrong token of an existing account is recorded; one of an unknown account is not", async () => {
  const [, account = "", token = ""] = platform.apiKey.split(".");
  const wrong = (parts: readonly string[]): Promise<unknown> =>
    platform.send("GET", "/ng/api/projects", { apiKey: parts.join(".") });
  await wrong(["pat", account, token, "hunter2"]);
  await wrong(["pat", toWire(randomUUIDv7() as Uuid), token, "hunter2"]);
  // In a text of three parts, each could be the secret.
  for (const parts of [
    ["pat", account, "hunter2"],
    ["pat", account, token, "hunter2", "x"],
  ])
    // Another operation: a repeat of the first one would only be counted.
    await platform.send("GET", "/ng/api/organizations", { apiKey: parts.join(".") });
  await platform.send("GET", "/ng/api/projects", { apiKey: null });
  const rows = await refused();
  assert.deepEqual(
    rows.map(({ operation, code, status, actor_kind, actor_name, resource_id }) => [
      operation,
      code,
      status,
      actor_kind,
      actor_name,
      resource_id,
    ]),
    [["project.list", "http.no_credential", 401, "anonymous", token, token]],
  );
  assert.doesNotMatch(JSON.stringify(rows), /hunter2/);
});

test("a signed token that SCIM refuses is recorded in the account of the path; many of them count as one", async () => {
  const jwt = (claims: object): string =>
    [{ alg: "RS256", kid: "hunter2" }, claims, "hunter2hunter2"]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
      .join(".");
  const send = (token: string, account = platform.accountId, base = "/ng/api/scim"): Promise<unknown> =>
    platform.send("GET", `${base}/account/${account}/Groups/g-1`, {
      apiKey: null,
      account: null,
      headers: token === "" ? {} : { authorization: `Bearer ${token}` },
    });
  for (let nth = 0; nth < 20; nth += 1) await send(jwt({ nth, sub: "hunter2" }));
  await send("hunter2");
  await send(jwt({}), undefined, "/gateway/api/scim");
  // An unknown account, an invalid one, and no credential.
  await send(jwt({}), toWire(randomUUIDv7() as Uuid));
  await send(jwt({}), "hunter2");
  await send("");
  // Entries written by one sweep have no defined order.
  const rows = (await refused()).toSorted((a, b) => (String(a["operation"]) < String(b["operation"]) ? -1 : 1));
  assert.deepEqual(
    rows.map((row) => [
      row["operation"],
      row["code"],
      row["status"],
      row["actor_kind"],
      row["actor_name"],
      row["resource_id"],
    ]),
    [
      ["scim-group.get", "http.no_credential", 401, "anonymous", "unknown", "g-1"],
      ["scim-older-group.get", "http.no_credential", 401, "anonymous", "unknown", "g-1"],
    ],
  );
  assert.doesNotMatch(JSON.stringify(rows), /hunter2|aHVudGVyMg|eyJ/);
  platform.clock.advance(WINDOW_MS);
  await platform.platform.sweep();
  const counted = await platform.db.query<{ attempts: number }>(
    "select attempts from audit_entries where operation = 'scim-group.get' and outcome = 'refused' order by attempts",
  );
  assert.deepEqual(
    counted.map(({ attempts }) => attempts),
    [1, 20],
  );
});

test("another account in the query is recorded for the caller's account, not for the other one", async () => {
  const other = await platform.addAccount();
  await platform.send("GET", "/ng/api/projects", { account: other.accountId });
  const rows = await refused();
  assert.deepEqual(
    rows.map(({ code, actor_name }) => [code, actor_name]),
    [["http.not_yours", "admin"]],
  );
  const theirs = await platform.db.query("select 1 from audit_entries where account_id = $1", [
    fromWire(other.accountId),
  ]);
  assert.deepEqual(theirs, []);
});

test("GraphQL fields are recorded by their own names and not by their aliases", async () => {
  const query = `mutation { hunter2: createApplication(input: { name: "x" }) { application { id } } }`;
  const { body } = await platform.send("POST", `/gateway/api/graphql?accountId=${platform.accountId}`, {
    apiKey: viewer,
    contentType: JSON_TYPE,
    body: JSON.stringify({ query }),
  });
  assert.ok(body.errors);
  const rows = await refused();
  assert.deepEqual(
    rows.map(({ operation, permission, request_path }) => [operation, permission, request_path]),
    [["graphql.createApplication", "core_project_create", "/gateway/api/graphql"]],
  );
});

test("a resource hidden for a missing permission is recorded; an unknown resource is no refusal", async () => {
  const secret = (identifier: string) => ({
    secret: {
      type: "SecretText",
      name: identifier,
      identifier,
      spec: { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value: "hunter2" },
    },
  });
  const sent = { contentType: JSON_TYPE, body: JSON.stringify(secret("hidden")) };
  assert.equal((await platform.send("POST", "/ng/api/v2/secrets", sent)).status, 200);
  const connector = (reference: string): string => `connector:
  name: Named
  identifier: named
  orgIdentifier: default
  projectIdentifier: shop
  type: ContainerRegistry
  spec:
    registryUrl: https://registry.example.com/v2/
    providerType: PublicHosted
    auth: { type: UsernamePassword, spec: { username: u, passwordRef: ${reference} } }
`;
  const tried = async (apiKey: string, reference: string) => {
    const answer = await platform.send("POST", "/ng/api/connectors", {
      apiKey,
      contentType: YAML,
      body: connector(reference),
    });
    return answer.text.replaceAll(reference, "X").replaceAll(String(answer.body.correlationId), "");
  };
  const hidden = await tried(shopAdmin, "account.hidden");
  assert.equal(hidden, await tried(platform.apiKey, "account.missing"), "both answer alike");
  const rows = await refused();
  assert.deepEqual(
    rows.map(({ operation, code, permission, org_identifier }) => [operation, code, permission, org_identifier]),
    [["connector.create", "connector.no_secret", "core_secret_access", null]],
  );
  await platform.send("GET", "/ng/api/projects/nothing?orgIdentifier=default");
  assert.equal((await refused()).length, 1);
});

test("REST and GraphQL list refusals and filter by them", async () => {
  await platform.send("DELETE", "/ng/api/projects/shop?orgIdentifier=default", { apiKey: viewer });
  await platform.platform.sweep();
  const list = async (outcomes: readonly string[]) => {
    const body = JSON.stringify({ outcomes, startTime: platform.clock.now() });
    const { content } = await made(platform.send("POST", "/audit/api/audits/list", { contentType: JSON_TYPE, body }));
    return content;
  };
  const [event] = await list(["REFUSED"]);
  assert.deepEqual(event.auditEventData, {
    type: "REFUSAL",
    code: "access.not_permitted",
    status: 403,
    permission: "core_project_delete",
    attempts: 1,
  });
  assert.equal(event.yamlDiffRecord, null);
  assert.deepEqual(await list(["SUCCESS"]), []);
  assert.equal((await list(["SUCCESS", "REFUSED"])).length, 1);
  const asked = async (outcome: string) => {
    const time = `time: { specific: { from: ${platform.clock.now()} } }`;
    const { body } = await platform.graphql(
      `{ audits(filters: [{ ${time}, outcome: ${outcome} }]) { nodes { request { responseStatusCode }
         changes { operationType failure code permission attempts } } } }`,
    );
    return body.data.audits.nodes;
  };
  assert.deepEqual(await asked("REFUSED"), [
    {
      request: { responseStatusCode: 403 },
      changes: [
        {
          operationType: "DELETE",
          failure: true,
          code: "access.not_permitted",
          permission: "core_project_delete",
          attempts: 1,
        },
      ],
    },
  ]);
  assert.deepEqual(await asked("SUCCESS"), []);
});

test("many attempts of one kind become two entries a minute, and the second counts them", async () => {
  for (let nth = 0; nth < 50; nth += 1)
    await platform.send("DELETE", "/ng/api/projects/shop?orgIdentifier=default", { apiKey: viewer });
  assert.deepEqual(
    (await refused()).map(({ attempts }) => attempts),
    [1],
  );
  platform.clock.advance(WINDOW_MS);
  await platform.platform.sweep();
  const rows = await platform.db.query<{ attempts: number }>(
    "select attempts from audit_entries where outcome = 'refused' and at >= $1 order by id",
    [platform.clock.now() - WINDOW_MS],
  );
  assert.deepEqual(
    rows.map(({ attempts }) => attempts),
    [1, 49],
  );
});

test("attempts on many resources are two entries, and the second has their number and the first twenty names", async () => {
  const probe = (nth: number) =>
    platform.send("DELETE", `/ng/api/projects/probed${nth}?orgIdentifier=default`, { apiKey: viewer });
  for (let nth = 0; nth < 30; nth += 1) await probe(nth % 25);
  platform.clock.advance(WINDOW_MS);
  await platform.platform.sweep();
  const body = JSON.stringify({ outcomes: ["REFUSED"], startTime: platform.clock.now() - WINDOW_MS });
  const { content } = await made(platform.send("POST", "/audit/api/audits/list", { contentType: JSON_TYPE, body }));
  const names = Array.from({ length: 20 }, (_, nth) => `PROJECT default/probed${nth}/probed${nth}`);
  const newYaml = `resources: 25\nfirstResources:\n${names.map((name) => `  - ${name}\n`).join("")}`;
  const events = new Map<number, unknown>();
  for (const { auditEventData, resource, yamlDiffRecord } of content)
    events.set(auditEventData.attempts, [resource.identifier, yamlDiffRecord]);
  assert.deepEqual(Object.fromEntries(events), { 1: ["probed0", null], 29: ["probed0", { oldYaml: "", newYaml }] });
});

test("many kinds, many addresses and unknown accounts are limited", async () => {
  const clock = handClock(platform.clock.now() + 10 * WINDOW_MS);
  const { db } = platform;
  let written = 0;
  const counting = { ...db, transaction: (work: never) => ((written += 1), db.transaction(work)) } as typeof db;
  const refusals = createRefusals({ db: counting, clock, newId: () => randomUUIDv7() as Uuid });
  const accountId = fromWire(platform.accountId) as Uuid;
  const from = (remoteAddress: string, more: Partial<RefusedAttempt> = {}): RefusedAttempt => ({
    accountId,
    operation: "project.list",
    code: "http.no_credential",
    status: 401,
    resourceType: "PROJECT",
    resourceId: "",
    scope: {},
    request: { method: "GET", path: "/x", remoteAddress, correlationId: "c" },
    ...more,
  });
  for (let nth = 0; nth < 50_000; nth += 1) refusals.record(from(`10.0.${nth >> 8}.${nth & 255}`));
  for (let nth = 0; nth < 50_000; nth += 1) refusals.record(from("10.1.1.1", { accountId: randomUUIDv7() as Uuid }));
  await refusals.flush();
  const rows = () =>
    db.query<{ operation: string; attempts: number }>(
      "select operation, attempts from audit_entries where outcome = 'refused' and at >= $1 order by id",
      [clock.now() - WINDOW_MS],
    );
  assert.equal((await rows()).length, KINDS_OF_ACCOUNT + 1);
  clock.advance(WINDOW_MS);
  await refusals.flush();
  const all = await rows();
  assert.equal(all.length, KINDS_OF_ACCOUNT + 2);
  assert.deepEqual(all.at(-1), { operation: OVERFLOW, attempts: 50_000 - KINDS_OF_ACCOUNT - 1 });
  assert.equal(written, 2);
  clock.advance(WINDOW_MS);
  refusals.record(from("10.9.9.9"));
  await refusals.flush();
  assert.equal((await rows()).at(-1)?.operation, "project.list", "the next window tells kinds apart again");
});

test("attempts of unauthenticated callers with changing accounts are dropped beyond a limit and never displace authenticated ones", async () => {
  const clock = handClock(platform.clock.now() + 30 * WINDOW_MS);
  let named = 0;
  const { db } = platform;
  const counting = {
    ...db,
    query: (text: string, values: readonly unknown[] = []) => {
      if (Array.isArray(values[0])) named += values[0].length;
      return db.query(text, [...values]);
    },
  } as typeof db;
  const refusals = createRefusals({ db: counting, clock, newId: () => randomUUIDv7() as Uuid });
  const attempt = { code: "x", status: 401, resourceType: "X", resourceId: "x", scope: {} };
  for (let sweep = 0; sweep < 30; sweep += 1) {
    for (let nth = 0; nth < 2_000; nth += 1)
      refusals.record({ ...attempt, accountId: randomUUIDv7() as Uuid, operation: "some.where" });
    await refusals.flush();
    if (sweep === 0) assert.equal(named, 1_000, "in one sweep");
  }
  assert.equal(named, 10_000, "a thousand in each sweep, and ten thousand in the minute");
  const accountId = fromWire(platform.accountId) as Uuid;
  for (const operation of ["own.first", "own.second"])
    refusals.record({ ...attempt, accountId, operation, actor: { kind: "system", accountId } });
  await refusals.flush();
  const [row] = await db.query<{ n: number }>(
    "select count(*) as n from audit_entries where operation = $1 and at >= $2",
    [OVERFLOW, clock.now()],
  );
  assert.equal(row?.n, 1, "the attempts of the authenticated actor are counted");
});

test("unwritten refusals are kept up to the newest thousand, however long the database is unavailable", async () => {
  const clock = handClock(platform.clock.now() + 40 * WINDOW_MS);
  let down = true;
  const asked: number[] = [];
  const { db } = platform;
  const broken = {
    ...db,
    query: (text: string, values: readonly unknown[] = []) => {
      if (down) return Promise.reject(new Error("down"));
      if (Array.isArray(values[0])) asked.push(values[0].length);
      return db.query(text, [...values]);
    },
  } as typeof db;
  const refusals = createRefusals({ db: broken, clock, newId: () => randomUUIDv7() as Uuid });
  const attempt = { operation: "some.where", code: "x", status: 403, resourceType: "X", resourceId: "x", scope: {} };
  for (let sweep = 0; sweep < 5; sweep += 1) {
    for (let nth = 0; nth < 800; nth += 1) refusals.record({ ...attempt, accountId: randomUUIDv7() as Uuid });
    await assert.rejects(refusals.flush(), /down/);
  }
  down = false;
  await refusals.flush();
  assert.deepEqual(asked, [1_000]);
});

test("refusals are written after the database is available again", async () => {
  const clock = handClock(platform.clock.now() + 20 * WINDOW_MS);
  let down = true;
  const { db } = platform;
  const broken = {
    ...db,
    query: (...args: Parameters<typeof db.query>) => (down ? Promise.reject(new Error("down")) : db.query(...args)),
  } as typeof db;
  const refusals = createRefusals({ db: broken, clock, newId: () => randomUUIDv7() as Uuid });
  const accountId = fromWire(platform.accountId) as Uuid;
  refusals.record({
    accountId,
    operation: "late.try",
    code: "x",
    status: 403,
    resourceType: "X",
    resourceId: "x",
    scope: {},
  });
  await assert.rejects(refusals.flush(), /down/);
  down = false;
  await refusals.flush();
  assert.equal((await db.query("select 1 from audit_entries where operation = 'late.try'")).length, 1);
});

test("the resources that are counted are bounded, of one kind and of all, and each kind has its sample", async () => {
  const clock = handClock(platform.clock.now() + 60 * WINDOW_MS);
  const refusals = createRefusals({ db: platform.db, clock, newId: () => randomUUIDv7() as Uuid });
  const accountId = fromWire(platform.accountId) as Uuid;
  const actor = { kind: "delegate", accountId, id: accountId, name: "d" } as const;
  const attempt = { accountId, actor, code: "x", status: 403, resourceType: "PROJECT", scope: {} };
  for (let round = 0; round < 2; round += 1) {
    for (let kind = 0; kind < 60; kind += 1)
      for (let nth = 0; nth < 1_001; nth += 1)
        refusals.record({ ...attempt, operation: `probe.${kind}`, resourceId: `p${nth}` });
    for (let nth = 0; nth < 9; nth += 1)
      refusals.record({ ...attempt, actor: undefined, operation: "anonymous.probe", resourceId: `p${nth}` });
    await refusals.flush("all");
  }
  const rows = await platform.db.query<{ told: string | null; bytes: number }>(
    `select difference -> 'changes' -> 0 ->> 'after' as told, length(difference::text) as bytes from audit_entries
      where operation like '%probe%' and attempts > 1 order by id`,
    [],
  );
  const told = Map.groupBy(rows, (row) => row.told);
  assert.deepEqual(Object.fromEntries([...told].map(([text, of]) => [text, of.length])), {
    "more than 1000": 2 * 51,
    "more than 40": 2,
    "more than 20": 2 * 8,
    null: 2,
  });
  assert.ok(rows.every(({ bytes }) => bytes === null || bytes < 1_000));
});
