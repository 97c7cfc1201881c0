/** Email steps: what Debian's Exim gets, and what the step is told. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { toWire, type Uuid } from "../../../src/core/ids.ts";
import { addStepsPipeline } from "../../support/approvals.ts";
import { made } from "../../support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { abortRun, createPipelines, detailOf, SCOPE, startRun, waitForEnd } from "../../support/runs.ts";
import { eximIsMissing, startExim, type Exim } from "../../support/services/exim.ts";
import { MAIL_USER } from "../../support/services/mail-server.ts";
import { until } from "../../support/until.ts";

const skip = (await eximIsMissing()) ?? false;
const JSON_TYPE = "application/json";
let exim: Exim;
let authorities: string[];
let platform: TestPlatform;

before(async () => {
  if (skip) return;
  exim = await startExim();
  authorities = getCACertificates("default");
  setDefaultCACertificates([...authorities, readFileSync(exim.certificate, "utf8")]);
  platform = await startTestPlatform({ allowPrivateAddresses: ["127.0.0.0/8", "::1"] });
  await createPipelines(platform);
});
after(async () => {
  if (skip) return;
  setDefaultCACertificates(authorities);
  await platform?.stop();
  await exim?.stop();
});

const email = (spec: object, more: object = {}): object => ({
  step: {
    ...{ type: "Email", name: "tell", identifier: "tell", timeout: "1h" },
    ...{ spec: { subject: "Release <+pipeline.sequenceId>", body: "Done by <+pipeline.name>", ...spec } },
    ...more,
  },
});

async function started(id: string, ...steps: readonly object[]): Promise<string> {
  await addStepsPipeline(platform, { id }, steps);
  return startRun(platform, `run_${id}`);
}

const step = async (id: string) => (await detailOf(platform, id)).step("tell");
/** The mails that steps wait for. */
const mails = (): Promise<readonly { readonly tries: number }[]> =>
  platform.db.query("select tries, delivering from outgoing_mails where not fire_and_forget and claim_id is null");
const waitsToTryAgain = (id: string): Promise<unknown> =>
  until(
    async () => (await step(id))["waitReason"],
    (reason) => /busy@example\.com \(451 try again later\)\. The next try is at /.test(reason),
  );

async function configure(): Promise<void> {
  const value = { host: "localhost", port: exim.port, fromAddress: "ci@example.com", startTLS: true, ...MAIL_USER };
  const body = JSON.stringify({ name: "Mail server", value });
  await made(platform.send("POST", "/ng/api/smtpConfig", { contentType: JSON_TYPE, body }));
}

test("without an SMTP configuration the step fails and says so", { skip }, async () => {
  const id = await started("no_config", email({ to: "ada@example.com" }));
  assert.equal(await waitForEnd(platform, id), "FAILED");
  const { message } = (await step(id))["failureInfo"];
  assert.match(message, /^Step 'tell' failed: The account has no SMTP configuration/);
  await configure();
});

test("a mail goes to addresses and to the members of groups at the time of sending", { skip }, async () => {
  await platform.addUser("_account_viewer");
  const [member] = await platform.db.query<{ id: Uuid; email: string }>(
    "select id, email from users order by id desc limit 1",
  );
  assert.ok(member);
  const body = JSON.stringify({ identifier: "ops", name: "Operators", users: [toWire(member.id)] });
  await made(platform.send("POST", `/ng/api/user-groups?${SCOPE}`, { contentType: JSON_TYPE, body }));
  const to = "ada@example.com, <+pipeline.name>@example.com";
  const spec = { to, cc: ["eve@example.com"], toUserGroups: ["ops"], body: "<p>Done by <+pipeline.name></p>" };
  const id = await started("sends", email(spec));
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
  const [mail] = await exim.mails();
  const recipients = ["ada@example.com", "run_sends@example.com", member.email, "eve@example.com"];
  for (const address of recipients) assert.ok(mail?.head.includes(`\n${address}\n`), `${address}: ${mail?.head}`);
  assert.match(mail?.head ?? "", / Subject: Release 1\n/);
  assert.match(mail?.head ?? "", / Cc: eve@example\.com\n/);
  assert.match(mail?.body ?? "", /<p>Done by run_sends<\/p>/);
  assert.deepEqual(await mails(), []);
});

test("what the mail server refuses fails the step with its words", { skip }, async () => {
  const id = await started("refused", email({ to: ["unknown@example.com"] }));
  assert.equal(await waitForEnd(platform, id), "FAILED");
  const { message, failureTypeList } = (await step(id))["failureInfo"];
  assert.match(message, /^Step 'tell' failed: .* refused recipients.* unknown@example\.com \(550 no such mailbox\)\.$/);
  assert.deepEqual(failureTypeList, ["APPLICATION_ERROR"]);
  const bad = await started("invalid", email({ to: "<+pipeline.name>" }));
  assert.equal(await waitForEnd(platform, bad), "FAILED");
  assert.match((await step(bad))["failureInfo"].message, /'run_invalid' is not an e-mail address/);
});

test("a mail that is put off tells why, is tried again, and is withdrawn with its step", { skip }, async () => {
  const id = await started("put_off", email({ to: "busy@example.com" }));
  await waitsToTryAgain(id);
  assert.equal((await step(id))["status"], "AsyncWaiting");
  assert.deepEqual(await mails(), [{ tries: 1, delivering: false }]);
  platform.clock.advance(5_000);
  await platform.platform.sweep();
  assert.deepEqual(await mails(), [{ tries: 2, delivering: false }]);
  await abortRun(platform, id);
  assert.equal(await waitForEnd(platform, id), "ABORTED");
  assert.deepEqual(await mails(), []);
  const late = await started("too_late", email({ to: "busy@example.com" }, { timeout: "10s" }));
  await waitsToTryAgain(late);
  platform.clock.advance(5_000);
  await platform.platform.sweep();
  assert.equal(await waitForEnd(platform, late), "FAILED");
  assert.match((await step(late))["failureInfo"].message, /was not sent in time\. .* \(451 try again later\)/);
});

test("fireAndForget does not wait for the mail server", { skip }, async () => {
  const id = await started("forgets", email({ to: "busy@example.com", fireAndForget: true }));
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
  await until(
    () => platform.db.query("select id from outgoing_mails where fire_and_forget and last_error like '%later%'"),
    ({ length }) => length === 1,
  );
});

test(
  "two servers send one mail, and a step whose server died while it sent is told that it cannot know",
  { skip },
  async () => {
    const before = (await exim.mails()).length;
    const second = await platform.replica();
    const ids = await Promise.all(
      ["1", "2", "3", "4"].map((n) => started(`both_${n}`, email({ to: "both@example.com" }))),
    );
    await Promise.all([platform.platform.sweep(), second.platform.sweep()]);
    for (const id of ids) assert.equal(await waitForEnd(platform, id), "SUCCESS");
    assert.equal((await exim.mails()).length - before, ids.length);
    const id = await started("dies", email({ to: "busy@example.com" }));
    await waitsToTryAgain(id);
    // As a server leaves it that dies after the message was sent, and before the end was stored.
    await platform.db.query(
      `update outgoing_mails set delivering = true, claim_id = id, claimed_until = $1 where not fire_and_forget`,
      [platform.clock.now()],
    );
    await Promise.all([platform.platform.sweep(), second.platform.sweep()]);
    assert.equal(await waitForEnd(platform, id), "FAILED");
    const { message, failureTypeList } = (await step(id))["failureInfo"];
    assert.deepEqual(failureTypeList, ["UNKNOWN_FAILURE"]);
    assert.match(message, /may/);
  },
);
