/** Following the delegates of an account over real sockets, on two replicas. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventsOf, type StreamEvent } from "../../../test/support/clients/event-stream.ts";
import { openStream } from "../../../test/support/clients/follower.ts";
import { JSON_TYPE, made } from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { pretendDelegate, type PretendDelegate } from "../../../test/support/pretend-delegate.ts";
import { createPipelines, startRun } from "../../../test/support/runs.ts";
import { assignServiceAccountRole, serviceToken } from "../../../test/support/service-accounts.ts";
import { LOST_AFTER_MS } from "../delegate.ts";

let platform: TestPlatform;
let replica: TestPlatform;
let token: string;

before(async () => {
  platform = await startTestPlatform();
  replica = await platform.replica();
  token = await platform.delegateToken();
  await createPipelines(platform, { id: "one", steps: [{ id: "a" }] });
});
after(() => platform?.stop());

const PATH = "/ng/api/delegate-setup/events";

// oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary responses
type Shown = any;

/** Opens a stream and reads its `reset`. */
async function connected(to: TestPlatform, apiKey = to.apiKey): Promise<AsyncGenerator<StreamEvent>> {
  const { response } = await openStream(to, PATH, { apiKey });
  assert.equal(response.status, 200);
  const stream = eventsOf(response);
  assert.equal((await stream.next()).value?.event, "reset");
  return stream;
}

/** Polls on both servers until the stream shows the delegate as wanted. Returns it as it was sent. */
async function shown(
  stream: AsyncGenerator<StreamEvent>,
  name: string,
  isWanted: (delegate: Shown) => boolean,
): Promise<Shown> {
  for (;;) {
    for (const each of [platform, replica]) await each.platform.sweep();
    const { value, done } = await stream.next();
    assert.ok(!done, "the stream ended");
    assert.equal(value.event, "delegates");
    const found = value.data.content.find((one: Shown) => one.delegateName === name && isWanted(one));
    if (found) return found;
  }
}

async function listed(name: string): Promise<Shown> {
  const { body } = await platform.send("POST", "/ng/api/delegate-setup/listDelegates", {
    contentType: JSON_TYPE,
    body: JSON.stringify({ delegateName: name }),
  });
  return body.resource.at(-1);
}

const come = async (name: string, to = platform): Promise<PretendDelegate & { readonly id: string }> => {
  const delegate = await pretendDelegate({ url: to.url, token, name, tags: ["linux"], slots: 2 });
  return { ...delegate, id: (await delegate.next("welcome")).delegate };
};

const changeTags = (id: string, tags: readonly string[]): Promise<unknown> =>
  platform.send("PUT", `/api/delegate/${id}/delegate-tags?accountId=${platform.accountId}`, {
    contentType: JSON_TYPE,
    body: JSON.stringify({ tags }),
  });

test("what changes about a delegate is sent by each replica as the list shows it", async () => {
  const streams = [await connected(platform), await connected(replica)];
  const delegate = await come("build-1", replica);
  for (const stream of streams)
    assert.deepEqual(await shown(stream, "build-1", ({ connected: is }) => is), await listed("build-1"));
  await changeTags(delegate.id, ["eu"]);
  for (const stream of streams) await shown(stream, "build-1", ({ tags }) => tags[0] === "eu");
  await startRun(replica, "one");
  const run = await delegate.next("run");
  for (const stream of streams) {
    const { slots, slotsInUse } = await shown(stream, "build-1", (one) => one.slotsInUse === 1);
    assert.deepEqual([slots, slotsInUse], [2, 1]);
  }
  delegate.finish(run);
  await delegate.next("finishedAck");
  for (const stream of streams) await shown(stream, "build-1", (one) => one.slotsInUse === 0);
  await delegate.close();
  platform.clock.advance(LOST_AFTER_MS + 1);
  for (const stream of streams) await shown(stream, "build-1", ({ connected: is }) => !is);
  assert.equal((await platform.send("DELETE", `/ng/api/delegate-setup/delegates/${delegate.id}`)).status, 200);
  for (const stream of streams) {
    assert.deepEqual(await shown(stream, "build-1", ({ status }) => status === "DELETED"), await listed("build-1"));
    await stream.return(undefined);
  }
});

test("a heartbeat alone is no event, and delegates of other accounts are none", async () => {
  const delegate = await come("steady");
  const stream = await connected(platform);
  const other = await platform.addAccount();
  const { body } = await platform.send("POST", "/ng/api/delegate-token-ng?tokenName=t", {
    ...{ apiKey: other.apiKey, account: other.accountId },
  });
  const foreign = await pretendDelegate({ url: platform.url, token: body.resource.value, name: "foreign" });
  await foreign.next("welcome");
  platform.clock.advance(10_000);
  delegate.send({ kind: "heartbeat" });
  await delegate.roundTrip();
  for (const nth of [0, 1]) {
    await platform.platform.sweep();
    if (nth === 0) await foreign.roundTrip();
  }
  await changeTags(delegate.id, ["changed"]);
  const { value } = await stream.next();
  assert.deepEqual(
    value?.data.content.map((one: Shown) => [one.delegateName, one.tags]),
    [["steady", ["changed"]]],
  );
  await stream.return(undefined);
  for (const each of [delegate, foreign]) await each.close();
});

test("a stream needs the permission to view delegates, and ends with it", async () => {
  await made(
    platform.send("POST", "/ng/api/serviceaccount", {
      contentType: JSON_TYPE,
      body: JSON.stringify({ identifier: "viewer", name: "viewer" }),
    }),
  );
  const apiKey = await serviceToken(platform, "viewer");
  const { response, abort } = await openStream(platform, PATH, { apiKey });
  assert.equal(response.status, 403);
  abort();
  await assignServiceAccountRole(platform, "viewer", "_account_viewer");
  const stream = await connected(replica, apiKey);
  await platform.db.query("delete from role_assignments where principal_type = 'SERVICE_ACCOUNT'");
  platform.clock.advance(1_000);
  await replica.platform.sweep();
  for (let next = await stream.next(); !next.done; next = await stream.next());
});
