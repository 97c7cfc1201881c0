/** Webhooks that ask for an API key, and the limit of an account's requests. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  JSON_TYPE,
  made,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
} from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";

let platform: TestPlatform;
let path: string;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await made(create.pipeline(platform, pipelineYaml()));
  const { webhookUrl } = await made(create.trigger(platform, "deploy", triggerYaml()));
  ({ pathname: path } = new URL(webhookUrl));
});
after(() => platform?.stop());

const call = (apiKey: string | null, headers: Record<string, string> = {}): Promise<Answer> =>
  platform.send("POST", path, { body: "{}", contentType: JSON_TYPE, apiKey, headers });
const set = async (identifier: string, value: string, scope = ""): Promise<void> => {
  const body = JSON.stringify([{ identifier, value, allowOverrides: true, updateType: "UPDATE" }]);
  const answer = await platform.send("PUT", `/ng/api/settings?${scope}`, { contentType: JSON_TYPE, body });
  assert.equal(answer.body.data[0].updateStatus, true, answer.text);
  platform.clock.advance(1_001);
};
const deliveries = async (): Promise<unknown> =>
  (await platform.db.query("select count(*) as n from webhook_deliveries"))[0];

test("with the project's setting, a call requires a key that may run the pipeline; otherwise nothing is stored", async () => {
  assert.equal((await call(null)).status, 200);
  await set("mandate_custom_webhook_authorization", "true", SCOPE);
  const before = await deliveries();
  const viewer = await platform.addUser("_account_viewer");
  const other = await platform.addAccount();
  for (const [key, status] of [
    [null, 401],
    ["pat.x.y.z", 401],
    [other.apiKey, 401],
    [viewer, 403],
  ] as const)
    assert.equal((await call(key)).status, status, String(key));
  assert.deepEqual(await deliveries(), before);
  assert.equal((await call(platform.apiKey)).status, 200);
  assert.equal((await call(null, { authorization: `Bearer ${platform.apiKey}` })).status, 200);
  await set("mandate_custom_webhook_authorization", "false", SCOPE);
  assert.equal((await call(null)).status, 200);
});

test("calls of webhooks count for the account; the one too many is not stored", async () => {
  platform.clock.advance(120_000);
  await set("requests_per_minute_account", "3");
  platform.clock.advance(120_000);
  const before = await deliveries();
  const statuses = [await call(null), await call(null), await call(null), await call(null)].map(({ status }) => status);
  assert.deepEqual(statuses, [200, 200, 200, 429]);
  const [row] = await platform.db.query<{ n: number }>("select count(*) as n from webhook_deliveries");
  assert.equal(row?.n, (before as { n: number }).n + 3);
});
