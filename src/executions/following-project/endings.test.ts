/**
 * When the event streams of executions and of projects end: with the credential, the access and the server. Two servers
 * on one database, and a clock that the test advances.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventsOf, type StreamEvent } from "../../../test/support/clients/event-stream.ts";
import { openStream } from "../../../test/support/clients/follower.ts";
import { PROJECT_EVENTS } from "../../../test/support/clients/project-follower.ts";
import { JSON_TYPE, made } from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { abortRun, createPipelines, SCOPE, startRun } from "../../../test/support/runs.ts";
import { assignServiceAccountRole, serviceToken } from "../../../test/support/service-accounts.ts";

let here: TestPlatform;
let there: TestPlatform;
let id: string;

before(async () => {
  here = await startTestPlatform();
  there = await here.replica();
  await createPipelines(here, { id: "one", steps: [{ id: "a" }] });
  id = await startRun(here, "one");
});
after(() => here?.stop());

type Stream = AsyncGenerator<StreamEvent>;

const paths = (): readonly string[] => [`/pipeline/api/pipelines/execution/${id}/events`, PROJECT_EVENTS];

/** Opens both streams on both servers, and reads their first events. */
async function openAll(apiKey: string, servers: readonly TestPlatform[] = [here, there]): Promise<Stream[]> {
  const streams: Stream[] = [];
  for (const server of servers)
    for (const path of paths()) {
      const { response } = await openStream(server, path, { apiKey });
      assert.equal(response.status, 200);
      const stream = eventsOf(response);
      assert.match((await stream.next()).value?.event ?? "", /^(snapshot|reset)$/);
      streams.push(stream);
    }
  return streams;
}

/** Resolves when the stream ends. Fails if it is torn. */
async function end(stream: Stream): Promise<void> {
  for (let next = await stream.next(); !next.done; next = await stream.next());
}

async function close(streams: readonly Stream[]): Promise<void> {
  for (const stream of streams) await stream.return(undefined);
}

const send = (method: string, path: string, body?: object): Promise<unknown> =>
  made(here.send(method, path, body && { contentType: JSON_TYPE, body: JSON.stringify(body) }));

let count = 0;

/** A service account that may view everything. */
async function createViewer() {
  const identifier = `viewer${(count += 1)}`;
  await send("POST", "/ng/api/serviceaccount", { identifier, name: identifier });
  await assignServiceAccountRole(here, identifier, "_account_viewer");
  return { identifier, apiKey: await serviceToken(here, identifier) };
}

async function sweep(): Promise<void> {
  for (const server of [here, there]) await server.platform.sweep();
}

type Viewer = Awaited<ReturnType<typeof createViewer>>;

const ENDINGS: readonly (readonly [what: string, take: (viewer: Viewer) => Promise<unknown>])[] = [
  [
    "the token is deleted",
    ({ identifier }) =>
      send("DELETE", `/ng/api/token/t?apiKeyType=SERVICE_ACCOUNT&parentIdentifier=${identifier}&apiKeyIdentifier=k`),
  ],
  [
    "the role is taken away",
    ({ identifier }) => send("DELETE", `/authz/api/roleassignments/role_assignment_${identifier}`),
  ],
  [
    "a role is taken away, and no server is notified",
    async ({ identifier }) => {
      await here.db.query("delete from role_assignments where principal_identifier = $1", [identifier]);
      // Grants are cached for one second.
      here.clock.advance(1_000);
      await sweep();
    },
  ],
];
for (const [what, take] of ENDINGS)
  test(`streams end when ${what}, and those of others go on`, async () => {
    const [viewer, other] = [await createViewer(), await createViewer()];
    const [ending, going] = [await openAll(viewer.apiKey), await openAll(other.apiKey)];
    await take(viewer);
    for (const stream of ending) await end(stream);
    const further = await startRun(here, "one");
    for (const stream of going.filter((_, nth) => nth % 2 === 1))
      for (
        let text = "";
        !text.includes(further);
        text = JSON.stringify((await stream.next()).value?.data ?? assert.fail())
      );
    await close(going);
    await abortRun(here, further);
  });

test("streams end when the user is deactivated", async () => {
  const apiKey = await here.addUser("_account_viewer");
  const { data } = (await here.graphql(`{ users(limit: 100) { nodes { id name } } }`)).body;
  const user = data.users.nodes.findLast(({ name }: { name: string }) => name.startsWith("user "));
  const streams = await openAll(apiKey);
  await send("POST", `/ng/api/user/${user.id}/deactivate`);
  for (const stream of streams) await end(stream);
});

test("streams end at the first check after the period of their token, and not before", async () => {
  const { identifier, apiKey } = await createViewer();
  const owner = { apiKeyType: "SERVICE_ACCOUNT", parentIdentifier: identifier, apiKeyIdentifier: "k" };
  const validTo = here.clock.now() + 5_000;
  await send("PUT", "/ng/api/token/t", { ...owner, identifier: "t", name: "t", validTo });
  const streams = await openAll(apiKey);
  here.clock.advance(5_000);
  await sweep();
  const further = await startRun(here, "one");
  for (const stream of streams.filter((_, nth) => nth % 2 === 1)) {
    const { value } = await stream.next();
    assert.match(JSON.stringify(value?.data), new RegExp(further));
  }
  here.clock.advance(1);
  await sweep();
  for (const stream of streams) await end(stream);
  await abortRun(here, further);
});

test("the stream of a project ends when the project is deleted", async () => {
  const place = "orgIdentifier=default&projectIdentifier=short";
  const project = { name: "Short", identifier: "short", orgIdentifier: "default" };
  await send("POST", "/ng/api/projects?orgIdentifier=default", { project });
  const path = PROJECT_EVENTS.replace(SCOPE, place);
  const stream = eventsOf((await openStream(there, path)).response);
  assert.equal((await stream.next()).value?.event, "reset");
  await send("DELETE", "/ng/api/projects/short?orgIdentifier=default");
  await there.platform.sweep();
  await end(stream);
  assert.equal((await openStream(there, path)).response.status, 404);
});

test("a caller has at most 100 streams of executions and projects on a server", async () => {
  const { apiKey } = await createViewer();
  const streams: Stream[] = [];
  while (streams.length < 100) streams.push(...(await openAll(apiKey, [here])));
  for (const path of paths()) {
    const { response } = await openStream(here, path, { apiKey });
    assert.equal(response.status, 429);
    assert.equal(response.headers.get("retry-after"), "5");
  }
  await close(await openAll(apiKey, [there]));
  await close(streams);
});

test("a server that stops ends its streams at once, and clients resume at another one", async () => {
  const stopping = await here.replica();
  const streams = [];
  while (streams.length < 50) streams.push(...(await openAll(here.apiKey, [stopping])));
  const ended = Promise.all(streams.map(end));
  await stopping.platform.stop();
  await ended;
  await close(await openAll(here.apiKey));
});
