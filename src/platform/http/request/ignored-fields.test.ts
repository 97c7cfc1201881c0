import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { after, before, test } from "node:test";
import { create, JSON_TYPE, projectYaml, SCOPE, YAML } from "../../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../../test/support/platform.ts";
import { headerOf } from "./ignored-fields.ts";

let platform: TestPlatform;
let lines = "";
const kept = new Writable({
  write: (chunk: Buffer, _encoding, done) => {
    lines += chunk.toString();
    done();
  },
});
before(async () => void (platform = await startTestPlatform({ logTo: kept, logLevel: "debug" })));
after(() => platform?.stop());

const HEADER = "railhead-ignored-fields";
const send = (path: string, body: unknown): Promise<Answer> =>
  platform.send("POST", path, { contentType: JSON_TYPE, body: JSON.stringify(body) });
const role = (identifier: string, more: object = {}) => ({ identifier, name: identifier, permissions: [], ...more });

test("ignored fields are named in the header, which pages of other origins may read, and in the debug log", async () => {
  const answer = await send("/authz/api/roles", role("seen", { _: null, colour: "red" }));
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get(HEADER), "_, colour");
  assert.ok(answer.headers.get("access-control-expose-headers")?.includes(HEADER));
  const logged = lines
    .split("\n")
    .filter((line) => line.includes("are ignored"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    logged.map(({ fields, operation, correlationId }) => [fields, operation, correlationId]),
    [[["_", "colour"], "role.create", answer.body.correlationId]],
  );
  assert.ok(!lines.includes('"red"'), "values are not logged");
  assert.equal((await send("/authz/api/roles", role("none"))).headers.get(HEADER), null);
});

test("a refusal names them too", async () => {
  const answer = await send("/authz/api/roles", { identifier: "short", nam: "x", permissions: [] });
  assert.deepEqual([answer.status, answer.headers.get(HEADER)], [400, "nam"]);
  const yaml = await create.project(platform, projectYaml("a").replace("project:", "projekt:"), YAML);
  assert.deepEqual([yaml.status, yaml.headers.get(HEADER)], [400, "projekt"]);
});

test("a secret with additionalMetadata, as clients send it, is created", async () => {
  const spec = {
    secretManagerIdentifier: "platformSecretManager",
    valueType: "Inline",
    value: "x",
    additionalMetadata: {},
  };
  const secret = { type: "SecretText", name: "foreign", identifier: "foreign", tags: {}, spec };
  const answer = await send("/ng/api/v2/secrets", { secret });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get(HEADER), "secret.spec.additionalMetadata");
});

test("the header has safe characters only, and an end", async () => {
  const sent = {
    "a\r\nset-cookie: x=1": 1,
    "b, c": 1,
    "d+1": 1,
    "\u{1f600}\u00e9": { in: 1 },
    e: 1,
    ["f".repeat(5_000)]: 1,
  };
  const answer = await send("/authz/api/roles", role("safe", sent));
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get("set-cookie"), null);
  const header = answer.headers.get(HEADER) ?? "";
  assert.match(header, /^[\w.$[\]%,+ -]+$/);
  const named = header.split(", ");
  assert.deepEqual(
    named.slice(0, 5).map((path) => decodeURIComponent(path)),
    ['["a\\r\\nset-cookie: x=1"]', '["b, c"]', '["d+1"]', '["\u{1f600}\u00e9"]', "e"],
  );
  const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`key_${at}`, 1]));
  const long = (await send("/authz/api/roles", role("many", many))).headers.get(HEADER) ?? "";
  assert.ok(long.length < 1_100, String(long.length));
  const paths = long.split(", ");
  assert.equal(paths.at(-1), `+${2_000 - (paths.length - 1)}`);
});

test("half a character is never written, however long a name is", () => {
  for (let length = 150; length < 250; length += 1)
    assert.doesNotThrow(() => decodeURIComponent(headerOf([`${"a".repeat(length)}\u{1f600}\u{1f600}\u{1f600}`])));
});

test("a scope key beside the fields says what the query says, or is refused by name", async () => {
  await create.project(platform, projectYaml());
  const list = (body: object, query = SCOPE) => send(`/pipeline/api/pipelines/list?${query}`, body);
  const same = { accountIdentifier: platform.accountId, orgIdentifier: "default", projectIdentifier: "shop" };
  for (const body of [same, { orgIdentifier: null, projectIdentifier: "" }, { accountId: platform.accountId }]) {
    const answer = await list(body);
    assert.deepEqual([answer.status, answer.headers.get(HEADER)], [200, null], answer.text);
  }
  for (const [body, message] of [
    [{ orgIdentifier: "other" }, /^Field 'orgIdentifier' of the body is 'other', and in the query 'default'/],
    [{ projectIdentifier: 1 }, /^Field 'projectIdentifier' of the body is no text, and in the query 'shop'/],
    [{ accountIdentifier: "AAAAAAAAAAAAAAAAAAAAAA" }, /^Field 'accountIdentifier' of the body is 'A+', and/],
  ] as const) {
    const { status, body: refusal } = await list(body);
    assert.deepEqual([status, refusal.code], [400, "INVALID_REQUEST"]);
    assert.match(refusal.message, message);
  }
  const none = await send("/ng/api/connectors/listV2", { filterType: "Connector", orgIdentifier: "default" });
  assert.deepEqual([none.status, /in the query not given/.test(none.body.message)], [400, true]);
  // Where the scope is no parameter of the operation, it is compared with what the query says all the same.
  assert.equal((await send("/ng/api/user/batch?orgIdentifier=default", { orgIdentifier: "default" })).status, 200);
});
