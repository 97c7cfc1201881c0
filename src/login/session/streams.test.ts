/** Event streams of a page with a session: opened by fetch with the anti-forgery token, and ended with the session. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventsOf, type StreamEvent } from "../../../test/support/clients/event-stream.ts";
import { PROJECT_EVENTS } from "../../../test/support/clients/project-follower.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { createPipelines } from "../../../test/support/runs.ts";
import {
  ADMIN,
  createSession,
  setUserPassword,
  type SessionHeaders,
  type TestSession,
} from "../../../test/support/sessions.ts";

let here: TestPlatform;
let there: TestPlatform;

before(async () => {
  here = await startTestPlatform();
  there = await here.replica();
  await setUserPassword(here);
  await createPipelines(here);
});
after(() => here?.stop());

const DELEGATES = "/ng/api/delegate-setup/events";

const open = (on: TestPlatform, path: string, headers: Partial<SessionHeaders>): Promise<Response> =>
  fetch(`${on.url}${path}${path.includes("?") ? "&" : "?"}accountIdentifier=${on.accountId}`, { headers });

/** The streams of a project and of delegates on both servers, after their first events. */
async function openAll({ headers }: Pick<TestSession, "headers">): Promise<AsyncGenerator<StreamEvent>[]> {
  const streams: AsyncGenerator<StreamEvent>[] = [];
  for (const on of [here, there])
    for (const path of [PROJECT_EVENTS, DELEGATES]) {
      const response = await open(on, path, headers);
      assert.equal(response.status, 200);
      const stream = eventsOf(response);
      assert.equal((await stream.next()).value?.event, "reset");
      streams.push(stream);
    }
  return streams;
}

async function end(streams: readonly AsyncGenerator<StreamEvent>[]): Promise<void> {
  for (const stream of streams) for (let next = await stream.next(); !next.done; next = await stream.next());
}

test("a stream needs the session's anti-forgery token beside its cookie", async () => {
  const { headers } = await createSession(here);
  for (const path of [PROJECT_EVENTS, DELEGATES]) {
    const refused = await open(here, path, { cookie: headers.cookie });
    assert.deepEqual([refused.status, /x-csrf-token/.test(await refused.text())], [403, true]);
    assert.equal((await open(here, path, { "x-csrf-token": headers["x-csrf-token"] })).status, 401);
  }
});

// No job of the servers runs here: a notification ends the streams at once.
test("signing out ends the streams of the session on every server, and no others", async () => {
  const [session, other] = [await createSession(here), await createSession(here)];
  const streams = await openAll(session);
  const others = await openAll(other);
  const signedOut = await here.send("POST", "/auth/logout", {
    ...{ apiKey: null, headers: { ...session.headers, origin: here.url } },
  });
  assert.equal(signedOut.status, 200, signedOut.text);
  await end(streams);
  assert.equal((await open(there, DELEGATES, session.headers)).status, 401);
  const fresh = await openAll(other);
  for (const stream of [...others, ...fresh]) await stream.return(undefined);
});

test("a lost permission ends the streams of the session on every server", async () => {
  const apiKey = await here.addUser("_account_viewer");
  const [row] = await here.db.query<{ email: string; id: string }>(
    "select email, id from users order by id desc limit 1",
  );
  assert.ok(row && row.email !== ADMIN && apiKey);
  here.clock.advance(1_000);
  const streams = await openAll(await createSession(here, row.email));
  const [assignment] = await here.db.query<{ identifier: string }>(
    "select identifier from role_assignments where principal_id = $1",
    [row.id],
  );
  const removed = await here.send("DELETE", `/authz/api/roleassignments/${assignment?.identifier}`);
  assert.equal(removed.status, 200, removed.text);
  here.clock.advance(1_000);
  await end(streams);
});
