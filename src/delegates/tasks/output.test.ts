/** Invariant 6: each byte of a step's output is taken once and in order, and acked when it is committed. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { MAX_CHUNK, MAX_OUTPUTS } from "../../../protocol/messages.ts";
import { detailOf, createPipelines, logOf, startRun, statusesOf } from "../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import {
  newIdentity,
  pretendDelegate,
  type Lease,
  type PretendDelegate,
} from "../../../test/support/pretend-delegate.ts";
import { snapshot } from "../../../test/support/watch.ts";

let platform: TestPlatform;
let token: string;
const identity = newIdentity();

before(async () => {
  platform = await startTestPlatform();
  token = await platform.delegateToken();
  await createPipelines(platform, { id: "one", steps: [{ id: "only" }] });
});
after(() => platform?.stop());

const connect = (holds: Lease[] = []): Promise<PretendDelegate> =>
  pretendDelegate({ url: platform.url, token, identity, holds: holds.map(({ task, epoch }) => ({ task, epoch })) });

/** A run whose task a fresh connection holds. */
async function held(): Promise<{ id: string; run: Lease; delegate: PretendDelegate }> {
  const delegate = await connect();
  await delegate.next("welcome");
  const id = await startRun(platform, "one");
  return { id, run: await delegate.next("run"), delegate };
}

const committed = async (): Promise<number> => {
  const [row] = await platform.db.query<{ at: number }>("select log_offset as at from tasks where status = 'leased'");
  return Number(row?.at);
};

/** From how far back a message begins, how far ahead it reaches, and what happens before it. */
const move = fc.record({
  back: fc.nat(40),
  ahead: fc.nat(60),
  before: fc.constantFrom("nothing", "nothing", "nothing", "repeat", "reconnect"),
});

test("any cuts, repeats and reconnects give the script's output", async () => {
  const property = fc.asyncProperty(
    fc.array(move, { maxLength: 12 }),
    fc.string({ unit: "grapheme" }),
    async (moves, text) => {
      const output = Buffer.from(`${text}\n`.repeat(12));
      const { id, run, ...first } = await held();
      let { delegate } = first;
      let at = 0;
      for (const { back, ahead, before } of moves) {
        if (before === "reconnect") {
          await delegate.cut();
          delegate = await connect([run]);
          assert.deepEqual((await delegate.next("welcome")).keep, [{ task: run.task, epoch: run.epoch, offset: at }]);
        }
        const from = Math.max(0, at - back);
        const part = output.subarray(from, at + ahead);
        for (let times = before === "repeat" ? 2 : 1; times > 0; times -= 1) {
          delegate.log(run, from, part);
          at = Math.max(at, from + part.length);
          assert.equal((await delegate.next("logAck")).offset, at);
          assert.equal(await committed(), at, "acked before it was committed");
        }
      }
      const from = Math.max(0, at - 7);
      delegate.finish(run, { offset: from, output: output.subarray(from) });
      await delegate.next("finishedAck");
      assert.equal(await logOf(platform, id), output.toString());
      await delegate.close();
    },
  );
  await fc.assert(property, { numRuns: 40 });
});

test("messages sent without waiting for their acks are taken in order", async () => {
  const { id, run, delegate } = await held();
  for (let at = 0; at < 200; at += 1) delegate.log(run, at * 4, `${String(at).padStart(3, "0")}\n`);
  for (let at = 0; at < 200; at += 1) assert.equal((await delegate.next("logAck")).offset, (at + 1) * 4);
  delegate.finish(run, { offset: 800, output: "end\n" });
  await delegate.next("finishedAck");
  const lines = Array.from({ length: 200 }, (_, at) => `${String(at).padStart(3, "0")}\n`);
  assert.equal(await logOf(platform, id), `${lines.join("")}end\n`);
  await delegate.close();
});

test("a gap in the output closes the connection, also at the end, and nothing is taken", async () => {
  const { id, run, ...first } = await held();
  let { delegate } = first;
  delegate.log(run, 0, "12345");
  await delegate.next("logAck");
  const before = await snapshot(platform);
  delegate.log(run, 6, "7");
  await delegate.closed;
  delegate = await connect([run]);
  await delegate.next("welcome");
  delegate.finish(run, { offset: 9, output: "x" });
  await delegate.closed;
  // Refused would end the delegate for good, and with it all its other steps.
  assert.deepEqual(delegate.waiting(), []);
  assert.equal(await snapshot(platform), before);
  delegate = await connect([run]);
  await delegate.next("welcome");
  delegate.finish(run, { offset: 5, output: "6" });
  await delegate.next("finishedAck");
  assert.equal(await logOf(platform, id), "123456");
  assert.equal(await statusesOf(platform, id), "Success");
  await delegate.close();
});

test("a message holds at most MAX_CHUNK bytes, as readers rely on it", async () => {
  const { id, run, ...first } = await held();
  let { delegate } = first;
  const before = await snapshot(platform);
  for (const extra of [1, 2, 5]) {
    delegate.log(run, 0, Buffer.alloc(MAX_CHUNK + extra, "x"));
    await delegate.closed;
    delegate = await connect([run]);
    await delegate.next("welcome");
  }
  assert.equal(await snapshot(platform), before);
  delegate.log(run, 0, Buffer.alloc(MAX_CHUNK, "x"));
  assert.equal((await delegate.next("logAck")).offset, MAX_CHUNK);
  delegate.finish(run, { offset: MAX_CHUNK, output: "y" });
  await delegate.next("finishedAck");
  assert.equal(await logOf(platform, id, `?from=${MAX_CHUNK - 1}`), "xy");
  await delegate.close();
});

test("output variables over MAX_OUTPUTS fail the step, whatever its delegate thinks; none is stored", async () => {
  // Two bytes each in UTF-8: characters are not what counts.
  const half = "ä".repeat(MAX_OUTPUTS / 4);
  const most = [
    { name: "a", value: half },
    { name: "b", value: half },
  ];
  const fits = await held();
  fits.delegate.finish(fits.run, { outputs: most });
  await fits.delegate.next("finishedAck");
  assert.equal(await statusesOf(platform, fits.id), "Success");
  await fits.delegate.close();

  const { id, run, delegate } = await held();
  delegate.finish(run, { output: "done\n", outputs: [...most, { name: "c", value: "x" }] });
  await delegate.next("finishedAck");
  const { status, step } = await detailOf(platform, id);
  assert.equal(status, "Failed");
  const { message, failureTypeList } = step("only")["failureInfo"];
  assert.match(message, /output variables have 524289 bytes, the limit is 524288; none was taken/);
  assert.deepEqual(failureTypeList, ["APPLICATION_ERROR"]);
  assert.deepEqual(step("only")["outcomes"], {});
  assert.equal(await logOf(platform, id), "done\n");
  const [row] = await platform.db.query<{ bytes: number }>(
    "select sum(length(rest::text) + length(outputs::text))::int as bytes from execution_nodes where execution_id = (select max(id::text)::uuid from executions)",
  );
  assert.ok(Number(row?.bytes) < 10_000);
  await delegate.close();
});
