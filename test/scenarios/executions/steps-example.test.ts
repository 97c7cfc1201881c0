/** The example of the step types on a real delegate, with an API and a mail server of the test. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import type { Delegate } from "../../../delegate/delegate.ts";
import { createPlace } from "../../../delegate/testing/kit.ts";
import { made } from "../../support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { startRealDelegate } from "../../support/real-delegate.ts";
import { createPipelines, detailOf, logOf, SCOPE, startRun, waitForEnd } from "../../support/runs.ts";
import { dumpOf } from "../../support/secrets.ts";
import { startMailServer, type MailServer } from "../../support/services/mail-server.ts";
import { until } from "../../support/until.ts";
import { startReleaseApi, type ReleaseApi } from "../../support/services/release-api.ts";

const EXAMPLE = new URL("../../../examples/steps/pipeline.yaml", import.meta.url);
const TOKEN = "t0ken-of-the-release-api";

let platform: TestPlatform;
let delegate: Delegate;
let api: ReleaseApi;
let mail: MailServer;
const place = createPlace();

before(async () => {
  platform = await startTestPlatform({ allowPrivateAddresses: ["127.0.0.0/8", "::1"] });
  await createPipelines(platform);
  delegate = await startRealDelegate(platform, place);
  api = await startReleaseApi();
  mail = await startMailServer({ security: "none" });
  const create = "mutation ($input: CreateSecretInput!) { createSecret(input: $input) { secret { id } } }";
  const input = { secretType: "ENCRYPTED_TEXT", encryptedText: { name: "api_token", value: TOKEN } };
  const secret = await platform.graphql(create, { input });
  assert.ok(secret.body.data?.createSecret, secret.text);
  const value = { host: "127.0.0.1", port: mail.port, fromAddress: "ci@example.com" };
  const body = JSON.stringify({ name: "Mail server", value });
  await made(platform.send("POST", "/ng/api/smtpConfig", { contentType: "application/json", body }));
});

after(async () => {
  await delegate?.stop();
  await platform?.stop();
  api?.stop();
  await mail?.stop();
  place.remove();
});

test("the example announces a release, switches its halves together and tells the team; its token is stored nowhere", async () => {
  const yaml = (await readFile(EXAMPLE, "utf8"))
    .replace("projectIdentifier: quickstart", "projectIdentifier: p")
    .replaceAll("https://api.example.com", api.url);
  const options = { contentType: "application/yaml", body: yaml };
  const saved = await platform.send("POST", `/pipeline/api/pipelines?${SCOPE}`, options);
  assert.equal(saved.status, 200, saved.text);
  const id = await startRun(platform, "step_types");
  const reason = await until(
    async () => (await detailOf(platform, id)).step("ask")["waitReason"],
    (text) => text !== null,
  );
  assert.match(
    reason,
    /^Waits for its approval criteria: run 1 of the script met no criteria\. The next run begins at /,
  );
  assert.equal((await detailOf(platform, id)).step("ask")["status"], "ApprovalWaiting");
  api.approveTickets();
  platform.clock.advance(30_000);
  await platform.platform.sweep();
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
  const [request] = api.received;
  assert.deepEqual([request?.method, request?.url], ["POST", "/releases?team=shop"]);
  assert.equal(request?.headers.authorization, `Bearer ${TOKEN}`);
  assert.equal(request?.body, '{"release": "1"}\n');
  const log = await logOf(platform, id);
  assert.match(log, /^> POST .*\/releases\?team=shop, 17 bytes, headers Authorization, Content-Type$/m);
  assert.match(log, /^the ticket is waiting\nthe ticket is approved$/m);
  const halves = log.trim().split("\n").slice(-4);
  assert.deepEqual(halves.slice(0, 2).toSorted(), ["Web prepared", "Workers prepared"]);
  assert.deepEqual(halves.slice(2).toSorted(), ["Web switched", "Workers switched"]);
  const { output } = (await detailOf(platform, id)).step("announce")["outcomes"];
  assert.deepEqual(output.outputVariables, { ticket: "REL-7" });
  assert.equal(JSON.parse(output.httpResponseBody).you, "Bearer **************");
  const [told] = mail.received;
  assert.deepEqual(told?.to, ["team@example.com", "ops@example.com"]);
  assert.match(told?.text ?? "", /^Subject: Release 1\r$/m);
  assert.match(told?.text ?? "", /Ticket REL-7 is open\./);
  for (const text of [log, await dumpOf(platform)]) assert.equal(text.includes(TOKEN), false);
});
