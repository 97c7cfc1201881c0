/** Connectors of the other types; update, deletion and use of connectors. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  clusterYaml,
  connectorYaml,
  create,
  JSON_TYPE,
  made,
  onCluster,
  pipelineYaml,
  projectYaml,
  YAML,
} from "../../test/support/contract.ts";
import { requestDuringChange } from "../../test/support/request-during-change.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";
import type { Actor } from "../core/actor.ts";
import { fromWire, type Uuid } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import type { ReferenceSource } from "../access/index.ts";
import { createConnectors } from "./index.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
});
after(() => platform?.stop());

const PATH = "/ng/api/connectors";
const SHOP = "orgIdentifier=default&projectIdentifier=shop";
const IN_PROJECT = "  orgIdentifier: default\n  projectIdentifier: shop\n";
const put = (body: string, version?: string, contentType = YAML): Promise<Answer> =>
  platform.send("PUT", PATH, {
    body,
    contentType,
    ...(version === undefined ? {} : { headers: { "if-match": version } }),
  });
const audited = async (): Promise<unknown> =>
  platform.db.query(`select operation, resource_id from audit_entries where operation like 'connector.%' order by id`);
const withAuth = (identifier: string, spec: string): string =>
  connectorYaml(identifier).replace("type: Anonymous", `type: UsernamePassword\n      spec: ${spec}`);

test("the other providers and non-default values are stored and shown unchanged", async () => {
  for (const provider of ["Harbor", "Quay", "Other"]) {
    const body = connectorYaml(`at_${provider}`).replace("PublicHosted", provider);
    assert.equal((await made(create.connector(platform, body))).connector.spec.providerType, provider);
  }
  const flags = connectorYaml("flags").replace(
    "    auth:",
    "    executeOnDelegate: false\n    ignoreTestConnection: true\n    auth:",
  );
  const { spec } = (await made(create.connector(platform, flags))).connector;
  assert.deepEqual([spec.executeOnDelegate, spec.ignoreTestConnection], [false, true]);
});

test("a connector references passwords as secrets, and each reference is listed once", async () => {
  for (const [spec, message] of [
    ["{username: me, password: hunter2}", /passwordRef: Missing/],
    ["{username: me}", /passwordRef: Missing/],
    ["{passwordRef: p}", /needs username or usernameRef/],
    ["{username: me, usernameRef: u, passwordRef: p}", /username or usernameRef, not both/],
    ["{username: me, passwordRef: project.p}", /must name a secret/],
    ["{username: me, passwordRef: 'a b'}", /must name a secret/],
    ["{username: <+input>, passwordRef: p}", /auth\.spec\.username: expressions/],
  ] as const) {
    const { status, body } = await create.connector(platform, withAuth("refused", spec));
    assert.equal(status, 400, spec);
    assert.match(body.message, message, spec);
  }
});

test("a referenced secret must exist", async () => {
  const asked: unknown[] = [];
  const accountId = fromWire(platform.accountId) as Uuid;
  const actor: Actor = { kind: "system", accountId };
  let there = false;
  const connectors = createConnectors({
    db: platform.db,
    audit: { record: async () => undefined, recordAll: async () => undefined },
    authorize: () => undefined,
    dereference: async () => [],
    requireScope: async () => undefined,
    requireSecret: async (_, home, reference) => {
      asked.push([home.projectIdentifier, reference]);
      if (!there && reference === "account.p") throw new Problem("x", 400, "X", "no such secret");
      return { id: crypto.randomUUID() as Uuid };
    },
    noteSecretUses: async () => undefined,
    resolveForStep: () => assert.fail("no step needs a cluster"),
    clock: platform.clock,
    newId: () => crypto.randomUUID() as Uuid,
  });
  const auth = { type: "UsernamePassword", spec: { username: null, usernameRef: "u", passwordRef: "account.p" } };
  const connector = {
    orgIdentifier: "default",
    projectIdentifier: "shop",
    identifier: "secretive",
    name: "x",
    description: "",
    tags: {},
    type: "ContainerRegistry",
    spec: { registryUrl: "https://x/", providerType: "Other", auth, delegateSelectors: [] },
  };
  const refused = {
    code: "connector.no_secret",
    message: /connector\.spec\.auth\.spec\.passwordRef: no such secret/,
  };
  await assert.rejects(connectors.create(actor, connector), refused);
  there = true;
  await connectors.create(actor, connector);
  there = false;
  await assert.rejects(connectors.update(actor, connector, undefined), refused);
  assert.deepEqual(
    asked,
    Array.from({ length: 3 }, () => [
      ["shop", "u"],
      ["shop", "account.p"],
    ]).flat(),
  );
});

test("an update replaces the connector under the version that was read", async () => {
  const first = await create.connector(platform, connectorYaml("changed", IN_PROJECT));
  assert.equal(first.headers.get("etag"), '"1"');
  platform.clock.advance(5_000);
  const trail = await audited();
  const body = connectorYaml("changed", `${IN_PROJECT}  description: New\n`).replace("name: Registry", "name: Images");
  const stale = await put(body, "7");
  assert.deepEqual([stale.status, stale.body.code], [402, "OPTIMISTIC_LOCKING_EXCEPTION"]);
  assert.match(stale.body.message, /Connector \[changed\] .* version 1, .* version 7/);
  assert.equal((await put(body, "first")).status, 400);
  assert.deepEqual(await audited(), trail);

  const second = await put(body, '"1"');
  assert.equal(second.status, 200, second.text);
  assert.equal(second.headers.get("etag"), '"2"');
  const { data } = second.body;
  assert.deepEqual([data.connector.name, data.connector.description], ["Images", "New"]);
  const { createdAt } = first.body.data;
  assert.deepEqual([data.createdAt, data.lastModifiedAt], [createdAt, createdAt + 5_000]);
  const read = await platform.send("GET", `${PATH}/changed?${SHOP}`);
  assert.deepEqual([read.body.data, read.headers.get("etag")], [data, '"2"']);
  assert.equal((await put(body)).status, 200, "without If-Match any version is replaced");
  assert.equal(((await audited()) as unknown[]).length, (trail as unknown[]).length + 2);

  const raced = await Promise.all([1, 2, 3].map(() => put(body, "3")));
  assert.deepEqual(
    raced.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 402, 402],
  );
});

test("a missing connector or one of another scope is not updated; JSON is accepted", async () => {
  await made(create.connector(platform, connectorYaml("here")));
  assert.deepEqual(
    [(await put(connectorYaml("nowhere"))).status, (await put(connectorYaml("here", IN_PROJECT))).body.code],
    [404, "CONNECTOR_NOT_FOUND_EXCEPTION"],
  );
  assert.equal((await put(connectorYaml("here", "  orgIdentifier: none\n"))).status, 404);
  const spec = { registryUrl: "http://localhost:5000", providerType: "Other", auth: { type: "Anonymous" } };
  const json = { connector: { name: "J", identifier: "here", type: "ContainerRegistry", spec } };
  const answer = await put(JSON.stringify(json), undefined, JSON_TYPE);
  assert.equal(answer.body.data?.connector.spec.registryUrl, "http://localhost:5000", answer.text);
});

test("a connector is deleted under its version, and its identifier is free again", async () => {
  await made(create.connector(platform, connectorYaml("gone")));
  const remove = (version?: string): Promise<Answer> =>
    platform.send("DELETE", `${PATH}/gone`, version === undefined ? {} : { headers: { "if-match": version } });
  assert.equal((await remove("2")).status, 402);
  const done = await remove("1");
  assert.deepEqual([done.status, done.body.data], [200, true]);
  assert.equal((await remove()).body.code, "CONNECTOR_NOT_FOUND_EXCEPTION");
  await made(create.connector(platform, connectorYaml("gone")));
  const other = await platform.addAccount();
  const strange = await platform.send("DELETE", `${PATH}/gone`, { account: other.accountId, apiKey: other.apiKey });
  assert.equal(strange.status, 404);
});

const user = (nth: number): ReferenceSource => ({
  type: "PIPELINE",
  id: `00000000-0000-4000-8000-00000000000${nth}` as Uuid,
  identifier: `deploy${nth}`,
  orgIdentifier: "default",
  projectIdentifier: "shop",
});

test("a referenced connector is deleted with forceDelete only; the error names the referrers", async () => {
  await made(create.connector(platform, connectorYaml("used")));
  const connectors = createConnectors(platform as never);
  const accountId = fromWire(platform.accountId) as Uuid;
  const note = (nth: number, references: string[]): Promise<void> =>
    platform.db.transaction((tx) => connectors.noteUses(tx, accountId, user(nth), references));
  const remove = (query = ""): Promise<Answer> => platform.send("DELETE", `${PATH}/used?${query}`);

  for (let nth = 1; nth <= 7; nth += 1) await note(nth, ["account.used", "account.used", "used", "<+input>", ""]);
  const refused = await remove();
  assert.deepEqual([refused.status, refused.body.code], [402, "ENTITY_REFERENCE_EXCEPTION"]);
  assert.match(refused.body.message, /used by pipeline deploy1 of project shop, .* and 2 more/);
  assert.equal((await remove("forceDelete=false")).status, 402);
  assert.equal((await remove("forceDelete=perhaps")).status, 400);
  for (let nth = 1; nth <= 6; nth += 1) await note(nth, []);
  assert.equal((await remove()).status, 402);
  assert.equal((await remove("forceDelete=true")).status, 200);

  await made(create.connector(platform, connectorYaml("used")));
  assert.equal((await remove()).status, 402, "what is named still is named");
  await note(7, ["account.other"]);
  assert.equal((await remove()).status, 200);
});

test("a pipeline that is being saved protects its connector from deletion", async () => {
  await made(create.connector(platform, connectorYaml("kept")));
  const connectors = createConnectors(platform as never);
  const answer = await requestDuringChange(
    platform.db,
    (tx) => connectors.noteUses(tx, fromWire(platform.accountId) as Uuid, user(1), ["account.kept"]),
    () => platform.send("DELETE", `${PATH}/kept`),
  );
  assert.deepEqual([answer.status, answer.body.code], [402, "ENTITY_REFERENCE_EXCEPTION"], answer.text);
  assert.equal((await platform.send("GET", `${PATH}/kept`)).status, 200);
});

test("a pipeline is saved although its connector is deleted meanwhile, because the connector may be missing", async () => {
  await made(create.connector(platform, clusterYaml("going", IN_PROJECT)));
  const answer = await requestDuringChange(
    platform.db,
    (tx) => tx.query("delete from connectors where identifier = 'going'"),
    () =>
      create.pipeline(
        platform,
        onCluster(pipelineYaml("early")).replace("connectorRef: cluster", "connectorRef: going"),
      ),
  );
  await made(Promise.resolve(answer));
  await made(create.connector(platform, clusterYaml("going", IN_PROJECT)));
  const refused = await platform.send("DELETE", `${PATH}/going?${SHOP}`);
  assert.match(refused.body.message, /is used by pipeline early of project shop/);
});
