/** The check of the settings for signed tokens, with real keys from a real server. */
import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { after, before, test } from "node:test";
import { JSON_TYPE, made } from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import {
  signToken,
  signingKey,
  startKeyServer,
  type KeyServer,
  type SigningKey,
} from "../../../test/support/services/key-server.ts";

let platform: TestPlatform;
let server: KeyServer;
let key: SigningKey;
let log = "";

before(async () => {
  server = await startKeyServer();
  key = await signingKey("RS256", { kid: "rsa" });
  server.serve([key.jwk, { kty: "oct", k: "c2VjcmV0", kid: "secret" }]);
  const logTo = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      log += chunk.toString();
      done();
    },
  });
  platform = await startTestPlatform({ allowPrivateAddresses: ["127.0.0.0/8"], logTo, logLevel: "debug" });
});
after(async () => {
  await platform?.stop();
  await server?.close();
});

const send = (method: string, path: string, body?: object, apiKey = platform.apiKey): Promise<Answer> =>
  platform.send(method, path, { ...(body && { contentType: JSON_TYPE, body: JSON.stringify(body) }), apiKey });
const check = async (token?: string) =>
  made(send("POST", "/ng/api/scim/jwt-settings/check", token ? { token } : undefined));

async function set(settings: Readonly<Record<string, string>>): Promise<void> {
  const changes = Object.entries(settings).map(([name, value]) => ({
    ...{ identifier: `scim_jwt_token_${name}`, value, allowOverrides: false, updateType: "UPDATE" },
  }));
  for (const { updateStatus, errorMessage } of await made(send("PUT", "/ng/api/settings", changes)))
    assert.ok(updateStatus, errorMessage);
}

const now = (): number => platform.clock.now() / 1_000;
const token = (claims: object = {}, header: object = {}): Promise<string> =>
  signToken(
    key.privateKey,
    { alg: "RS256", kid: "rsa", ...header },
    { client: "directory", exp: now() + 300, ...claims },
  );

test("without settings it names them, and no token is accepted", async () => {
  const names = ["jwks_keys_url", "key_field", "value_field", "service_account_id"].map(
    (one) => `scim_jwt_token_${one}`,
  );
  assert.deepEqual(await check(), { missingSettings: names, keySet: null, serviceAccount: null, token: null });
  const { accepted, reason } = (await check(await token())).token;
  assert.equal(accepted, false);
  assert.match(reason, /scim_jwt_token_jwks_keys_url/);
});

test("it shows the keys, the service account, and why a token is refused as SCIM does it", async () => {
  await set({ jwks_keys_url: server.url, key_field: "client", value_field: "directory", service_account_id: "scim" });
  const early = await check(await token());
  assert.deepEqual(early.serviceAccount, { identifier: "scim", found: false });
  assert.match(early.token.reason, /no service account \[scim\]/);
  await made(send("POST", "/ng/api/serviceaccount", { identifier: "scim", name: "SCIM" }));
  const found = await check();
  assert.deepEqual(found.missingSettings, []);
  assert.deepEqual(found.keySet, {
    ...{ url: server.url, failure: null },
    keys: [{ kid: "rsa", algorithms: ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] }],
  });
  for (const [text, words] of [
    [await token(), null],
    [await token({ client: "other" }), /its claim client is another one/],
    [await token({ exp: now() - 120 }), /it has expired/],
    [await token({}, { kid: "unknown" }), /no key of the set fits/],
    [`${await token()}x`, /signature/],
    ["nonsense", /no signed token/],
  ] as const) {
    const { accepted, reason } = (await check(text)).token;
    assert.equal(accepted, words === null, reason);
    if (words) assert.match(reason, words);
    const answer = await platform.send("GET", `/ng/api/scim/account/${platform.accountId}/Users`, {
      ...{ apiKey: null, headers: { authorization: `Bearer ${text}` } },
    });
    // The service account has no role: 403 where the token is accepted.
    assert.equal(answer.status, words === null ? 403 : 401);
  }
});

test("a key set that cannot be fetched is told without its content, and inner addresses are not connected to", async () => {
  server.answer = (_request, response) => void response.end("a secret of another service");
  platform.clock.advance(31 * 60_000);
  const { keySet } = await check();
  assert.deepEqual([keySet.keys, keySet.failure], [[], "it is not JSON"]);
  await set({ jwks_keys_url: "https://10.0.0.1/keys" });
  const inner = await check(await token());
  assert.match(inner.keySet.failure, /10\.0\.0\.1/);
  assert.match(inner.token.reason, /could not be fetched/);
});

test("it needs core_authsetting_edit, and logs no token", async () => {
  const text = await token();
  for (const role of ["_account_viewer"] as const)
    assert.equal(
      (await send("POST", "/ng/api/scim/jwt-settings/check", { token: text }, await platform.addUser(role))).status,
      403,
    );
  await check(text);
  assert.ok(log.length > 0);
  for (const part of text.split(".")) assert.ok(!log.includes(part));
  const dump = await platform.db.query<{ text: string }>(
    "select coalesce(string_agg(e::text, ''), '') as text from audit_entries e",
  );
  assert.ok(!dump[0]?.text.includes(text.split(".")[2] ?? ""));
  assert.equal((await send("POST", "/ng/api/scim/jwt-settings/check", { token: "x".repeat(8_193) })).status, 400);
});
