/** Credentials never appear in the log or the database, for any request and any failure. */
import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { after, before, test } from "node:test";
import {
  create,
  JSON_TYPE,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  triggerYaml,
} from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { recordedLog } from "../../../test/support/watch.ts";
import { createLog } from "./log.ts";

let platform: TestPlatform;
let logged = "";
const sink = (into: (text: string) => void): Writable =>
  new Writable({
    write(chunk, _encoding, done) {
      into(String(chunk));
      done();
    },
  });

/** All that must not be found: name → text. */
let secrets: Record<string, string>;
let webhookUrl: string;

before(async () => {
  platform = await startTestPlatform({ logTo: sink((text) => void (logged += text)) });
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, pipelineYaml()));
  ({ webhookUrl } = await made(create.trigger(platform, "deploy", triggerYaml())));
  const token = /custom\/([^/]+)\/v3/.exec(webhookUrl)?.[1] ?? "";
  const delegate = await platform.send("POST", "/ng/api/delegate-token-ng?tokenName=logged");
  secrets = {
    "the administrator's key": platform.apiKey.split(".")[3] ?? "",
    "the webhook's token": token.slice(22),
    "the delegate's token": delegate.body.resource.value.split(".")[3],
    "a wrong key": "wrongkeywrongkeywrongkey",
    "a cookie": "cookiecookiecookie",
    "a word of a body": "topsecret",
  };
  for (const [name, text] of Object.entries(secrets)) assert.ok(text.length >= 9, name);
});
after(() => platform?.stop());

test("requests of every kind of failure leave no credential in the log", async () => {
  const wrong = secrets["a wrong key"] ?? "";
  const headers = { cookie: secrets["a cookie"] ?? "" };
  const paths = [
    "/ng/api/projects/x?orgIdentifier=default",
    "/nothing",
    "/ng/api/projects/%ff",
    "/ng/api/projects/x?orgIdentifier=%00",
  ];
  for (const path of paths)
    for (const apiKey of [platform.apiKey, wrong, null])
      for (const method of ["GET", "POST", "DELETE"]) await platform.send(method, path, { apiKey, headers });
  await platform.send("GET", paths[0] ?? "", { headers: { ...headers, authorization: `Bearer ${wrong}` } });
  const viewer = await platform.addUser("_account_viewer");
  await platform.send("POST", "/ng/api/delegate-token-ng?tokenName=x", { apiKey: viewer });
  const form = new FormData();
  form.set("query", "{ topsecret }");
  form.set("x-api-key", wrong);
  await platform.send("POST", "/api/graphql", { apiKey: null, body: form });
  for (const body of [
    "topsecret",
    '{"a": topsecret}',
    '{"query":"{ topsecret"}',
    '{"query":"{ userByName(name: \\"topsecret\\u0000\\") { id } }"}',
  ]) {
    await platform.send("POST", `/api/graphql?accountId=${platform.accountId}`, { contentType: JSON_TYPE, body });
    await fetch(webhookUrl, { method: "POST", body, headers: { ...headers, "x-api-key": wrong } });
    await create.project(platform, body, JSON_TYPE);
    await create.project(platform, `project: [topsecret\n${body}`);
  }
  await fetch(webhookUrl.replace("/v3", "/v4"), { method: "POST" });
  await fetch(webhookUrl.replace("/v3?", "x/v3?"), { method: "POST", body: "{}" });
  await platform.db.query(
    "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'topical'; end $$",
  );
  for (const table of ["webhook_deliveries", "projects"])
    await platform.db.query(`create trigger refuse before insert on ${table} for each row execute function refuse()`);
  const broken = await fetch(webhookUrl, { method: "POST", body: '{"a":"topsecret"}', headers });
  assert.equal(broken.status, 500);
  assert.equal((await create.project(platform, projectYaml("topsecret"))).status, 500);
  assert.match(logged, /unexpected error/);
  assert.match(logged, /topical/, "the cause of what was unexpected is there");
  for (const [name, text] of Object.entries(secrets)) assert.ok(!logged.includes(text), `${name} is in the log`);
});

test("fields that carry credentials are cut out, also inside of others", () => {
  let text = "";
  const log = createLog(
    "info",
    sink((more) => void (text += more)),
  );
  const fields = { token: "s3cr", apiKey: "s3cr", password: "s3cr", secret: "s3cr", rootKey: "s3cr", cookie: "s3cr" };
  const headers = { authorization: "s3cr", "x-api-key": "s3cr", "set-cookie": "s3cr" };
  log.info({ ...fields, ...headers, kept: 1 }, "flat");
  log.info({ body: fields, headers }, "one level");
  log.info({ req: { headers, body: fields } }, "two levels");
  assert.doesNotMatch(text, /s3cr/);
  assert.match(text, /"kept":1/);
});

test("no credential stands in the database in plain text", async () => {
  const tables = await platform.db.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  assert.ok(tables.length >= 15);
  // Bytes are looked at as text and as hex: neither may show the secret.
  for (const { name } of tables) {
    const rows = await platform.db.query<{ row: string }>(`select t::text as row from ${name} t`);
    const text = rows.map(({ row }) => row).join("\n");
    for (const key of ["the administrator's key", "the webhook's token", "the delegate's token"]) {
      const secret = secrets[key] ?? "";
      for (const form of [
        secret,
        Buffer.from(secret).toString("hex"),
        Buffer.from(secret, "base64url").toString("hex"),
      ])
        assert.ok(!text.includes(form), `${key} is in ${name}`);
    }
  }
});

test("of an error the log has what helps, and nothing that a library hung on it", () => {
  const log = recordedLog();
  const cause = Object.assign(new TypeError("deeper"), { connection: { secretKey: "s3cret" } });
  const error = Object.assign(new Error("lost", { cause }), {
    code: "57P01",
    detail: "Key (value)=(s3cret) already exists.",
    client: { password: "s3cret", parsedStatements: ["s3cret"] },
  });
  createLog("info", log.stream).error({ err: error }, "gone");
  assert.equal(log.count('"message":"lost"'), 1);
  assert.equal(log.count('"code":"57P01"'), 1);
  assert.equal(log.count('"type":"TypeError","message":"deeper"'), 1);
  assert.equal(log.count("s3cret"), 0);
  const circle = new Error("round");
  circle.cause = circle;
  createLog("info", log.stream).error({ err: circle }, "and round");
  assert.equal(log.count("and round"), 1);
});
