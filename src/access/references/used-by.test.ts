/** Which resources name a secret, a connector, a service or an environment, over the public interface. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import {
  connectorYaml,
  create,
  createTargets,
  JSON_TYPE,
  made,
  onCluster,
  pipelineYaml,
  projectYaml,
  SCOPE,
  YAML,
} from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";

let platform: TestPlatform;
const ASKING = '<+secrets.getValue("account.token")>';

before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  const spec = { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value: "v" };
  const secret = { type: "SecretText", name: "token", identifier: "token", spec };
  const body = JSON.stringify({ secret });
  await made(platform.send("POST", "/ng/api/v2/secrets", { contentType: JSON_TYPE, body }));
  await made(create.pipeline(platform, onCluster(pipelineYaml("first", ASKING))));
  await made(create.pipeline(platform, pipelineYaml("second", ASKING)));
  const auth = "type: UsernamePassword\n      spec: { username: me, passwordRef: account.token }";
  const inShop = "  orgIdentifier: default\n  projectIdentifier: shop\n";
  await made(create.connector(platform, connectorYaml("registry", inShop).replace("type: Anonymous", auth)));
});
after(() => platform?.stop());

type Named = Readonly<Record<"type" | "identifier" | "orgIdentifier" | "projectIdentifier", string | null>>;
type UsedBy = { readonly content: readonly Named[]; readonly totalItems: number; readonly hidden: number };

const usedBy = (path: string, query = "", apiKey = platform.apiKey): Promise<UsedBy> =>
  made(platform.send("GET", `${path}/usedBy?${query}`, { apiKey }));
const short = ({ content }: UsedBy): readonly string[] =>
  content.map(({ type, identifier, projectIdentifier }) => `${type} ${projectIdentifier}/${identifier}`).toSorted();

const PATHS = {
  secret: "/ng/api/v2/secrets/token",
  connector: "/ng/api/connectors/cluster",
  service: "/ng/api/servicesV2/web",
  environment: "/ng/api/environmentsV2/staging",
} as const;

test("each kind of resource says what names it", async () => {
  assert.deepEqual(short(await usedBy(PATHS.secret)), [
    "CONNECTOR shop/registry",
    "PIPELINE shop/first",
    "PIPELINE shop/second",
  ]);
  assert.deepEqual(short(await usedBy(PATHS.connector, SCOPE)), ["PIPELINE shop/first"]);
  for (const kind of ["service", "environment"] as const)
    assert.deepEqual(short(await usedBy(PATHS[kind], SCOPE)), ["PIPELINE shop/first", "PIPELINE shop/second"], kind);
});

test("lists have pages and the number of all", async () => {
  const pages = [0, 1].map(async (nth) => usedBy(PATHS.service, `${SCOPE}&pageSize=1&pageIndex=${nth}`));
  const [first, second] = await Promise.all(pages);
  assert.deepEqual([first?.totalItems, first?.content.length, second?.content.length], [2, 1, 1]);
  assert.notDeepEqual(first?.content, second?.content);
});

test("what the caller may not see is counted and not named", async () => {
  const keeper = await platform.addUser("_account_viewer");
  const permissions = ["core_secret_view"];
  const body = JSON.stringify({ identifier: "keeper", name: "Keeper", permissions });
  await made(platform.send("POST", "/authz/api/roles", { contentType: JSON_TYPE, body }));
  await platform.db.query(
    `update role_assignments set role_identifier = 'keeper', role_id = (select id from roles where identifier = 'keeper')
      where role_identifier = '_account_viewer'`,
  );
  const { content, totalItems, hidden } = await usedBy(PATHS.secret, "", keeper);
  assert.deepEqual([content, totalItems, hidden], [[], 0, 3]);
  const refused = await platform.send("GET", `${PATHS.service}/usedBy?${SCOPE}`, { apiKey: keeper });
  assert.equal(refused.status, 403);
});

test("a resource that does not exist is 404, also one that is named", async () => {
  await made(create.pipeline(platform, pipelineYaml("third").replace("serviceRef: web", "serviceRef: later")));
  for (const path of ["/ng/api/servicesV2/later", "/ng/api/connectors/later", "/ng/api/v2/secrets/later"]) {
    const { status } = await platform.send("GET", `${path}/usedBy?${SCOPE}`);
    assert.equal(status, 404, path);
  }
  await made(create.service(platform, "later", "  orgIdentifier: default\n  projectIdentifier: shop\n"));
  assert.deepEqual(short(await usedBy("/ng/api/servicesV2/later", SCOPE)), ["PIPELINE shop/third"]);
});

test("the newest version counts, and a deleted pipeline names nothing", async () => {
  const path = `/pipeline/api/pipelines/third?${SCOPE}`;
  const body = pipelineYaml("third").replace("environmentRef: staging", "environmentRef: <+pipeline.name>");
  await made(platform.send("PUT", path, { contentType: YAML, body }));
  assert.deepEqual(short(await usedBy("/ng/api/servicesV2/later", SCOPE)), []);
  assert.ok(short(await usedBy(PATHS.service, SCOPE)).includes("PIPELINE shop/third"));
  assert.ok(!short(await usedBy(PATHS.environment, SCOPE)).includes("PIPELINE shop/third"));
  await made(platform.send("DELETE", path));
  assert.ok(!short(await usedBy(PATHS.service, SCOPE)).includes("PIPELINE shop/third"));
});

test("the migration finds what stored pipelines name", async () => {
  const flow = pipelineYaml("flow").replace("serviceRef: web", 'serviceRef: "account.shared"');
  await made(create.pipeline(platform, flow));
  const { parse } = await import("yaml");
  const json = JSON.stringify(parse(pipelineYaml("json").replace("serviceRef: web", "serviceRef: org.common")));
  await made(create.pipeline(platform, json, JSON_TYPE));
  const select = (table: string): Promise<unknown> =>
    platform.db.query(`select * from ${table} order by user_id, identifier`);
  const tables = ["service_uses", "environment_uses"];
  const recorded = await Promise.all(tables.map(select));
  const [file = ""] = globSync("migrations/*_target_uses.sql");
  const filling = readFileSync(file, "utf8").split("-- Of the newest versions")[1] ?? "";
  await platform.db.transaction(async (tx) => {
    for (const table of tables) await tx.query(`delete from ${table}`);
    for (const statement of filling.slice(filling.indexOf("create")).split(";\n"))
      if (statement.trim()) await tx.query(statement);
  });
  assert.deepEqual(await Promise.all(tables.map(select)), recorded);
});
