/** Webhooks from outside: made, called, refused, and looked after. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  eventually,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
} from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { rawRequest } from "../../../test/support/clients/raw-http.ts";
import type { Db } from "../../platform/db/db.ts";

let platform: TestPlatform;
let webhookUrl: string;
/** While set, matching statements of the platform fail with an unexpected error. */
let poison: RegExp | undefined;
let poisonings: readonly string[] = [];

const poisoned =
  (query: Db["query"]): Db["query"] =>
  async (text, values) => {
    if (poison?.test(text)) {
      poisonings = [...poisonings, text];
      throw new Error("poison");
    }
    return query(text, values);
  };
const wrapDb = (db: Db): Db => ({
  ...db,
  query: poisoned(db.query),
  transaction: (work) => db.transaction((tx) => work({ ...tx, query: poisoned(tx.query) })),
});

before(async () => {
  platform = await startTestPlatform({ wrapDb });
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(
    create.pipeline(platform, pipelineYaml("deploy", '<+trigger.payload.a.b[0]> <+trigger.header["X-Event"]>')),
  );
  const trigger = await made(create.trigger(platform, "deploy", triggerYaml()));
  ({ webhookUrl } = trigger);
});
after(() => platform?.stop());

const PAYLOAD = '{"a":{"b":["v1"]}}';
type Sent = { readonly status: number; readonly body: Answer["body"]; readonly text: string };
async function call(
  payload: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  url = webhookUrl,
): Promise<Sent> {
  const body = payload as NonNullable<RequestInit["body"]>;
  const response = await fetch(url, { method: "POST", body, headers: { "x-event": "push", ...headers } });
  const text = await response.text();
  return { status: response.status, text, body: JSON.parse(text) };
}

type Row = {
  readonly status: string | null;
  readonly payload: string;
  readonly executionId: string | null;
  readonly headers: Record<string, string>;
  readonly message: string;
};
const rowOf = async (id: string): Promise<Row | undefined> =>
  (
    await platform.db.query<Row>(
      `select status, payload, message, headers, execution_id as "executionId" from webhook_deliveries where correlation_id = $1`,
      [id],
    )
  )[0];
const closed = (id: string): Promise<Row> =>
  eventually(async () => {
    const row = await rowOf(id);
    return row?.status ? row : undefined;
  });
const total = async (table: string): Promise<number> =>
  Number((await platform.db.query<{ n: number }>(`select count(*) as n from ${table}`))[0]?.n);

test("a trigger: every field of the answer, and read back the same", async () => {
  const yaml = triggerYaml("deploy", "full", "  description: Called\n  tags: { a: b }\n");
  const data = await made(create.trigger(platform, "deploy", yaml));
  const { webhookUrl: url, ...rest } = data;
  assert.deepEqual(rest, {
    name: "Hook",
    identifier: "full",
    description: "Called",
    type: "Webhook",
    accountIdentifier: platform.accountId,
    orgIdentifier: "default",
    projectIdentifier: "shop",
    targetIdentifier: "deploy",
    yaml,
    version: 1,
    enabled: true,
    errors: {},
    errorResponse: false,
  });
  assert.ok(url.startsWith(`${platform.url}/gateway/pipeline/api/webhook/custom/${platform.accountId}`));
  const read = await platform.send("GET", `/pipeline/api/triggers/full?${SCOPE}&targetIdentifier=deploy`);
  assert.deepEqual(read.body.data, data);
  const again = await create.trigger(platform, "deploy", yaml);
  assert.deepEqual([again.status, again.body.code], [400, "DUPLICATE_FIELD"]);
  for (const field of ["id", "accountId", "webhookUrl", "webhookToken", "createdAt"])
    assert.match(
      (await create.trigger(platform, "deploy", triggerYaml("deploy", "mass", `  ${field}: x\n`))).body.message,
      /Unknown field/,
    );
});

test("a call is stored before the complete answer, and runs once", async () => {
  const { status, body } = await call(PAYLOAD, { authorization: "Bearer theirs", cookie: "c=1", "x-api-key": "k" });
  assert.equal(status, 200);
  const { eventCorrelationId: id, ...rest } = body.data;
  assert.match(id, /^[0-9a-f]{24}$/);
  const details = `${platform.url}/gateway/pipeline/api/webhook/triggerExecutionDetails/${id}?accountIdentifier=${platform.accountId}`;
  assert.deepEqual(rest, { apiUrl: details, uiUrl: null, uiSetupUrl: null });
  assert.deepEqual([body.status, body.metaData], ["SUCCESS", null]);
  const row = await closed(id);
  assert.equal(row.payload, PAYLOAD);
  assert.equal(row.status, "TARGET_EXECUTION_REQUESTED");
  assert.equal(row.headers["X-Event"], "push");
  const kept = new Set(Object.keys(row.headers).map((name) => name.toLowerCase()));
  for (const name of ["authorization", "cookie", "x-api-key", "proxy-authorization"]) assert.ok(!kept.has(name), name);
  const [task] = await platform.db.query<{ work: { env: unknown } }>("select work from tasks where run_id = $1", [
    row.executionId,
  ]);
  assert.deepEqual(task?.work.env, [{ name: "VALUE", value: "v1 push" }]);
});

test("200 means that the delivery is stored; without storage there is no answer", async () => {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => void (release = resolve));
  const locked = Promise.withResolvers<void>();
  const lock = platform.db.transaction(async (tx) => {
    await tx.query("lock table webhook_deliveries in access exclusive mode");
    locked.resolve();
    await held;
  });
  await locked.promise;
  let answered = false;
  const sent = call(PAYLOAD).then((answer) => {
    answered = true;
    return answer;
  });
  await eventually(async () => {
    const waiting = await platform.db.query(
      "select 1 from pg_locks where not granted and relation = 'webhook_deliveries'::regclass",
    );
    return waiting[0];
  });
  await platform.send("GET", "/health/live");
  const early = answered;
  release();
  await lock;
  const { body } = await sent;
  assert.equal(early, false);
  assert.ok(await rowOf(body.data.eventCorrelationId));
  await closed(body.data.eventCorrelationId);
});

test("a wrong address gets the same 404 in every case, and stores nothing", async () => {
  const other = await platform.addAccount();
  const token = /custom\/([^/]+)\/v3/.exec(webhookUrl)?.[1] ?? "";
  const earlier = await total("webhook_deliveries");
  const bodies = new Set<string>();
  for (const wrong of [
    "x",
    token.slice(1),
    `${token}x`,
    `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`,
    `${other.accountId}${token.slice(22)}`,
    token.toUpperCase(),
    "%00",
  ]) {
    const { status, text, body } = await call(PAYLOAD, {}, webhookUrl.replace(token, wrong));
    assert.equal(status, 404, wrong);
    bodies.add(text.replaceAll(body.correlationId, ""));
  }
  assert.equal(bodies.size, 1);
  assert.equal(await total("webhook_deliveries"), earlier);
  const withoutPrefix = await call(PAYLOAD, {}, webhookUrl.replace("/gateway", "").split("?")[0]);
  assert.equal(withoutPrefix.status, 200, "the address serves without /gateway and without its query too");
  await closed(withoutPrefix.body.data.eventCorrelationId);
});

test("wrong names in the query get 404 like a wrong token, and store nothing", async () => {
  const other = await platform.addAccount();
  const earlier = await total("webhook_deliveries");
  const wrongToken = await call(PAYLOAD, {}, webhookUrl.replace("/v3", "x/v3"));
  for (const [name, value] of Object.entries({
    accountIdentifier: other.accountId,
    routingId: other.accountId,
    orgIdentifier: "other",
    projectIdentifier: "",
    pipelineIdentifier: "deploy2",
    triggerIdentifier: "Hook",
  })) {
    const url = new URL(webhookUrl);
    url.searchParams.set(name, value);
    const { status, body } = await call(PAYLOAD, {}, url.href);
    assert.deepEqual([status, body.message], [404, wrongToken.body.message], name);
  }
  assert.equal(await total("webhook_deliveries"), earlier);
});

test("a number beyond exact representation reaches the script with all digits", async () => {
  const { body } = await call('{"a":{"b":[12345678901234567890]}}');
  const { executionId } = await closed(body.data.eventCorrelationId);
  const [task] = await platform.db.query<{ work: { env: unknown } }>("select work from tasks where run_id = $1", [
    executionId,
  ]);
  assert.deepEqual(task?.work.env, [{ name: "VALUE", value: "12345678901234567890 push" }]);
});

test("conditions and stages that a trigger chooses are refused by their names", async () => {
  for (const [name, more] of [
    ["stagesToExecute", "  stagesToExecute: [a, b]\n"],
    ["pipelineBranchName", "  pipelineBranchName: a\n"],
  ] as const) {
    const { status, body } = await create.trigger(platform, "deploy", triggerYaml("deploy", "some", more));
    assert.equal(status, 400);
    assert.match(body.message, new RegExp(`trigger\\.${name}: '${name}' is not supported yet, at line \\d+, column 3`));
    assert.equal(body.metadata.schemaErrors.length, 1);
  }
});

test("payloads that are not JSON, too deep or not UTF-8 are rejected and not stored", async () => {
  const earlier = await total("webhook_deliveries");
  const bad: readonly (string | Uint8Array)[] = [
    "",
    "{",
    "x",
    "{'a':1}",
    '{"a":1,"a":2}',
    '{"a":{"b":1,"\\u0062":2}}',
    "NaN",
    '{"a":1} x',
    "\0",
    Uint8Array.of(0x22, 0xff, 0x22),
    Uint8Array.of(0xef, 0xbb, 0xbf, 0x31),
    "[".repeat(65) + "]".repeat(65),
    "[".repeat(100_000),
  ];
  for (const payload of bad) {
    const { status, body } = await call(payload);
    assert.deepEqual([status, body.code], [400, "INVALID_REQUEST"], String(payload).slice(0, 20));
  }
  const form = new FormData();
  form.set("payload", PAYLOAD);
  assert.equal((await fetch(webhookUrl, { method: "POST", body: form })).status, 400);
  assert.equal(await total("webhook_deliveries"), earlier);
});

test("a payload of 1 MiB is accepted, one byte more is rejected, and a larger Content-Length is not read", async () => {
  const sized = (bytes: number): string => `${PAYLOAD.slice(0, -1)},"pad":"${"x".repeat(bytes - PAYLOAD.length - 9)}"}`;
  const fits = await call(sized(1_048_576));
  assert.equal(fits.status, 200, fits.text.slice(0, 300));
  await closed(fits.body.data.eventCorrelationId);
  assert.equal((await call(sized(1_048_577))).status, 400);
  const { pathname } = new URL(webhookUrl);
  const head = [`POST ${pathname} HTTP/1.1`, "host: x", "content-length: 1048577"];
  assert.equal((await rawRequest(platform.url, head)).status, 400);
});

test("strings that databases or shells cannot store are stored or rejected, without a failure", async () => {
  for (const value of ["\\u0000", "a\\u0000b", "\\ud800", "\\ufffe", "\\u001b[2J"]) {
    const { status, body } = await call(`{"a":{"b":["${value}"]},"__proto__":{"x":1}}`);
    assert.ok([200, 400].includes(status), value);
    if (status === 400) continue;
    const { status: fate } = await closed(body.data.eventCorrelationId);
    assert.ok(["TARGET_EXECUTION_REQUESTED", "INVALID_RUNTIME_INPUT_YAML"].includes(String(fate)), `${value}: ${fate}`);
  }
});

test("an unpaired surrogate in a payload is rejected; complete characters are stored", async () => {
  const earlier = await total("webhook_deliveries");
  for (const payload of [
    '{"a":"\\ud800"}',
    '{"\\udc00":1}',
    '{"tag":"x","__proto__":"\\uD800"}',
    '["\\udc00\\ud83d"]',
  ]) {
    const { status, body } = await call(payload);
    assert.equal(status, 400, payload);
    assert.match(body.message, /half of a character/);
  }
  assert.equal(await total("webhook_deliveries"), earlier);
  const { status, body } = await call('{"tag":"\\ud83d\\ude00","path":"C:\\\\ud800"}');
  assert.equal(status, 200);
  const { status: fate } = await closed(body.data.eventCorrelationId);
  assert.ok(["TARGET_EXECUTION_REQUESTED", "INVALID_RUNTIME_INPUT_YAML"].includes(String(fate)), String(fate));
});

test("a disabled trigger accepts calls and starts nothing", async () => {
  const { webhookUrl: url } = await made(
    create.trigger(platform, "deploy", triggerYaml("deploy", "off", "  enabled: false\n")),
  );
  const earlier = await total("executions");
  const { status, body } = await call(PAYLOAD, {}, url);
  assert.equal(status, 200);
  const row = await closed(body.data.eventCorrelationId);
  assert.deepEqual([row.status, row.executionId], ["TRIGGER_DISABLED", null]);
  assert.deepEqual([row.payload, row.headers], ["", {}], "neither body nor headers are stored");
  assert.equal(await total("executions"), earlier);
});

test("the fate of a delivery: by its id, with the right account only", async () => {
  const { body } = await call(PAYLOAD);
  const id: string = body.data.eventCorrelationId;
  await closed(id);
  const ask = (path: string, account: string | null = platform.accountId): Promise<Answer> =>
    platform.send("GET", `/gateway/pipeline/api/webhook/${path}`, { apiKey: null, account });
  const { data } = (await ask(`triggerExecutionDetails/${id}`)).body;
  const executionId = data.webhookProcessingDetails.pipelineExecutionId;
  assert.deepEqual(data.webhookProcessingDetails, {
    eventFound: true,
    eventId: id,
    accountIdentifier: platform.accountId,
    orgIdentifier: "default",
    projectIdentifier: "shop",
    triggerIdentifier: "hook",
    pipelineIdentifier: "deploy",
    pipelineExecutionId: executionId,
    exceptionOccured: false,
    status: "TARGET_EXECUTION_REQUESTED",
    message: "Pipeline execution was requested successfully",
    payload: PAYLOAD,
    eventCreatedAt: platform.clock.now(),
    runtimeInput: null,
  });
  assert.equal(data.executionDetails.pipelineExecutionSummary.planExecutionId, executionId);
  assert.deepEqual((await ask(`triggerProcessingDetails?eventId=${id}`)).body.data, data.webhookProcessingDetails);
  const other = await platform.addAccount();
  for (const account of [other.accountId, "x", "AAAAAAAAAAAAAAAAAAAAAA"]) {
    assert.equal((await ask(`triggerExecutionDetails/${id}`, account)).status, 404);
    assert.equal((await ask(`triggerProcessingDetails?eventId=${id}`, account)).status, 404);
  }
  for (const wrong of ["x", "0".repeat(24), id.toUpperCase()])
    assert.equal((await ask(`triggerExecutionDetails/${wrong}`)).status, wrong === id ? 200 : 404);
  for (const path of [`triggerExecutionDetails/${id}`, `triggerProcessingDetails?eventId=${id}`])
    assert.equal((await ask(path, null)).status, 400, "the account is required");
});

/** Calls while nothing can be processed; answers the ids of what is left waiting. */
async function leftBehind(count: number): Promise<readonly string[]> {
  poison = /update webhook_deliveries|insert into executions/;
  poisonings = [];
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push((await call(PAYLOAD)).body.data.eventCorrelationId);
  // Each one fails to start, with an update of its delivery, and then to be closed, with another one.
  await eventually(async () => {
    await platform.send("GET", "/health/live");
    return poisonings.filter((text) => text.startsWith("update")).length >= 2 * count || undefined;
  });
  poison = undefined;
  for (const id of ids) assert.equal((await rowOf(id))?.status, null);
  return ids;
}

test("the sweep processes pending deliveries exactly once, also two sweeps at the same time", async () => {
  const ids = await leftBehind(5);
  const earlier = await total("executions");
  await platform.platform.sweep();
  assert.equal(await total("executions"), earlier, "no sweep before the receiving replica had its time");
  platform.clock.advance(2_001);
  const second = await platform.replica();
  await Promise.all([platform.platform.sweep(), second.platform.sweep(), platform.platform.sweep()]);
  await platform.platform.sweep();
  await second.stop();
  assert.equal(await total("executions"), earlier + ids.length);
  for (const id of ids) assert.equal((await rowOf(id))?.status, "TARGET_EXECUTION_REQUESTED");
});

test("a delivery whose processing fails unexpectedly is closed, and the ones after it go on", async () => {
  const [poor = ""] = await leftBehind(1);
  const [next = ""] = await leftBehind(1);
  platform.clock.advance(2_001);
  const correlated = await platform.db.query<{ id: string }>(
    "select id from webhook_deliveries where correlation_id = $1",
    [poor],
  );
  await platform.db.query(
    "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'poison'; end $$",
  );
  await platform.db.query(
    `create trigger refuse before update on webhook_deliveries for each row
       when (new.status = 'TARGET_EXECUTION_REQUESTED' and new.id = '${correlated[0]?.id}') execute function refuse()`,
  );
  const earlier = await total("executions");
  await platform.platform.sweep();
  await platform.db.query("drop trigger refuse on webhook_deliveries");
  const row = await rowOf(poor);
  assert.deepEqual([row?.status, row?.executionId], ["EXCEPTION_WHILE_PROCESSING", null]);
  assert.doesNotMatch(String(row?.message), /poison/);
  assert.equal((await rowOf(next))?.status, "TARGET_EXECUTION_REQUESTED");
  assert.equal(await total("executions"), earlier + 1, "of the first one nothing was left half done");
});

test("a viewer sees the trigger, but not the address that would let them start the pipeline", async () => {
  const apiKey = await platform.addUser("_account_viewer");
  const seen = await platform.send("GET", `/pipeline/api/triggers/full?${SCOPE}&targetIdentifier=deploy`, { apiKey });
  assert.equal(seen.status, 200);
  assert.equal(seen.body.data.webhookUrl, null);
});
