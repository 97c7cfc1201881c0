/** Triggers changed, listed and deleted; what is stored for one, and on which server, while that happens. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  eventually,
  JSON_TYPE,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
  YAML,
} from "../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";
import { fromWire } from "../core/ids.ts";
import { createSealer } from "../platform/crypto/seal.ts";
import type { Db } from "../platform/db/db.ts";
import { createSealedTokens } from "./index.ts";

let platform: TestPlatform;
let replica: TestPlatform;

/** The next statement that matches waits, and says so. */
type Gate = { readonly at: RegExp; readonly reached: () => void; readonly open: Promise<void> };
let gate: Gate | undefined;

const gated =
  (query: Db["query"]): Db["query"] =>
  async (text, values) => {
    const closed = gate?.at.test(text) ? gate : undefined;
    if (closed) {
      gate = undefined;
      closed.reached();
      await closed.open;
    }
    return query(text, values);
  };
const wrapDb = (db: Db): Db => ({
  ...db,
  query: gated(db.query),
  transaction: (work) => db.transaction((tx) => work({ ...tx, query: gated(tx.query) })),
});

/** Lets `meanwhile` happen while the first statement that matches, of what `begun` does, waits. */
async function during<T>(
  at: RegExp,
  begun: () => Promise<T>,
  meanwhile: (result: Promise<T>) => Promise<unknown>,
): Promise<T> {
  let isReached = false;
  const { promise: open, resolve } = Promise.withResolvers<void>();
  gate = { at, reached: () => void (isReached = true), open };
  const result = begun();
  try {
    await eventually(async () => {
      await platform.send("GET", "/health/live");
      return isReached || undefined;
    });
    await meanwhile(result);
  } finally {
    gate = undefined;
    resolve();
  }
  return result;
}
const TAKES = /^with held as/;

before(async () => {
  platform = await startTestPlatform({ wrapDb });
  replica = await platform.replica();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, pipelineYaml("deploy")));
});
after(() => platform?.stop());

type Asked = {
  readonly body?: string;
  readonly version?: number;
  readonly apiKey?: string;
  readonly on?: TestPlatform;
};
const ask = (
  method: string,
  rest: string,
  { body, version, apiKey, on = platform }: Asked = {},
  type = YAML,
): Promise<Answer> => {
  const [path = "", query = ""] = rest.split("?");
  return on.send(method, `/pipeline/api/triggers${path}?${SCOPE}&targetIdentifier=deploy&${query}`, {
    ...(body === undefined ? {} : { body, contentType: type }),
    ...(version === undefined ? {} : { headers: { "if-match": `${version}` } }),
    ...(apiKey === undefined ? {} : { apiKey }),
  });
};
const refused = async (answer: Promise<Answer>) => {
  const { status, body } = await answer;
  return [status, body.code, body.message];
};
const newHook = async (identifier: string, more = ""): Promise<string> =>
  (await made(create.trigger(platform, "deploy", triggerYaml("deploy", identifier, more)))).webhookUrl;
const OFF = "  enabled: false\n";
const stop = (identifier: string, on = replica): Promise<unknown> =>
  made(ask("PUT", `/${identifier}`, { body: triggerYaml("deploy", identifier, OFF), on }));

async function call(url: string, on = platform): Promise<Answer> {
  const { pathname, search } = new URL(url);
  return on.send("POST", pathname + search, { body: "{}", contentType: JSON_TYPE, apiKey: null });
}
type Row = { readonly status: string | null; readonly executionId: string | null; readonly message: string };
async function rowOf(id: string): Promise<Row | undefined> {
  const rows = await platform.db.query<Row>(
    `select status, message, execution_id as "executionId" from webhook_deliveries where correlation_id = $1`,
    [id],
  );
  return rows[0];
}
const closed = (id: string): Promise<Row> =>
  eventually(async () => {
    const row = await rowOf(id);
    return row?.status ? row : undefined;
  });
const runs = async (): Promise<number> =>
  Number((await platform.db.query<{ n: number }>("select count(*) as n from executions"))[0]?.n);
const auditOf = (identifier: string) =>
  platform.db.query<{ operation: string; difference: unknown }>(
    "select operation, difference from audit_entries where resource_id = $1 order by id",
    [`deploy/${identifier}`],
  );

test("a replacement: version and document are new, the webhook is the one that it was", async () => {
  const url = await newHook("kept");
  const body = triggerYaml("deploy", "kept", "  description: Anew\n  tags: { a: b }\n").replace("Hook", "Another");
  const saved = await made(ask("PUT", "/kept", { body }));
  assert.deepEqual(
    [saved.version, saved.name, saved.description, saved.yaml, saved.webhookUrl],
    [2, "Another", "Anew", body, url],
  );
  const read = await ask("GET", "/kept");
  assert.deepEqual(read.body.data, saved);
  assert.equal(read.headers.get("etag"), '"2"');
  const { body: called } = await call(url);
  assert.equal((await closed(called.data.eventCorrelationId)).status, "TARGET_EXECUTION_REQUESTED");
  const [, changed] = await auditOf("kept");
  assert.equal(changed?.operation, "trigger.update");
  assert.match(JSON.stringify(changed?.difference), /Hook.*Another|Another.*Hook/);
});

test("a replacement needs the version that was read; of several writers one wins", async () => {
  await newHook("raced");
  const body = triggerYaml("deploy", "raced");
  await made(ask("PUT", "/raced", { body, version: 1 }));
  assert.deepEqual(await refused(ask("PUT", "/raced", { body, version: 1 })), [
    402,
    "OPTIMISTIC_LOCKING_EXCEPTION",
    "Trigger [raced] has been changed meanwhile: it is at version 2, the request is for version 1.",
  ]);
  const on = [platform, replica, platform];
  const raced = await Promise.all(on.map((one) => ask("PUT", "/raced", { body, version: 2, on: one })));
  assert.deepEqual(
    raced.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 402, 402],
  );
  assert.equal((await refused(ask("DELETE", "/raced", { version: 2 })))[0], 402);
  assert.equal((await made(ask("GET", "/raced"))).version, 3);
});

test("a trigger with another identifier, another or a missing pipeline, or an invalid document is rejected", async () => {
  await newHook("firm");
  const other = await ask("PUT", "/firm", { body: triggerYaml("deploy", "other") });
  assert.deepEqual(
    [other.status, other.body.code, other.body.metadata.schemaErrors[0].fqn],
    [400, "INVALID_REQUEST", "trigger.identifier"],
  );
  assert.equal(other.body.message, "The identifier in the document [other] is not the one in the address [firm].");
  assert.match(String((await refused(ask("PUT", "/firm", { body: triggerYaml("elsewhere", "firm") })))[2]), /pipeline/);
  assert.deepEqual(await refused(ask("PUT", "/none", { body: triggerYaml("deploy", "none") })), [
    404,
    "RESOURCE_NOT_FOUND_EXCEPTION",
    "Trigger with identifier [none] not found for pipeline [deploy].",
  ]);
  const unsupported = triggerYaml("deploy", "firm", "  stagesToExecute: [a]\n");
  assert.match(String((await refused(ask("PUT", "/firm", { body: unsupported })))[2]), /is not supported yet/);
  assert.equal((await made(ask("GET", "/firm"))).version, 1);
});

test("JSON with tabs, which YAML does not allow, is stored in a form that every reader accepts", async () => {
  const trigger = {
    name: "Tabs",
    identifier: "tabs",
    orgIdentifier: "default",
    projectIdentifier: "shop",
    source: { type: "Webhook", spec: { type: "Custom" } },
  };
  const body = JSON.stringify({ trigger }, null, "\t");
  const { webhookUrl } = await made(create.trigger(platform, "deploy", body, JSON_TYPE));
  const { yaml } = await made(ask("PUT", "/tabs", { body }, JSON_TYPE));
  assert.doesNotMatch(yaml, /\t/);
  const { body: called } = await call(webhookUrl);
  assert.equal((await closed(called.data.eventCorrelationId)).status, "TARGET_EXECUTION_REQUESTED");
});

test("a deleted trigger: no webhook, no row of a list, its identifier free; what it started stays", async () => {
  const url = await newHook("leaving");
  const { body: called } = await call(url);
  const { executionId } = await closed(called.data.eventCorrelationId);
  assert.ok(executionId);
  assert.equal(await made(ask("DELETE", "/leaving")), true);
  assert.equal((await refused(ask("DELETE", "/leaving")))[0], 404);
  const nowhere = await call(url.replace("/v3", "x/v3"));
  for (const on of [platform, replica]) {
    const { status, body } = await call(url, on);
    assert.deepEqual([status, body.message], [404, nowhere.body.message]);
    for (const path of ["/leaving", "/leaving/details"])
      assert.equal((await ask("GET", path, { on })).status, 404, path);
    assert.equal((await ask("PUT", "/leaving", { body: triggerYaml("deploy", "leaving"), on })).status, 404);
  }
  assert.equal((await made(ask("GET", "?searchTerm=leaving"))).totalItems, 0);
  const fate = await platform.send(
    "GET",
    `/pipeline/api/webhook/triggerExecutionDetails/${called.data.eventCorrelationId}`,
    { apiKey: null },
  );
  assert.equal(fate.body.data.webhookProcessingDetails.triggerIdentifier, "leaving");
  assert.ok(fate.body.data.executionDetails.pipelineExecutionSummary.planExecutionId);
  const rows = await platform.db.query("select token_hash, token_sealed from triggers where identifier = 'leaving'");
  assert.deepEqual(rows, [{ token_hash: null, token_sealed: null }]);
  assert.notEqual(await newHook("leaving"), url, "its namesake has a webhook of its own");
  assert.equal((await call(url)).status, 404);
  const operations = (await auditOf("leaving")).map(({ operation }) => operation);
  assert.deepEqual(operations, ["trigger.create", "trigger.delete", "trigger.create"]);
});

test("tokens of deleted triggers are neither verified nor sealed again", async () => {
  const accountId = fromWire(platform.accountId);
  assert.ok(accountId);
  const sealer = createSealer(platform.keys, "webhook tokens");
  const sealed = createSealedTokens({ db: platform.db, sealer, holdRootKey: async () => platform.keys.preferred.id });
  const [{ n } = { n: 0 }] = await platform.db.query<{ n: number }>(
    "select count(*) as n from triggers where deleted_at is null",
  );
  const swept = await Array.fromAsync(sealed.verify(accountId));
  assert.deepEqual(
    swept.map(({ done, failed }) => [done, failed]),
    [[n, []]],
  );
  assert.deepEqual(await sealed.countUnderOtherKeys(platform.db, accountId, [platform.keys.preferred.id]), []);
});

test("deleting a trigger closes its pending deliveries; an active delivery starts no run", async () => {
  const url = await newHook("waits");
  const earlier = await runs();
  let id = "";
  await during(
    TAKES,
    async () =>
      ({
        body: {
          data: { eventCorrelationId: id },
        },
      } = await call(url)),
    async () => {
      await made(ask("DELETE", "/waits", { on: replica }));
      const row = await rowOf(id);
      assert.deepEqual(
        [row?.status, row?.message],
        ["TRIGGER_DELETED", "Trigger waits was deleted before the event was processed."],
      );
    },
  );
  await platform.platform.sweep();
  platform.clock.advance(2_001);
  await platform.platform.sweep();
  assert.equal((await rowOf(id))?.status, "TRIGGER_DELETED");
  assert.equal(await runs(), earlier);
});

test("a call that comes while the trigger is being deleted is stored before it, or not at all", async () => {
  const url = await newHook("between");
  const before = await during(
    /^insert into webhook_deliveries/,
    () => call(url),
    () => made(ask("DELETE", "/between", { on: replica })),
  );
  assert.equal(before.status, 404, "it knew the trigger when that was there still");
  const again = await newHook("between");
  let called: Promise<Answer> | undefined;
  await during(
    /^update webhook_deliveries set processed_at = \$3, status = \$4, message = \$5, payload/,
    () => ask("DELETE", "/between", { on: replica }),
    async () => {
      called = call(again);
      await untilWaiting("insert into webhook_deliveries%");
    },
  );
  assert.equal((await called)?.status, 404);
  const left = await platform.db.query("select 1 from webhook_deliveries where processed_at is null");
  assert.deepEqual(left, []);
});

test("the sweep closes deliveries that an older server stored for a deleted trigger", async () => {
  await newHook("older");
  await made(ask("DELETE", "/older"));
  await platform.db.query(
    `insert into webhook_deliveries (account_id, id, correlation_id, trigger_id, headers, payload, received_at, message)
     select account_id, gen_random_uuid(), 'older', id, '{}', '{}', $1, '' from triggers where identifier = 'older'`,
    [platform.clock.now()],
  );
  platform.clock.advance(2_001);
  await platform.platform.sweep();
  assert.equal((await rowOf("older"))?.status, "TRIGGER_DELETED");
});

test("a disabled trigger starts no run on any server, also of active deliveries; enabled again it runs", async () => {
  const url = await newHook("stopped");
  const earlier = await runs();
  const activeDeliveries = await during(
    TAKES,
    () => call(url),
    () => stop("stopped"),
  );
  for (const on of [platform, replica]) {
    const { body } = await call(url, on);
    assert.equal((await closed(body.data.eventCorrelationId)).status, "TRIGGER_DISABLED");
  }
  platform.clock.advance(2_001);
  await replica.platform.sweep();
  assert.equal((await closed(activeDeliveries.body.data.eventCorrelationId)).status, "TRIGGER_DISABLED");
  assert.equal(await runs(), earlier);
  await made(ask("PUT", "/stopped", { body: triggerYaml("deploy", "stopped") }));
  const { body } = await call(url, replica);
  assert.equal((await closed(body.data.eventCorrelationId)).status, "TARGET_EXECUTION_REQUESTED");
});

/** Waits until a statement waits for a lock. */
const untilWaiting = (query: string): Promise<unknown> =>
  eventually(async () => {
    const waiting = await platform.db.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like $1",
      [query],
    );
    return waiting[0];
  });

test("a run that has been begun is there before the change of its trigger is answered", async () => {
  const url = await newHook("awaited");
  let answered = false;
  let stopping: Promise<void> | undefined;
  const { body } = await during(
    /insert into execution_sequences/,
    () => call(url),
    async () => {
      stopping = stop("awaited").then(() => void (answered = true));
      await untilWaiting("select 1 from triggers%for update");
      assert.equal(answered, false);
    },
  );
  await stopping;
  assert.equal((await rowOf(body.data.eventCorrelationId))?.status, "TARGET_EXECUTION_REQUESTED");
});

test("a project is deleted while a trigger of it is: both are done, neither waits for the other without an end", async () => {
  const query = "orgIdentifier=default&projectIdentifier=passing";
  const here = (yaml: string): string => yaml.replaceAll("projectIdentifier: shop", "projectIdentifier: passing");
  await made(create.project(platform, projectYaml("passing").replace("The shop", "Passing")));
  const post = (path: string, body: string): Promise<Answer> =>
    platform.send("POST", path, { contentType: YAML, body: here(body) });
  await made(post(`/pipeline/api/pipelines?${query}`, pipelineYaml("deploy")));
  await made(post(`/pipeline/api/triggers?${query}&targetIdentifier=deploy`, triggerYaml("deploy", "passing")));
  await platform.db.query(
    `insert into webhook_deliveries (account_id, id, correlation_id, trigger_id, headers, payload, received_at, message)
     select account_id, gen_random_uuid(), 'passing', id, '{}', '{}', $1, '' from triggers where identifier = 'passing'`,
    [platform.clock.now()],
  );
  let project: Promise<Answer> | undefined;
  const { status, text } = await during(
    /^update triggers set deleted_at/,
    () => platform.send("DELETE", `/pipeline/api/triggers/passing?${query}&targetIdentifier=deploy`),
    async () => {
      project = replica.send("DELETE", "/ng/api/projects/passing?orgIdentifier=default");
      await untilWaiting("%from triggers%");
    },
  );
  assert.deepEqual([status, (await project)?.status], [200, 200], `${text}\n${(await project)?.text}`);
});

test("deleting needs leave to edit, no leave to run; looking at a list is not enough for either", async () => {
  const viewer = await platform.addUser("_account_viewer");
  const executor = await platform.addUser("_pipeline_executor", {
    orgIdentifier: "default",
    projectIdentifier: "shop",
  });
  const body = triggerYaml("deploy", "firm");
  for (const apiKey of [viewer, executor])
    for (const method of ["PUT", "DELETE"]) {
      const answer = await refused(ask(method, "/firm", { apiKey, ...(method === "PUT" ? { body } : {}) }));
      assert.deepEqual(answer, [403, "NG_ACCESS_DENIED", "Missing permission core_pipeline_edit."]);
    }
  const { apiKey } = await platform.addAccount();
  assert.equal((await ask("DELETE", "/firm", { apiKey })).status, 403);
});

test("the list: pages by identifier or as sort says, a part of the name, what was called last, addresses for who may run", async () => {
  await made(create.pipeline(platform, pipelineYaml("listed")));
  for (const identifier of ["c_hook", "a_hook", "b_other"]) {
    platform.clock.advance(1_000);
    await made(create.trigger(platform, "listed", triggerYaml("listed", identifier)));
  }
  const list = async (query: string, apiKey = platform.apiKey) =>
    platform.send("GET", `/pipeline/api/triggers?${SCOPE}&targetIdentifier=listed&${query}`, { apiKey });
  const names = async (query: string): Promise<readonly string[]> =>
    (await made(list(query))).content.map(({ identifier }: { identifier: string }) => identifier);
  assert.deepEqual(await names(""), ["a_hook", "b_other", "c_hook"]);
  assert.deepEqual(await names("sort=createdAt,DESC"), ["b_other", "a_hook", "c_hook"]);
  assert.deepEqual(await names("searchTerm=A_HO"), ["a_hook"]);
  assert.deepEqual(await names("searchTerm=%25"), []);
  assert.deepEqual(await names("size=2&page=1"), ["c_hook"]);
  const { content, ...page } = await made(list("size=2"));
  assert.deepEqual(page, {
    totalPages: 2,
    totalItems: 3,
    pageItemCount: 2,
    pageSize: 2,
    pageIndex: 0,
    empty: false,
    pageToken: null,
  });
  const [row] = content;
  const { data: one } = (await platform.send("GET", `/pipeline/api/triggers/a_hook?${SCOPE}&targetIdentifier=listed`))
    .body;
  assert.deepEqual(row, {
    ...one,
    tags: {},
    triggerStatus: { pollingSubscriptionStatus: null, validationStatus: null, webhookAutoRegistrationStatus: null },
    lastTriggerExecutionDetails: null,
    webhookDetails: null,
    buildDetails: null,
    executions: [],
    registrationStatus: null,
  });
  for (const again of [1, 2]) {
    const { body } = await call(row.webhookUrl);
    const { executionId } = await closed(body.data.eventCorrelationId);
    assert.ok(executionId, `${again}`);
  }
  const details = await platform.send("GET", `/pipeline/api/triggers/a_hook/details?${SCOPE}&targetIdentifier=listed`);
  assert.deepEqual(details.body.data, (await made(list("searchTerm=a_hook"))).content[0]);
  const { planExecutionId, ...last } = details.body.data.lastTriggerExecutionDetails;
  assert.deepEqual(last, {
    lastExecutionTime: platform.clock.now(),
    lastExecutionStatus: "TARGET_EXECUTION_REQUESTED",
    lastExecutionSuccessful: true,
    message: "Pipeline execution was requested successfully",
  });
  const newest = await platform.db.query<{ id: string }>("select id from executions order by id desc limit 1");
  assert.equal(fromWire(planExecutionId), newest[0]?.id);
  const viewer = await platform.addUser("_account_viewer");
  for (const shown of (await made(list("", viewer))).content) assert.equal(shown.webhookUrl, null);
  for (const [query, said] of [
    ["size=101", /size takes at most 100/],
    ["sort=color,ASC", /sort cannot be/],
    ["filter=x", /filter is not supported yet/],
  ] as const)
    assert.match(String((await refused(list(query)))[2]), said);
  assert.equal((await ask("GET", "?targetIdentifier=none")).status, 400, "given twice");
});
