/** What messages about tasks cost that the delegate does not lease. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { pretendDelegate, type PretendDelegate } from "../../../test/support/pretend-delegate.ts";
import { createPipelines, startRun, statusesOf, waitForEnd } from "../../../test/support/runs.ts";
import { toWire, type Uuid } from "../../core/ids.ts";

let platform: TestPlatform;
let token: string;
const aboutTasks: string[] = [];
const watched = (text: string): void => {
  if (/\btasks\b/.test(text) && text.includes("id = $2")) aboutTasks.push(text);
};

before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) => ({
      ...db,
      tuples: (text, values) => (watched(text), db.tuples(text, values)),
      query: (text, values) => (watched(text), db.query(text, values)),
      transaction: (work) =>
        db.transaction((tx) => work({ ...tx, query: (text, values) => (watched(text), tx.query(text, values)) })),
    }),
  });
  token = await platform.delegateToken();
  await createPipelines(platform, { id: "one", steps: [{ id: "only", selectors: ["known"] }] });
});
after(() => platform?.stop());
beforeEach(() => void aboutTasks.splice(0));

const KINDS = [
  (to: PretendDelegate, task: string) => to.finish({ task, epoch: 1 }),
  (to: PretendDelegate, task: string) => to.log({ task, epoch: 1 }, 0, "x"),
  (to: PretendDelegate, task: string) => to.send({ kind: "returned", task, epoch: 1, reason: "none" }),
];

test("a message about a task of no or of another delegate takes one read, and the delegate's own task goes on", async () => {
  const delegate = await pretendDelegate({ url: platform.url, token, name: "known", tags: ["known"] });
  const other = await pretendDelegate({ url: platform.url, token, name: "other", tags: [] });
  for (const one of [delegate, other]) await one.next("welcome");
  const id = await startRun(platform, "one");
  const run = await delegate.next("run");
  for (const [from, task] of [
    [delegate, toWire(randomUUIDv7() as Uuid)],
    [other, run.task],
  ] as const)
    for (const send of KINDS) {
      aboutTasks.splice(0);
      send(from, task);
      assert.deepEqual(await from.next("drop"), { kind: "drop", task, epoch: 1 });
      // After a drop the delegate is offered what waits.
      const ofMessage = aboutTasks.filter((text) => !text.includes("skip locked"));
      assert.equal(ofMessage.length, 1, ofMessage.join("\n"));
      assert.match(ofMessage[0] ?? "", /^select 1 from tasks where .*delegate_id = \$3$/);
    }
  delegate.finish(run);
  await delegate.next("finishedAck");
  // Its answer was lost.
  delegate.finish(run);
  await delegate.next("finishedAck");
  await waitForEnd(platform, id);
  assert.equal(await statusesOf(platform, id, "only"), "Success only:Success");
  for (const one of [delegate, other]) await one.close();
});

test("a message about a task ends the connection of a delegate that waits for approval, without a statement", async () => {
  const setting = { identifier: "delegate_approval_required", value: "true", allowOverrides: false };
  await platform.send("PUT", "/ng/api/settings", {
    contentType: "application/json",
    body: JSON.stringify([{ ...setting, updateType: "UPDATE" }]),
  });
  platform.clock.advance(1_001);
  for (const [nth, send] of KINDS.entries()) {
    const delegate = await pretendDelegate({ url: platform.url, token, name: `waits${nth}` });
    await delegate.next("welcome");
    aboutTasks.splice(0);
    for (let times = 0; times < 20; times += 1) send(delegate, toWire(randomUUIDv7() as Uuid));
    await delegate.closed;
    assert.deepEqual([aboutTasks, delegate.waiting()], [[], []]);
  }
});
