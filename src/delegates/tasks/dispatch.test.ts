/** Which delegate gets a task, and when. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import {
  addPipeline,
  detailOf,
  waitForEnd,
  createPipelines,
  startRun,
  statusesOf,
} from "../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import {
  newIdentity,
  pretendDelegate,
  type PretendDelegate,
  type PretendOptions,
} from "../../../test/support/pretend-delegate.ts";
import type { Db, Query } from "../../platform/db/db.ts";
import { READY_CHANNEL } from "./dispatch.ts";

let platform: TestPlatform;
let token: string;
const opened: PretendDelegate[] = [];
/** Lets a test stand between the platform and the answer to a statement that leases ready tasks. */
let leased: () => Promise<void> = async () => {};
/** The platform has heard that something is ready. */
let heard: () => void = () => {};

before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) => {
      const query: Query = async (text, values) => {
        const rows = await db.query<never>(text, values);
        if (text.includes("skip locked")) await leased();
        return rows;
      };
      const listen: Db["listen"] = (channel, notified) =>
        db.listen(channel, (payload) => {
          notified(payload);
          if (channel === READY_CHANNEL && payload !== "") heard();
        });
      return { ...db, query, listen };
    },
  });
  token = await platform.delegateToken();
  await createPipelines(
    platform,
    { id: "one", steps: [{ id: "a" }] },
    { id: "two", steps: [{ id: "a" }, { id: "b" }] },
  );
});
after(() => platform?.stop());
afterEach(async () => {
  leased = async () => {};
  for (const delegate of opened.splice(0)) await delegate.cut();
  // What a failed test left is nobody's business any more.
  await platform.db.query("update tasks set status = 'finished' where status <> 'finished'");
});

const identities = new Map<string, string>();

/** A name keeps its identity from test to test. */
async function connect(options: Partial<PretendOptions> = {}): Promise<PretendDelegate> {
  const { name = "pretend" } = options;
  const identity = identities.get(name) ?? newIdentity();
  identities.set(name, identity);
  const delegate = await pretendDelegate({ url: platform.url, token, identity, ...options });
  opened.push(delegate);
  await delegate.next("welcome");
  return delegate;
}

const finish = async (delegate: PretendDelegate): Promise<void> => {
  delegate.finish(await delegate.next("run"));
  await delegate.next("finishedAck");
};

const counts = async (): Promise<Record<string, number>> => {
  const rows = await platform.db.query<{ status: string; n: number }>(
    "select status, count(*) as n from tasks group by 1",
  );
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
};

const choices: readonly (readonly [selectors: string[], who: string | undefined])[] = [
  [["linux", "eu"], "both"],
  [["gpu"], "gpu-1"],
  [["gpu-1"], "gpu-1"],
  [["gpu-1", "gpu"], "gpu-1"],
  [["linux", "gpu"], undefined],
  [["Linux"], undefined],
  [["lin"], undefined],
  [["linux "], undefined],
  [["both", "gpu-1"], undefined],
];
for (const [selectors, who] of choices) {
  test(`[${selectors.join(", ")}] is for ${who ?? "none of them"}`, async () => {
    const delegates = {
      both: await connect({ name: "both", tags: ["linux", "eu"] }),
      "gpu-1": await connect({ name: "gpu-1", tags: ["gpu"] }),
    };
    const pipeline = `p${selectors.join("_").replaceAll(/\W/g, "_")}`;
    await addPipeline(platform, { id: pipeline, steps: [{ id: "a", selectors }] });
    const id = await startRun(platform, pipeline);
    if (who === undefined) {
      const { step } = await detailOf(platform, id);
      assert.equal(step("a")["status"], "TaskWaiting");
      assert.ok(step("a")["waitReason"].includes(`[${selectors.join(", ")}]`), step("a")["waitReason"]);
      await platform.platform.reconcile();
      // One with all of them, among others, comes by: it runs.
      await finish(await connect({ name: "any", tags: [...selectors, "more"] }));
    } else await finish(delegates[who as "both"]);
    const { status, step } = await detailOf(platform, id);
    assert.equal(status, "Success");
    assert.equal(step("a")["delegateInfoList"][0].name, who ?? "any");
  });
}

test("one slot means one task at a time, and the next step of an execution takes the slot that the last one left", async () => {
  const delegate = await connect({ slots: 1 });
  const ids = [];
  for (let runs = 0; runs < 3; runs += 1) ids.push(await startRun(platform, "two"));
  for (const id of ids) {
    for (const name of ["a", "b"]) {
      const run = await delegate.next("run");
      assert.equal((await counts())["leased"], 1);
      const { step } = await detailOf(platform, id);
      assert.equal(step(name)["status"], "Running");
      delegate.finish(run);
    }
  }
  assert.deepEqual(await Promise.all(ids.map((id) => waitForEnd(platform, id))), ["SUCCESS", "SUCCESS", "SUCCESS"]);
});

test("a task without a delegate says what it waits for, and runs when one connects", async () => {
  const id = await startRun(platform, "one");
  const { step, status } = await detailOf(platform, id);
  assert.equal(status, "Running");
  assert.equal(step("a")["status"], "TaskWaiting");
  assert.equal(step("a")["waitReason"], "Waits for a delegate: none that is connected has a free slot.");
  await finish(await connect());
  assert.equal(await statusesOf(platform, id, "a"), "Success a:Success");
  assert.equal((await detailOf(platform, id)).step("a")["waitReason"], null);
});

test("a delegate may answer its welcome before the server has looked what waits for it", async () => {
  const first = await connect({ name: "quick" });
  const id = await startRun(platform, "one");
  const run = await first.next("run");
  await first.cut();
  const go = Promise.withResolvers<void>();
  leased = () => go.promise;
  const second = await connect({ name: "quick", holds: [{ task: run.task, epoch: run.epoch }] });
  second.finish(run);
  await second.next("finishedAck");
  assert.equal(await statusesOf(platform, id), "Success");
  go.resolve();
});

test("many looks at once do not lease more than there are slots", async () => {
  for (let runs = 0; runs < 8; runs += 1) await startRun(platform, "one");
  const delegate = await connect({ slots: 2 });
  await Promise.all([1, 2, 3, 4, 5].map(() => platform.platform.reconcile()));
  for (let left = 8; left > 0; left -= 1) {
    const run = await delegate.next("run");
    assert.ok(((await counts())["leased"] ?? 0) <= 2);
    await platform.platform.reconcile();
    delegate.finish(run);
    await delegate.next("finishedAck");
  }
});

test("a task that comes while the only slots are being looked for is not forgotten", async () => {
  const delegate = await connect({ slots: 1 });
  const [reached, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  leased = () => {
    reached.resolve();
    return go.promise;
  };
  const looked = platform.platform.reconcile();
  await reached.promise;
  leased = async () => {};
  const told = Promise.withResolvers<void>();
  heard = told.resolve;
  // The one slot is set aside, so this one waits, and the wake-up about it comes too early.
  const id = await startRun(platform, "one");
  await told.promise;
  go.resolve();
  await looked;
  await finish(delegate);
  assert.equal(await statusesOf(platform, id), "Success");
});
