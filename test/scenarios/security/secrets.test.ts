/**
 * Secrets in runs, from the pipeline to the step. The tests search all data of a platform and a real delegate for the
 * values.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { after, before, test } from "node:test";
import { type Delegate, startDelegate } from "../../../delegate/delegate.ts";
import { createPlace, QUICK, silentLog } from "../../../delegate/testing/kit.ts";
import { systemTimers } from "../../../delegate/timers.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { newIdentity, pretendDelegate } from "../../support/pretend-delegate.ts";
import {
  abortRun,
  addPipeline,
  detailOf,
  waitForEnd,
  createPipelines,
  logOf,
  type PipelineSketch,
  SCOPE,
  startRun,
} from "../../support/runs.ts";
import { dumpOf } from "../../support/secrets.ts";

const VALUE = "pa55-w0rd/of the s3rver";
const MASK = "**************";
const JSON_TYPE = "application/json";

let platform: TestPlatform;
let delegate: Delegate;
const place = createPlace();
const logged: string[] = [];

before(async () => {
  const log = new PassThrough();
  log.on("data", (line: Buffer) => logged.push(line.toString()));
  platform = await startTestPlatform({ logTo: log, maxSecretFile: 11 * 1024 * 1024 });
  await createPipelines(platform);
  const prod = {
    name: "Prod",
    identifier: "prod",
    type: "Production",
    orgIdentifier: "default",
    projectIdentifier: "p",
  };
  const made = await platform.send("POST", "/ng/api/environmentsV2", {
    contentType: JSON_TYPE,
    body: JSON.stringify(prod),
  });
  assert.equal(made.status, 200, made.text);
  delegate = await startDelegate(
    {
      socketUrl: `${platform.url.replace("http", "ws")}/delegate/connect`,
      token: await platform.delegateToken(),
      name: "real",
      tags: ["real"],
      workDir: place.path,
      slots: 4,
      stepUser: undefined,
      stepPath: undefined,
      belongsTo: undefined,
    },
    { ...QUICK, timers: systemTimers, chance: Math.random, log: silentLog() },
  );
});
after(async () => {
  await delegate?.stop();
  await platform?.stop();
  place.remove();
});

const CREATE = "mutation ($input: CreateSecretInput!) { createSecret(input: $input) { secret { id } } }";
const UPDATE = "mutation ($input: UpdateSecretInput!) { updateSecret(input: $input) { secret { id } } }";

async function mutate(query: string, input: object, field: "createSecret" | "updateSecret"): Promise<string> {
  const answer = await platform.graphql(query, { input });
  assert.ok(answer.body.data?.[field], answer.text);
  return answer.body.data[field].secret.id;
}

/** Creates a text at the account. `scope` replaces the scope of its manager. */
const text = (name: string, value: string, scope: object = {}): Promise<string> =>
  mutate(CREATE, { secretType: "ENCRYPTED_TEXT", encryptedText: { name, value, ...scope } }, "createSecret");

async function file(name: string, content: Uint8Array<ArrayBuffer>): Promise<void> {
  const form = new FormData();
  const input = { secretType: "ENCRYPTED_FILE", encryptedFile: { name } };
  form.append("query", JSON.stringify({ query: CREATE, variables: { input } }));
  form.append("file", new Blob([content]), name);
  const answer = await platform.send("POST", `/api/graphql?accountId=${platform.accountId}`, { body: form });
  assert.ok(answer.body.data?.createSecret, answer.text);
}

/** Runs the sketch on the real delegate. Returns its end and its log. */
async function run(sketch: PipelineSketch) {
  const steps = sketch.steps.map((step) => ({ selectors: ["real"], ...step }));
  await addPipeline(platform, { ...sketch, steps });
  const id = await startRun(platform, sketch.id);
  const status = await waitForEnd(platform, id);
  return { id, status, log: await logOf(platform, id), detail: () => detailOf(platform, id) };
}

const asked = (name: string): string => `<+secrets.getValue("${name}")>`;
const prodOnly = {
  usageScope: {
    appEnvScopes: [{ application: { filterType: "ALL" }, environment: { filterType: "PRODUCTION_ENVIRONMENTS" } }],
  },
};

test("a value and a file reach the step, are masked in output, and are stored nowhere else", async () => {
  await text("server_password", VALUE);
  await file("server_key", Buffer.from(`-----BEGIN-----\n${VALUE}\n-----END-----\n`));
  const script = [
    `[ "${asked("account.server_password")}" = "$(sed -n 2p <+secrets.getAsFile("account.server_key")>)" ] && echo same`,
    `echo "it is ${asked("account.server_password")}" >&2`,
    `cat <+secrets.getAsFile("account.server_key")>; base64 <+secrets.getAsFile("account.server_key")>`,
    `echo "$AUTH" | od -An -tx1 | tr -d ' \\n'; set -x; : "$AUTH"; exec 2>&1; curl --no-such-option "$AUTH"; true`,
  ].join("\n");
  const steps = [{ id: "x", script, env: { AUTH: `Basic ${asked("account.server_password")}` } }];
  const { status, log, detail } = await run({ id: "uses_all", steps });
  assert.equal(status, "SUCCESS", log);
  assert.match(log, /^same\n/m);
  assert.match(log, /^it is \*{14}$/m);
  const secret = [
    VALUE,
    Buffer.from(VALUE).toString("base64").slice(0, 20),
    Buffer.from(VALUE).toString("hex"),
    encodeURIComponent(VALUE),
  ];
  const shown = [log, JSON.stringify(await detail()), await dumpOf(platform), logged.join("\n")];
  const audits = await platform.send("POST", "/audit/api/audits/list?pageSize=100", {
    contentType: JSON_TYPE,
    body: "{}",
  });
  for (const all of [...shown, audits.text])
    for (const part of secret)
      assert.ok(
        !all.includes(part),
        `${part} in ${all.slice(Math.max(0, all.indexOf(part) - 200), all.indexOf(part) + 50)}`,
      );
  assert.ok(log.split(MASK).length > 6, log);
  const kept = (await dumpOf(platform))
    .split("\n")
    .filter((row) => row.startsWith("tasks ") || row.startsWith("executions "));
  assert.ok(
    kept.some((row) => row.includes("account.server_password")),
    "tasks and plans keep the name",
  );
});

test("10 MiB arrive complete, and Secret variables and inherited scopes work", async () => {
  const content = randomBytes(10 * 1024 * 1024);
  await file("large_file", content);
  const { createHash } = await import("node:crypto");
  const script = `sha256sum <<+secrets.getAsFile("account.large_file")>`;
  const { status, log } = await run({ id: "large", steps: [{ id: "x", script }] });
  assert.equal(status, "SUCCESS", log);
  assert.equal(log.split(" ")[0], createHash("sha256").update(content).digest("hex"));
});

test("the example uses all forms and shows no value", async () => {
  await text("api_token", `${VALUE}-token`);
  await text("db_password", `${VALUE}-db`);
  await file("tls_key", Buffer.from("a key of thirty bytes, not one\n"));
  const example = readFileSync(new URL("../../../examples/secrets/pipeline.yaml", import.meta.url), "utf8")
    .replace("projectIdentifier: quickstart", "projectIdentifier: p")
    .replace("serviceRef: web_shop", "serviceRef: s")
    .replace("environmentRef: staging", "environmentRef: e");
  const made = await platform.send("POST", `/pipeline/api/pipelines?${SCOPE}`, {
    contentType: "application/yaml",
    body: example,
  });
  assert.equal(made.status, 200, made.text);
  const id = await startRun(platform, "use_secrets");
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
  assert.equal(
    await logOf(platform, id),
    `token of ${VALUE.length + 6} characters\n31\nconnecting to postgres://shop:${MASK}@db/shop with ${MASK}\n`,
  );
});

test("outside of its usage scope a secret fails the step with its name and the reason; inside it works", async () => {
  await text("prod_only", `${VALUE}-prod`, prodOnly);
  await text("no_scope", `${VALUE}-none`, { scopedToAccount: true });
  const script = `echo "started ${asked("account.prod_only")}"`;
  const outside = await run({ id: "outside", steps: [{ id: "x", script }] });
  assert.equal(outside.status, "FAILED");
  assert.equal(outside.log, "");
  const failureInfo = (await outside.detail()).step("x")["failureInfo"];
  assert.match(
    failureInfo.message,
    /secret \[prod_only\] may not be used here: the run's environment \[e\] \(not production\) is outside its usage scope/,
  );
  assert.deepEqual(failureInfo.failureTypeList, ["AUTHORIZATION_ERROR"]);
  const unscoped = await run({
    id: "unscoped",
    steps: [{ id: "x", script: `echo ${asked("account.no_scope")}` }],
  });
  assert.match(
    (await unscoped.detail()).step("x")["failureInfo"].message,
    /secret \[no_scope\] may not be used here: it has no usage scope/,
  );
  await platform.platform.sweep();
  const told = await platform.db.query(
    `select operation, code, status, resource_type, resource_id, org_identifier, project_identifier, actor_kind
       from audit_entries where outcome = 'refused' order by resource_id`,
  );
  const refusal = { operation: "secret.deliver", code: "secret.use_refused", status: 403, resource_type: "SECRET" };
  const by = { org_identifier: null, project_identifier: null, actor_kind: "delegate" };
  assert.deepEqual(told, [
    { ...refusal, resource_id: "no_scope", ...by },
    { ...refusal, resource_id: "prod_only", ...by },
  ]);
  const inside = await run({ id: "inside", steps: [{ id: "x", script }], environment: "prod" });
  assert.equal(inside.status, "SUCCESS");
  assert.equal(inside.log, `started ${MASK}\n`);
});

test("the usage scope counts at the time of use, also after the environment has changed its type", async () => {
  const change = (type: string) =>
    platform.send("PUT", "/ng/api/environmentsV2", {
      contentType: JSON_TYPE,
      body: JSON.stringify({
        name: "Prod",
        identifier: "prod",
        type,
        orgIdentifier: "default",
        projectIdentifier: "p",
      }),
    });
  assert.equal((await change("PreProduction")).status, 200);
  const id = await startRun(platform, "inside");
  assert.equal(await waitForEnd(platform, id), "FAILED");
  assert.equal((await change("Production")).status, 200);
  assert.equal(await waitForEnd(platform, await startRun(platform, "inside")), "SUCCESS");
});

test("an output variable with a secret fails its step and is readable nowhere", async () => {
  const steps = [{ id: "x", script: `TOKEN="x${asked("account.server_password")}"`, outputs: ["TOKEN"] }];
  const { status, detail } = await run({ id: "tells", steps });
  assert.equal(status, "FAILED");
  const found = await detail();
  assert.match(found.step("x")["failureInfo"].message, /its output variable 'TOKEN' holds a secret; none was taken/);
  assert.ok(!JSON.stringify(found).includes(VALUE));
});

test("a value too large for a variable is refused by name and size before anything is sent", async () => {
  await text("huge", "x".repeat(140_000));
  const { status, detail } = await run({ id: "huge", steps: [{ id: "x", script: `echo ${asked("account.huge")}` }] });
  assert.equal(status, "FAILED");
  assert.match(
    (await detail()).step("x")["failureInfo"].message,
    /\[account\.huge\] has 140000 bytes.*use secrets\.getAsFile/,
  );
});

/** Connects a pretend delegate and reads the welcome. Each identity has its own name. */
async function pretend(more: { identity?: string; holds?: { task: string; epoch: number }[] } = {}) {
  const identity = more.identity ?? newIdentity();
  const name = `pretend-${identity.slice(0, 8)}`;
  const token = await platform.delegateToken();
  const made = await pretendDelegate({ url: platform.url, token, tags: ["pretend"], ...more, name, identity });
  return { ...made, welcome: await made.next("welcome") };
}

const held = (id: string, name: string): PipelineSketch => ({
  id,
  steps: [{ id: "x", script: `echo ${asked(name)}`, selectors: ["pretend"] }],
});

test("secrets are unsealed when a delegate takes the task; a secret deleted before fails the step clearly", async () => {
  await text("short_lived", VALUE);
  await addPipeline(platform, held("waits", "account.short_lived"));
  const id = await startRun(platform, "waits");
  const named = await platform.send("DELETE", "/ng/api/v2/secrets/short_lived");
  assert.match(named.text, /pipeline waits of project p/);
  const forced = await platform.send("DELETE", "/ng/api/v2/secrets/short_lived?forceDelete=true");
  assert.equal(forced.status, 200, forced.text);
  const taker = await pretend();
  assert.equal((await taker.next("drop")).kind, "drop");
  assert.equal(await waitForEnd(platform, id), "FAILED");
  const failureInfo = (await detailOf(platform, id)).step("x")["failureInfo"];
  assert.match(failureInfo.message, /Secret 'account\.short_lived' was deleted after the execution started/);
  assert.deepEqual(taker.waiting(), []);
  await taker.close();
});

test("a delegate gets the value that a secret has at the time of use, not at the start", async () => {
  const secretId = await text("changes", "before-the-change");
  await addPipeline(platform, held("changing", "account.changes"));
  const id = await startRun(platform, "changing");
  await mutate(
    UPDATE,
    { secretId, secretType: "ENCRYPTED_TEXT", encryptedText: { value: "after-the-change" } },
    "updateSecret",
  );
  const taker = await pretend();
  const piece = await taker.next("secret");
  assert.equal(Buffer.from(piece.data, "base64").toString(), "after-the-change");
  taker.finish(await taker.next("run"));
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
  await taker.close();
});

test("a running task gets no secret again; a task that never started gets all secrets, and its script once", async () => {
  await addPipeline(platform, held("twice", "account.server_password"));
  const identity = newIdentity();
  const first = await pretend({ identity });
  const id = await startRun(platform, "twice");
  await first.next("secret");
  await first.next("run");
  await first.cut();
  const never = await pretend({ identity });
  const again = await never.next("secret");
  const { task, epoch } = await never.next("run");
  assert.deepEqual([again.task, again.epoch], [task, epoch]);
  await never.cut();
  const holds = await pretend({ identity, holds: [{ task, epoch }] });
  assert.deepEqual(holds.welcome.keep, [{ task, epoch, offset: 0 }]);
  holds.finish({ task, epoch });
  await holds.next("finishedAck");
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
  assert.deepEqual(holds.waiting(), []);
  await holds.close();
});

test("a task that has ended before its secrets were sent gets none", async () => {
  await addPipeline(platform, held("aborted", "account.server_password"));
  const id = await startRun(platform, "aborted");
  assert.equal((await abortRun(platform, id)).status, 200);
  const taker = await pretend();
  assert.equal(await waitForEnd(platform, id), "ABORTED");
  assert.deepEqual(taker.waiting(), []);
  await taker.close();
});

test("a secret whose stored content was changed fails the step, without endless retries", async () => {
  await text("damaged", VALUE);
  await addPipeline(platform, held("reads_damaged", "account.damaged"));
  await platform.db.query(
    `update secret_chunks set sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1)
      where content_id in (select c.id from secret_contents c join secrets s on s.account_id = c.account_id and s.id = c.secret_id
                            where s.name = 'damaged' and s.account_id is not null)`,
  );
  const taker = await pretend();
  const id = await startRun(platform, "reads_damaged");
  assert.equal(await waitForEnd(platform, id), "FAILED");
  assert.match((await detailOf(platform, id)).step("x")["failureInfo"].message, /secret \[damaged\] cannot be opened/);
  await taker.close();
});
