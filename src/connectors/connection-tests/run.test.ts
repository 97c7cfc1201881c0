/** Tests of connections as requests: by delegates of any replica, by the server, with every way they may end. */
import assert from "node:assert/strict";
import { randomBytes, randomUUIDv7 } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { after, before, test } from "node:test";
import { connectorYaml, create, made, projectYaml, YAML } from "../../../test/support/contract.ts";
import {
  connectionOf,
  newIdentity,
  pretendDelegate,
  type PretendDelegate,
} from "../../../test/support/pretend-delegate.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { allPermitted } from "../../../test/support/secrets.ts";
import { until } from "../../../test/support/until.ts";
import { createAudit } from "../../audit/index.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import { authorize, dereference } from "../../access/index.ts";
import { contentOf } from "../../platform/crypto/chunks.ts";
import type { Db } from "../../platform/db/db.ts";
import { createProjects } from "../../projects/index.ts";
import { createKeyRing } from "../../platform/crypto/key-ring.ts";
import { createSecrets } from "../../secrets/index.ts";

const PASSWORD = "p4ss-of-a-connector";
const keys = createKeyRing(randomBytes(32));
let platform: TestPlatform;
let logged = "";
/** Number of requests that have started a test or joined a running one. */
let requestsOfTests = 0;
const counting = (db: Db): Db => ({
  ...db,
  transaction: async (work) => {
    let startsTest = false;
    const result = await db.transaction((tx) =>
      work({
        ...tx,
        query: (text, values) => {
          startsTest ||= text.includes("insert into connection_tests");
          return tx.query(text, values);
        },
      }),
    );
    if (startsTest) requestsOfTests += 1;
    return result;
  },
});
before(async () => {
  const logTo = new PassThrough();
  logTo.on("data", (line: Buffer) => (logged += line.toString()));
  platform = await startTestPlatform({ keys, logTo, wrapDb: counting });
  await made(create.project(platform, projectYaml()));
});
after(() => platform?.stop());

const PATH = "/ng/api/connectors";
const ask = (identifier: string, at = platform): Promise<Answer> =>
  at.send("POST", `${PATH}/testConnection/${identifier}`);
const read = async (identifier: string) => (await platform.send("GET", `${PATH}/${identifier}`)).body.data;
const join = async (tags: string[], at = platform, more: object = {}): Promise<PretendDelegate> => {
  const delegate = await pretendDelegate({
    url: at.url,
    token: await at.delegateToken(),
    name: tags.join("-"),
    tags,
    ...more,
  });
  await delegate.next("welcome");
  return delegate;
};
/** A connector for delegates with this tag. */
const give = (identifier: string, tag: string): Promise<unknown> =>
  made(
    create.connector(
      platform,
      connectorYaml(identifier).replace("    auth:", `    delegateSelectors: [${tag}]\n    auth:`),
    ),
  );
const tested = (delegate: PretendDelegate, run: { task: string; epoch: number }, fault: object | null): void =>
  delegate.send({
    kind: "finished",
    task: run.task,
    epoch: run.epoch,
    offset: 0,
    data: "",
    startedAt: 1,
    endedAt: 2,
    outcome: { kind: "tested", fault },
  });
const REFUSED = { reason: "Authentication", message: "the registry refused", code: 401 };

test("a delegate with all tags runs the test, and the result is stored with the connector", async () => {
  await give("by_delegate", "lab, gpu");
  const other = await join(["lab"]);
  const delegate = await join(["lab", "gpu"]);
  const first = ask("by_delegate");
  const run = await delegate.next("run");
  const { timeoutMs, ...work } = connectionOf(run);
  assert.ok(timeoutMs > 0 && timeoutMs < 30_000);
  const spec = (await read("by_delegate")).connector.spec;
  assert.deepEqual(work, { kind: "connection", version: 1, type: "ContainerRegistry", spec, secrets: [] });
  platform.clock.advance(700);
  tested(delegate, run, null);
  await delegate.next("finishedAck");
  const answer = await first;
  const at = platform.clock.now();
  assert.equal(answer.status, 200, answer.text);
  const { delegateId, ...result } = answer.body.data;
  assert.deepEqual(result, { status: "SUCCESS", errors: [], errorSummary: null, testedAt: at });
  assert.match(delegateId, /^[A-Za-z0-9_-]{22}$/);
  const ok = await read("by_delegate");
  const status = {
    status: "SUCCESS",
    errorSummary: null,
    errors: [],
    testedAt: at,
    lastTestedAt: at,
    lastConnectedAt: at,
  };
  assert.deepEqual([ok.status, ok.activityDetails.lastActivityTime], [status, at]);
  assert.ok(ok.lastModifiedAt < at, "a test changes nothing of the connector");

  platform.clock.advance(1_000);
  const second = ask("by_delegate");
  tested(delegate, await delegate.next("run"), REFUSED);
  const failed = (await second).body.data;
  assert.deepEqual([failed.status, failed.errors, failed.errorSummary], ["FAILURE", [REFUSED], REFUSED.message]);
  const later = { testedAt: at + 1_000, lastTestedAt: at + 1_000, lastConnectedAt: at };
  assert.deepEqual((await read("by_delegate")).status, {
    ...{ status: "FAILURE", errorSummary: REFUSED.message, errors: [REFUSED] },
    ...later,
  });
  const list = async (statuses: string): Promise<number> => {
    const body = `{"filterType":"Connector","connectorIdentifiers":["by_delegate"],"connectivityStatuses":["${statuses}"]}`;
    const found = await platform.send("POST", `${PATH}/listV2`, { body, contentType: "application/json" });
    return found.body.data.totalItems;
  };
  assert.deepEqual([await list("FAILURE"), await list("SUCCESS"), await list("UNKNOWN")], [1, 0, 0]);

  const renamed = connectorYaml("by_delegate", "  description: x\n").replace(
    "    auth:",
    "    delegateSelectors: [lab, gpu]\n    auth:",
  );
  await platform.send("PUT", PATH, { body: renamed, contentType: YAML });
  assert.equal((await read("by_delegate")).status.status, "FAILURE", "the spec is the same");
  await platform.send("PUT", PATH, { body: connectorYaml("by_delegate"), contentType: YAML });
  assert.equal((await read("by_delegate")).status, null, "the new spec is not tested yet");
  assert.deepEqual(other.waiting(), []);
  await Promise.all([other.close(), delegate.close()]);
});

test("without a delegate with the tags, the answer names them at once", async () => {
  await give("nobody", "mars");
  const { data } = (await ask("nobody")).body;
  assert.deepEqual([data.status, data.delegateId], ["FAILURE", null]);
  assert.equal(data.errorSummary, "No delegate with all of the tags [mars] is connected.");
  assert.equal((await read("nobody")).status.status, "FAILURE");
  assert.equal((await platform.db.query("select 1 from tasks where selectors = '{mars}'")).length, 0);
});

test("the delegate may be connected to another replica, and requests at once share one test", async () => {
  await give("elsewhere", "far");
  const second = await platform.replica();
  const delegate = await join(["far"], second);
  requestsOfTests = 0;
  const asked = [ask("elsewhere"), ask("elsewhere"), ask("elsewhere", second)];
  const run = await delegate.next("run");
  await until(
    () => requestsOfTests,
    (count) => count === 3,
  );
  tested(delegate, run, REFUSED);
  for (const answer of await Promise.all(asked))
    assert.equal(answer.body.data?.errorSummary, REFUSED.message, answer.text);
  assert.deepEqual(
    delegate.waiting().filter(({ kind }) => kind === "run"),
    [],
  );
  await delegate.close();
});

test("the end of a test locks the test before its task, as its deadline does", async () => {
  await give("ordered", "ordered");
  const delegate = await join(["ordered"]);
  const asked = ask("ordered");
  const run = await delegate.next("run");
  await platform.db.transaction(async (tx) => {
    await tx.query("select 1 from connection_tests where ended_at is null for update");
    tested(delegate, run, null);
    await until(
      () =>
        platform.db.query(
          `select 1 from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock' and query like '%connection_tests%'`,
        ),
      (rows) => rows.length === 1,
    );
    const free = await tx.query("select 1 from tasks where status = 'leased' for update skip locked");
    assert.equal(free.length, 1, "the task is not locked while its test is awaited");
  });
  assert.equal((await asked).body.data.status, "SUCCESS");
  await delegate.close();
});

test("a password reaches only the delegate with the lease of the task", async () => {
  const { db, clock } = platform;
  const newId = (): Uuid => randomUUIDv7() as Uuid;
  const base = {
    authorize,
    dereference: dereference({ invalidateGrants: () => undefined }),
    db,
    clock,
    newId,
    audit: createAudit({ clock, newId }),
  };
  const projects = createProjects({ ...base, emptyScope: async () => [] });
  const facts = {
    applications: projects.applicationsExist,
    environments: async () => allPermitted(new Map()),
    usable: async () => allPermitted(new Set<Uuid>()),
  };
  const secrets = createSecrets({
    ...base,
    requireScope: projects.requireScope,
    revalidateActor: async (actor) => actor,
    keys,
    commands: new Map(),
    maxContent: 1_024,
    facts,
  });
  const actor = { kind: "system", accountId: fromWire(platform.accountId) as Uuid } as const;
  const secret = (identifier: string, type: "ENCRYPTED_TEXT" | "ENCRYPTED_FILE", text: string) =>
    secrets.create(actor, {
      ...{
        orgIdentifier: null,
        projectIdentifier: null,
        identifier,
        name: identifier,
        description: "",
        tags: {},
        type,
      },
      scoping: {},
      content: contentOf(text),
    });
  await secret("password", "ENCRYPTED_TEXT", PASSWORD);
  await secret("a_file", "ENCRYPTED_FILE", PASSWORD);
  const body = (reference: string): string =>
    connectorYaml("secretive")
      .replace("type: Anonymous", `type: UsernamePassword\n      spec: {username: ada, passwordRef: ${reference}}`)
      .replace("    auth:", "    delegateSelectors: [safe]\n    auth:");
  for (const wrong of ["none", "a_file"]) {
    const refused = await create.connector(platform, body(wrong));
    assert.deepEqual([refused.status, refused.body.code], [400, "SECRET_NOT_FOUND"], wrong);
    assert.match(refused.body.message, /^connector\.spec\.auth\.spec\.passwordRef: /);
  }
  await made(create.connector(platform, body("account.password")));

  const identity = newIdentity();
  const delegate = await join(["safe"], platform, { identity });
  const asked = ask("secretive");
  const run = await delegate.next("run");
  const known = [{ reference: "account.password", value: PASSWORD }];
  assert.deepEqual(connectionOf(run).secrets, known);
  // After a lost connection it gets the task anew, the password too.
  await delegate.cut();
  const again = await join(["safe"], platform, { identity });
  const rerun = await again.next("run");
  assert.deepEqual([connectionOf(rerun).secrets, rerun.task], [known, run.task]);
  tested(again, rerun, null);
  assert.equal((await asked).body.data.status, "SUCCESS");

  const tables = await platform.db.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  for (const { name } of tables) {
    const rows = await platform.db.query(`select 1 from ${name} x where x::text like '%' || $1 || '%'`, [PASSWORD]);
    assert.equal(rows.length, 0, `${name} holds the password`);
  }
  assert.ok(!logged.includes(PASSWORD), "the log holds the password");
  assert.ok(logged.length > 0);
  await again.close();
});

test("the answer comes at the deadline if the delegate does not report", async () => {
  await give("slow", "slow");
  const delegate = await join(["slow"], platform, { slots: 1 });
  const held = ask("slow");
  const run = await delegate.next("run");
  platform.clock.advance(29_999);
  await platform.platform.sweep();
  assert.equal((await read("slow")).status, null);
  platform.clock.advance(1);
  await platform.platform.sweep();
  const late = (await held).body.data;
  assert.deepEqual([late.status, late.errors[0].reason], ["FAILURE", "Timeout"]);
  assert.match(late.errorSummary, /did not report the end of the test within 30 s/);
  assert.equal((await delegate.next("cancel")).task, run.task);
  const settled = (await read("slow")).status;

  // Its slot is still taken, so the next test finds no free delegate.
  delegate.send({ kind: "heartbeat" });
  await until(
    () => platform.db.query("select 1 from delegates where name = 'slow' and seen_at = $1", [platform.clock.now()]),
    (rows) => rows.length > 0,
  );
  const waits = ask("slow");
  await until(
    () => platform.db.query("select 1 from connection_tests where ended_at is null"),
    (rows) => rows.length > 0,
  );
  platform.clock.advance(30_000);
  await platform.platform.sweep();
  assert.match(
    (await waits).body.data.errorSummary,
    /No delegate with all of the tags \[slow\] took the test within 30 s/,
  );
  // What the delegate says at last is acknowledged, and changes nothing.
  tested(delegate, run, null);
  await delegate.next("finishedAck");
  const now = (await read("slow")).status;
  assert.deepEqual([now.status, now.testedAt], ["FAILURE", settled.testedAt + 30_000]);
  assert.deepEqual(await platform.db.query("select 1 from tasks where status <> 'finished'"), []);
  await delegate.close();
});

test("a lost delegate, and a server that stops, leave nothing waiting", async () => {
  await give("lost", "lost");
  const second = await platform.replica();
  const delegate = await join(["lost"]);
  const asked = ask("lost", second).catch((error: unknown) => error);
  await delegate.next("run");
  await delegate.cut();
  await second.stop();
  const answer = (await asked) as Answer;
  assert.equal(answer.status, 503, answer.text);
  platform.clock.advance(30_000);
  await platform.platform.sweep();
  assert.equal((await read("lost")).status.status, "FAILURE");
  platform.clock.advance(700_000);
  await platform.platform.sweep();
  const open = "select run_id from tasks where status <> 'finished'";
  assert.deepEqual(
    await platform.db.query("select id as run_id from connection_tests"),
    await platform.db.query(open),
    "the test of the lost delegate stays as long as its task has not ended",
  );
  await platform.db.query("update tasks set status = 'finished'");
  await platform.platform.sweep();
  for (const table of ["connection_tests", "tasks"])
    assert.deepEqual(await platform.db.query(`select 1 from ${table}`), [], table);
});

test("an invalid answer of a delegate is a failed test", async () => {
  await give("odd", "odd");
  const delegate = await join(["odd"]);
  for (const [end, reason] of [
    [(run: { task: string; epoch: number }) => delegate.finish(run), "Unexpected"],
    [(run: { task: string; epoch: number }) => delegate.cancelled(run), "Timeout"],
  ] as const) {
    const asked = ask("odd");
    end(await delegate.next("run"));
    assert.equal((await asked).body.data.errors[0].reason, reason);
  }
  await delegate.close();
});

test("a connector that is changed or deleted during a test gets no status", async () => {
  await give("moving", "moving");
  const delegate = await join(["moving"]);
  const asked = ask("moving");
  const run = await delegate.next("run");
  assert.equal((await platform.send("PUT", PATH, { body: connectorYaml("moving"), contentType: YAML })).status, 200);
  tested(delegate, run, null);
  assert.equal((await asked).body.data.status, "SUCCESS");
  assert.equal((await read("moving")).status, null);
  await delegate.close();
});

test("the server itself tests what it may reach, and refuses what it may not", async () => {
  const server = createServer((_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end("{}"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const here = await startTestPlatform({ allowPrivateAddresses: [`127.0.0.1:${port}`] });
  try {
    const url = (identifier: string, address: string): Promise<unknown> =>
      made(
        create.connector(
          here,
          connectorYaml(identifier)
            .replace("https://registry.example.com/v2/", address)
            .replace("    auth:", "    executeOnDelegate: false\n    auth:"),
        ),
      );
    await url("allowed", `http://127.0.0.1:${port}/v2/`);
    const allowed = (await ask("allowed", here)).body.data;
    assert.deepEqual([allowed.status, allowed.delegateId], ["SUCCESS", null]);
    for (const [nth, address] of [
      `http://localhost:${port}/`,
      `http://[::ffff:127.0.0.1]:${port}/`,
      "http://169.254.169.254/",
      "http://2130706433/",
    ].entries()) {
      await url(`inner_${nth}`, address);
      const { data } = (await ask(`inner_${nth}`, here)).body;
      assert.deepEqual([data.status, data.errors[0].reason], ["FAILURE", "Address not allowed"], address);
      assert.match(data.errorSummary, /RAILHEAD_ALLOW_PRIVATE_ADDRESSES/);
    }
    const untested = connectorYaml("untested").replace("    auth:", "    ignoreTestConnection: true\n    auth:");
    await made(create.connector(here, untested));
    const { data } = (await ask("untested", here)).body;
    assert.deepEqual([data.status, data.errors], ["UNKNOWN", []]);
    assert.equal((await here.send("GET", `${PATH}/untested`)).body.data.status, null);
  } finally {
    server.close();
    await here.stop();
  }
});

test("a test requires an existing connector of the account and more than read permission", async () => {
  assert.equal((await ask("none")).body.code, "CONNECTOR_NOT_FOUND_EXCEPTION");
  const other = await platform.addAccount();
  const strange = await platform.send("POST", `${PATH}/testConnection/nobody`, {
    account: other.accountId,
    apiKey: other.apiKey,
  });
  assert.equal(strange.status, 404);
  const apiKey = await platform.addUser("_account_viewer");
  assert.equal((await platform.send("POST", `${PATH}/testConnection/nobody`, { apiKey })).status, 403);
  assert.equal((await platform.send("POST", `${PATH}/testGitRepoConnection/nobody`)).status, 404);
});
