/**
 * Attack class 28: streams end with the credential that opened them, on every replica. Two servers on one database,
 * real event streams, and a clock driven by the test.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { after, before, test } from "node:test";
import { eventually, JSON_TYPE, made } from "../../../test/support/contract.ts";
import { eventsOf, type StreamEvent } from "../../../test/support/clients/event-stream.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { pretendDelegate, type Lease, type PretendDelegate } from "../../../test/support/pretend-delegate.ts";
import { createPipelines, startRun } from "../../../test/support/runs.ts";
import { assignServiceAccountRole, serviceToken } from "../../../test/support/service-accounts.ts";

let here: TestPlatform;
let there: TestPlatform;
let delegate: PretendDelegate;
let run: { readonly id: string; readonly task: Lease };
let written = 0;

before(async () => {
  here = await startTestPlatform();
  there = await here.replica();
  delegate = await pretendDelegate({ url: here.url, token: await here.delegateToken(), slots: 4 });
  await delegate.next("welcome");
  await createPipelines(here, { id: "one", steps: [{ id: "a" }] });
  const id = await startRun(here, "one");
  run = { id, task: await delegate.next("run") };
  await say("hello\n");
});
after(async () => {
  await delegate?.close();
  await here?.stop();
});

async function say(text: string): Promise<void> {
  delegate.log(run.task, written, text);
  written += text.length;
  await delegate.next("logAck");
}

type Reader = AsyncGenerator<StreamEvent>;

const logPath = (on: TestPlatform, what: string): string =>
  `${on.url}/pipeline/api/pipelines/execution/${run.id}/${what}accountIdentifier=${on.accountId}`;

/** Follows the log. Resolves after the existing lines have arrived. */
async function follow(on: TestPlatform, apiKey: string): Promise<Reader> {
  const response = await fetch(logPath(on, "logs/stream?"), { headers: { "x-api-key": apiKey } });
  assert.equal(response.status, 200);
  const stream = eventsOf(response);
  for (let read = 0; read < written;) read = Number((await stream.next()).value?.id);
  return stream;
}

/** The streams end before the execution; both replicas refuse the next request. */
async function cutOff(readers: readonly Reader[], apiKey: string): Promise<void> {
  for (const reader of readers) assert.equal((await reader.next()).done, true);
  // The loss of roles may arrive first: then the status is 403 for a moment.
  for (const on of [here, there])
    await eventually(async () => {
      const { status, text } = await on.send("GET", "/ng/api/projects?orgIdentifier=default", { apiKey });
      assert.ok([401, 403].includes(status), text);
      return status === 401 ? true : undefined;
    });
}

async function goesOn(reader: Reader): Promise<void> {
  await say("more\n");
  assert.equal((await reader.next()).value?.data.text, "more\n");
}

const send = (method: string, path: string, body?: object): Promise<unknown> =>
  made(
    here.send(method, `/ng/api/${path}`, {
      ...(body === undefined ? {} : { contentType: JSON_TYPE, body: JSON.stringify(body) }),
    }),
  );

let count = 0;

/** Creates a service account that may view everything, with a token, and the query that names them. */
async function robot(): Promise<{ readonly identifier: string; readonly text: string; readonly of: string }> {
  const identifier = `robot${(count += 1)}`;
  await send("POST", "serviceaccount", { identifier, name: identifier });
  await assignServiceAccountRole(here, identifier, "_account_viewer");
  const of = `apiKeyType=SERVICE_ACCOUNT&parentIdentifier=${identifier}`;
  return { identifier, text: await serviceToken(here, identifier), of };
}

const ENDINGS: readonly (readonly [what: string, end: (one: Awaited<ReturnType<typeof robot>>) => Promise<unknown>])[] =
  [
    ["its token is deleted", ({ of }) => send("DELETE", `token/t?${of}&apiKeyIdentifier=k`)],
    ["its key is deleted", ({ of }) => send("DELETE", `apikey/k?${of}`)],
    ["its service account is deleted", ({ identifier }) => send("DELETE", `serviceaccount/${identifier}`)],
    ["it is rotated without overlap", ({ of }) => send("POST", `token/rotate/t?${of}&apiKeyIdentifier=k`)],
  ];

for (const [what, end] of ENDINGS)
  test(`when ${what}, streams on both replicas end without waiting for anything, and others go on`, async () => {
    const [ended, other] = [await robot(), await robot()];
    const streams = [await follow(here, ended.text), await follow(there, ended.text)];
    const untouched = await follow(there, other.text);
    await end(ended);
    await cutOff(streams, ended.text);
    await goesOn(untouched);
    await untouched.return(undefined);
  });

test("streams of a user end when the user is deactivated, and when the user is deleted", async () => {
  for (const [method, path] of [
    ["POST", "deactivate"],
    ["DELETE", ""],
  ] as const) {
    const text = await here.addUser("_account_viewer");
    const { data } = (await here.graphql(`{ users(limit: 100) { nodes { id name } } }`)).body;
    const person = data.users.nodes.findLast(({ name }: { name: string }) => name.startsWith("user "));
    const streams = [await follow(here, text), await follow(there, text)];
    await send(method, `user/${person.id}${path === "" ? "" : `/${path}`}`);
    await cutOff(streams, text);
  }
});

test("an inactive user is refused with every remaining token", async () => {
  const text = await here.addUser("_account_viewer");
  const stream = await follow(there, text);
  const [, , tokenId = ""] = text.split(".");
  // Written directly into the database, as a restored backup could have it.
  await here.db.query(
    `update users u set active = false from tokens t join api_keys k on k.account_id = t.account_id and k.id = t.api_key_id
      where t.id = $1 and u.account_id = k.account_id and u.id = k.user_id`,
    [Buffer.from(tokenId, "base64url").toString("hex")],
  );
  here.clock.advance(1_000);
  await there.platform.sweep();
  await cutOff([stream], text);
});

test("a token's streams end at the first check after its period, and not before", async () => {
  const { text, identifier } = await robot();
  const owner = { apiKeyType: "SERVICE_ACCOUNT", parentIdentifier: identifier, apiKeyIdentifier: "k" };
  const validTo = here.clock.now() + 5_000;
  await send("PUT", "token/t", { ...owner, identifier: "t", name: "t", validTo });
  const [near, far] = [await follow(here, text), await follow(there, text)];
  here.clock.advance(5_000);
  for (const on of [here, there]) await on.platform.sweep();
  await goesOn(near);
  assert.equal((await far.next()).value?.data.text, "more\n", "the other one has it, too");
  here.clock.advance(1);
  for (const on of [here, there]) await on.platform.sweep();
  await cutOff([near, far], text);
});

test("a rotated token keeps its streams until rotateTimestamp", async () => {
  const { text, of } = await robot();
  const stream = await follow(there, text);
  const until = here.clock.now() + 10_000;
  const fresh = await send("POST", `token/rotate/t?${of}&apiKeyIdentifier=k&rotateTimestamp=${until}`);
  const next = await follow(there, String(fresh));
  await there.platform.sweep();
  await goesOn(stream);
  await next.next();
  here.clock.advance(10_001);
  await there.platform.sweep();
  await cutOff([stream], text);
  await goesOn(next);
  await next.return(undefined);
});

test("a replica without a notification checks by itself", async () => {
  const { text } = await robot();
  const stream = await follow(there, text);
  const [, , tokenId = ""] = text.split(".");
  await here.db.query("delete from tokens where id = $1", [Buffer.from(tokenId, "base64url").toString("hex")]);
  await there.platform.sweep();
  assert.equal((await stream.next()).done, true);
});

const forbidden = async (readers: readonly Reader[], apiKey: string): Promise<void> => {
  for (const reader of readers) assert.equal((await reader.next()).done, true);
  for (const on of [here, there])
    assert.equal((await fetch(logPath(on, "logs/stream?"), { headers: { "x-api-key": apiKey } })).status, 403);
};
const ALL = "_all_resources_including_child_scopes";
const assign = (identifier: string, roleIdentifier: string): Promise<unknown> =>
  made(
    here.send("POST", "/authz/api/roleassignments", {
      contentType: JSON_TYPE,
      body: JSON.stringify({
        identifier: `${identifier}_${roleIdentifier}`,
        principal: { identifier, type: "SERVICE_ACCOUNT" },
        ...{ roleIdentifier, resourceGroupIdentifier: ALL },
      }),
    }),
  );
const role = (method: string, path: string, identifier: string, permissions: readonly string[]): Promise<unknown> =>
  made(
    here.send(method, `/authz/api/roles${path}`, {
      contentType: JSON_TYPE,
      body: JSON.stringify({ identifier, name: identifier, permissions }),
    }),
  );

test("streams end on both replicas at once when a role is removed, and streams of others continue", async () => {
  const [{ text, identifier }, other] = [await robot(), await robot()];
  const streams = [await follow(here, text), await follow(there, text)];
  const untouched = await follow(there, other.text);
  await made(here.send("DELETE", `/authz/api/roleassignments/role_assignment_${identifier}`));
  await forbidden(streams, text);
  await goesOn(untouched);
  await untouched.return(undefined);
});

test("a reduced role ends streams; an extended role, and a permission gained and lost again, do not", async () => {
  await role("POST", "", "reader", ["core_pipeline_view", "core_project_view"]);
  await role("POST", "", "extra", ["core_connector_view"]);
  await send("POST", "serviceaccount", { identifier: "reads", name: "reads" });
  await assign("reads", "reader");
  const text = await serviceToken(here, "reads");
  const streams = [await follow(here, text), await follow(there, text)];
  await assign("reads", "extra");
  await role("PUT", "/reader", "reader", ["core_pipeline_view", "core_project_view", "core_secret_view"]);
  await made(here.send("DELETE", "/authz/api/roleassignments/reads_extra"));
  await say("still\n");
  for (const stream of streams) assert.equal((await stream.next()).value?.data.text, "still\n");
  await role("PUT", "/reader", "reader", ["core_project_view"]);
  await forbidden(streams, text);
});

test("a replica without a notification of lost access checks by itself", async () => {
  const { text, identifier } = await robot();
  const stream = await follow(there, text);
  await here.db.query("delete from role_assignments where principal_identifier = $1", [identifier]);
  here.clock.advance(1_000);
  await there.platform.sweep();
  await forbidden([stream], text);
});

test("a running download is aborted when the access is lost", async () => {
  const { text, identifier } = await robot();
  for (let at = 0; at < 100; at += 1) await say("y".repeat(65_536));
  const request = get(logPath(there, "logs?"), { headers: { "x-api-key": text } });
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  assert.equal(answer.statusCode, 200);
  const torn = once(answer, "error");
  await made(here.send("DELETE", `/authz/api/roleassignments/role_assignment_${identifier}`));
  answer.resume();
  await torn;
  assert.equal(answer.complete, false);
});

test("a stream admitted by an outdated cache entry does not stay open", async () => {
  const { text } = await robot();
  // The cache entry lives for a second, and there is no notification.
  assert.equal((await there.send("GET", "/ng/api/projects?orgIdentifier=default", { apiKey: text })).status, 200);
  const [, , tokenId = ""] = text.split(".");
  await here.db.query("delete from tokens where id = $1", [Buffer.from(tokenId, "base64url").toString("hex")]);
  const response = await fetch(logPath(there, "logs/stream?"), { headers: { "x-api-key": text } });
  assert.equal(response.status, 200);
  for await (const { event } of eventsOf(response)) assert.equal(event, "log");
});

test("a running download is aborted, so that a part of a log does not look complete", async () => {
  const { text, of } = await robot();
  for (let at = 0; at < 100; at += 1) await say("x".repeat(65_536));
  const request = get(logPath(there, "logs?"), { headers: { "x-api-key": text } });
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  assert.equal(answer.statusCode, 200);
  const torn = once(answer, "error");
  // The test reads nothing meanwhile, so the server waits for its reader.
  await send("DELETE", `token/t?${of}&apiKeyIdentifier=k`);
  answer.resume();
  await torn;
  assert.equal(answer.complete, false);
});
