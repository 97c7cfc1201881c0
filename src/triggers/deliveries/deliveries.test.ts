/** The deliveries of a trigger: listed, read, replayed and followed, on two servers with one database. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { eventsOf, type StreamEvent } from "../../../test/support/clients/event-stream.ts";
import { openStream } from "../../../test/support/clients/follower.ts";
import {
  create,
  createTargets,
  JSON_TYPE,
  made,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
  YAML,
} from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { until } from "../../../test/support/until.ts";

let platform: TestPlatform;
let replica: TestPlatform;
const SHOP = { orgIdentifier: "default", projectIdentifier: "shop" };

before(async () => {
  platform = await startTestPlatform();
  replica = await platform.replica();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, pipelineYaml("deploy", "<+trigger.payload.tag>")));
});
after(() => platform?.stop());

let count = 0;

/** A new trigger, and the address of its webhook. */
async function createHook(): Promise<{ readonly identifier: string; readonly webhookUrl: string }> {
  const identifier = `hook${(count += 1)}`;
  const { webhookUrl } = await made(create.trigger(platform, "deploy", triggerYaml("deploy", identifier)));
  return { identifier, webhookUrl };
}

/** Calls the webhook; returns the id of the event. */
async function call(
  webhookUrl: string,
  payload: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const body = JSON.stringify(payload);
  const response = await fetch(webhookUrl, {
    method: "POST",
    body,
    headers: { "content-type": JSON_TYPE, ...headers },
  });
  const { data } = (await response.json()) as { readonly data: { readonly eventCorrelationId: string } };
  return data.eventCorrelationId;
}

const pathOf = (identifier: string, below = ""): string =>
  `/pipeline/api/triggers/${identifier}/deliveries${below}?${SCOPE}&targetIdentifier=deploy`;

type Row = {
  readonly eventId: string;
  readonly status: string | null;
  readonly planExecutionId: string | null;
  readonly replayOf: string | null;
  readonly canReplay: boolean;
  readonly payloadBytes: number;
  readonly message: string;
};
type Page = { readonly content: readonly Row[]; readonly nextPageToken: string | null };

const list = (identifier: string, more = ""): Promise<Page> => made(platform.send("GET", pathOf(identifier) + more));

/** The rows, once all events are processed. */
const processed = async (identifier: string): Promise<readonly Row[]> =>
  (
    await until(
      () => list(identifier),
      ({ content }) => content.every(({ status }) => status !== null),
    )
  ).content;

const replay = (identifier: string, eventId: string, apiKey = platform.apiKey): Promise<Answer> =>
  platform.send("POST", pathOf(identifier, `/${eventId}/replay`), { apiKey });

const ids = (rows: readonly Row[]): readonly string[] => rows.map(({ eventId }) => eventId);

async function change(identifier: string, more: string): Promise<void> {
  const path = `/pipeline/api/triggers/${identifier}?${SCOPE}&targetIdentifier=deploy`;
  const body = triggerYaml("deploy", identifier, more);
  await made(platform.send("PUT", path, { contentType: YAML, body }));
}

test("deliveries are listed newest first, in pages, each with its result", async () => {
  const { identifier, webhookUrl } = await createHook();
  const other = await createHook();
  await call(other.webhookUrl, {});
  const sent: string[] = [];
  for (let nth = 0; nth < 5; nth += 1) sent.unshift(await call(webhookUrl, { tag: `v${nth}` }));
  const all = await processed(identifier);
  assert.deepEqual(ids(all), sent);
  for (const row of all) {
    assert.equal(row.status, "TARGET_EXECUTION_REQUESTED");
    assert.deepEqual([row.payloadBytes, row.canReplay, row.replayOf], [12, true, null]);
    const { status } = await platform.send("GET", `/pipeline/api/pipelines/execution/${row.planExecutionId}?${SCOPE}`);
    assert.equal(status, 200);
  }
  const pages: string[] = [];
  for (let token: string | null = ""; token !== null;) {
    const page: Page = await list(identifier, `&size=2${token === "" ? "" : `&pageToken=${token}`}`);
    pages.push(ids(page.content).join(" "));
    token = page.nextPageToken;
  }
  assert.deepEqual(pages, [sent.slice(0, 2).join(" "), sent.slice(2, 4).join(" "), sent[4]]);
  const { status, body } = await platform.send("GET", `${pathOf(identifier)}&pageToken=x`);
  assert.equal(status, 400);
  assert.match(body.message, /pageToken/);
});

test("a delivery has its headers, masked where they speak of secrets, and the beginning of its body", async () => {
  const { identifier, webhookUrl } = await createHook();
  const headers = {
    "x-event": "push",
    "x-hub-signature-256": "sha256=abc",
    "x-gitlab-token": "glpat",
    authorization: "Bearer x",
  };
  const eventId = await call(webhookUrl, { tag: "v1", text: "x".repeat(70_000) }, headers);
  await processed(identifier);
  const found = await made(platform.send("GET", pathOf(identifier, `/${eventId}`)));
  assert.equal(found.headers["x-event"], "push");
  assert.equal(found.headers["x-hub-signature-256"], "********");
  assert.equal(found.headers["x-gitlab-token"], "********");
  assert.ok(!("authorization" in found.headers) && !("X-Event" in found.headers), JSON.stringify(found.headers));
  assert.deepEqual([found.payload.length, found.isPayloadComplete], [65_536, false]);
  const small = await call(webhookUrl, { tag: "v2" });
  const whole = await made(platform.send("GET", pathOf(identifier, `/${small}`)));
  assert.deepEqual([whole.payload, whole.isPayloadComplete], ['{"tag":"v2"}', true]);
  const other = await createHook();
  assert.equal((await platform.send("GET", pathOf(other.identifier, `/${small}`))).status, 404);
});

test("a replay repeats body and headers in a new event, and is in the audit trail", async () => {
  const { identifier, webhookUrl } = await createHook();
  const eventId = await call(webhookUrl, { tag: "v7" }, { "x-event": "push" });
  const { eventCorrelationId } = await made(replay(identifier, eventId));
  const [newest, oldest] = await processed(identifier);
  assert.deepEqual([newest?.eventId, newest?.replayOf, oldest?.eventId], [eventCorrelationId, eventId, eventId]);
  assert.equal(newest?.status, "TARGET_EXECUTION_REQUESTED");
  assert.notEqual(newest?.planExecutionId, oldest?.planExecutionId);
  const [first, second] = await Promise.all(
    [eventId, eventCorrelationId].map(async (id) => made(platform.send("GET", pathOf(identifier, `/${id}`)))),
  );
  assert.deepEqual([second.payload, second.headers], [first.payload, first.headers]);
  const rows = await platform.db.query<{ difference: unknown; actor: string }>(
    "select difference::text as difference from audit_entries where resource_id = $1 and operation = 'trigger.replay'",
    [`deploy/${identifier}`],
  );
  assert.equal(rows.length, 1);
  assert.match(String(rows[0]?.difference), new RegExp(`${eventCorrelationId}.*${eventId}`));
});

test("what cannot be replayed is refused by name, and nothing is stored", async () => {
  const { identifier, webhookUrl } = await createHook();
  const stored = await call(webhookUrl, { tag: "v1" });
  await processed(identifier);
  await change(identifier, "  enabled: false\n");
  const dropped = await call(webhookUrl, { tag: "v2" });
  const [row] = await processed(identifier);
  assert.deepEqual([row?.eventId, row?.status, row?.canReplay], [dropped, "TRIGGER_DISABLED", false]);
  const disabled = await replay(identifier, stored);
  assert.equal(disabled.status, 402);
  assert.match(disabled.body.message, /is disabled/);
  await change(identifier, "");
  const empty = await replay(identifier, dropped);
  assert.equal(empty.status, 402);
  assert.match(empty.body.message, /was not stored/);
  const other = await createHook();
  assert.equal((await replay(other.identifier, stored)).status, 404);
  assert.equal((await processed(identifier)).length, 2);
});

test("who may view and not run the pipeline reads deliveries and replays none", async () => {
  const { identifier, webhookUrl } = await createHook();
  const eventId = await call(webhookUrl, { tag: "v1" });
  const viewer = await platform.addUser("_project_viewer", SHOP);
  const read = await platform.send("GET", pathOf(identifier, `/${eventId}`), { apiKey: viewer });
  assert.equal(read.status, 200);
  assert.equal((await replay(identifier, eventId, viewer)).status, 403);
  const stranger = await platform.addAccount();
  for (const below of ["", `/${eventId}`, "/events"]) {
    const path = `${pathOf(identifier, below)}&accountIdentifier=${stranger.accountId}`;
    const { status } = await platform.send("GET", path, { apiKey: stranger.apiKey });
    assert.ok(status === 403 || status === 404, `${below} ${status}`);
  }
});

type Client = { readonly rows: Map<string, Row>; readonly events: string[]; readonly read: () => Promise<boolean> };
const open: AsyncGenerator<StreamEvent>[] = [];
afterEach(async () => {
  for (const stream of open.splice(0)) await stream.return(undefined);
});

/** A page that shows the deliveries as docs/api/executions.md says. */
async function follow(on: TestPlatform, identifier: string): Promise<Client> {
  const { response } = await openStream(on, pathOf(identifier, "/events"));
  assert.equal(response.status, 200);
  const stream = eventsOf(response);
  open.push(stream);
  const rows = new Map<string, Row>();
  const events: string[] = [];
  return {
    rows,
    events,
    async read() {
      const next = await stream.next();
      if (next.done) return false;
      const { event, data } = next.value;
      events.push(event);
      if (event === "snapshot") rows.clear();
      for (const row of data.content as readonly Row[]) rows.set(row.eventId, row);
      return true;
    },
  };
}

async function readUntil(client: Client, isThere: () => boolean): Promise<void> {
  while (!isThere()) assert.ok(await client.read(), "the stream ended");
}

test("followers on both servers see each delivery come and be processed", async () => {
  const { identifier, webhookUrl } = await createHook();
  const earlier = await call(webhookUrl, { tag: "v0" });
  await processed(identifier);
  const clients = [await follow(platform, identifier), await follow(replica, identifier)];
  for (const client of clients) {
    await readUntil(client, () => client.rows.has(earlier));
    assert.deepEqual(client.events, ["snapshot"]);
  }
  const eventId = await call(webhookUrl, { tag: "v1" });
  for (const client of clients) {
    await readUntil(client, () => client.rows.get(eventId)?.status === "TARGET_EXECUTION_REQUESTED");
    assert.ok(client.events.slice(1).every((event) => event === "deliveries"));
    const listed = await list(identifier);
    assert.deepEqual(new Set(client.rows.keys()), new Set(ids(listed.content)));
    assert.deepEqual(client.rows.get(eventId), listed.content[0]);
  }
});

test("a follower that missed more than a page begins anew", async () => {
  const { identifier, webhookUrl } = await createHook();
  await call(webhookUrl, { tag: "v0" });
  await processed(identifier);
  const client = await follow(platform, identifier);
  await readUntil(client, () => client.events.length === 1);
  await platform.db.query(
    `insert into webhook_deliveries (account_id, id, correlation_id, trigger_id, headers, payload, received_at, processed_at, status, message)
     select t.account_id, uuidv7(), lpad(to_hex(nth), 24, '0'), t.id, '{}', '{}', 1, 1, 'TRIGGER_DISABLED', ''
       from triggers t, generate_series(1, 60) as nth where t.identifier = $1`,
    [identifier],
  );
  const eventId = await call(webhookUrl, { tag: "v1" });
  await readUntil(client, () => client.rows.has(eventId));
  assert.deepEqual(client.events.slice(0, 2), ["snapshot", "snapshot"]);
  assert.equal(client.rows.size, 50);
});

test("the stream ends with the trigger", async () => {
  const { identifier } = await createHook();
  const client = await follow(platform, identifier);
  await readUntil(client, () => client.events.length === 1);
  await made(platform.send("DELETE", `/pipeline/api/triggers/${identifier}?${SCOPE}&targetIdentifier=deploy`));
  assert.equal(await client.read(), false);
});
