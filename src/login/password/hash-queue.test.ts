/** Order of password hashing. The test ends each hash itself. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Uuid } from "../../core/ids.ts";
import { createHashQueue, type Hasher } from "./hash-queue.ts";

const visitor = (nth: number, network = "192.0.2"): Hasher => ({ kind: "visitor", address: `${network}.${nth}` });
const ADA: Hasher = { kind: "signed-in", id: "ada" as Uuid };
const BUSY = { code: "login.busy", status: 503 };

/** Hashes that record their start and end in that order, when the test says so. */
function hashes(elapsed = (): number => 0) {
  const inTurn = createHashQueue(elapsed);
  const began: string[] = [];
  const ends: (() => void)[] = [];
  return {
    began,
    ask: (name: string, hasher: Hasher): Promise<string> =>
      inTurn(hasher, async () => {
        began.push(name);
        await new Promise<void>((end) => void ends.push(end));
        return name;
      }),
    settled: async (): Promise<void> => void (await new Promise(setImmediate)),
    endOldest: async (): Promise<void> => {
      ends.shift()?.();
      await new Promise(setImmediate);
    },
  };
}

test("a signed-in actor waits for one hash and is not refused, however many unauthenticated callers wait", async () => {
  const { began, ask, settled, endOldest } = hashes();
  const refused: unknown[] = [];
  // More than the queue accepts: 5 networks with 60 attempts each.
  for (let nth = 0; nth < 300; nth += 1)
    ask("visitor", visitor(nth % 5)).catch((error: unknown) => void refused.push(error));
  await settled();
  assert.deepEqual(began, ["visitor", "visitor"]);
  assert.equal(refused.length, 300 - 2 - 200);
  const adas = ask("ada", ADA);
  await endOldest();
  assert.deepEqual(began.slice(2), ["ada"]);
  for (let nth = 0; nth < 3; nth += 1) await endOldest();
  assert.equal(await adas, "ada");
});

test("callers of one network delay and refuse callers of that network only", async () => {
  const { began, ask, settled, endOldest } = hashes();
  for (let nth = 0; nth < 52; nth += 1) ask("flood", visitor(1)).catch(assert.ifError);
  await assert.rejects(ask("flood", visitor(1)), BUSY);
  ask("other", visitor(2)).catch(assert.ifError);
  await settled();
  assert.deepEqual(began, ["flood", "flood"]);
  await endOldest();
  assert.deepEqual(began.slice(2), ["other"]);
});

test("a hash that waits too long is refused, and so are more hashes of one actor than the queue accepts", async () => {
  let now = 0;
  const { ask, settled, endOldest } = hashes(() => now);
  for (let nth = 0; nth < 11; nth += 1) ask("ada", ADA).catch(() => undefined);
  const last = ask("ada", ADA);
  const tooMany = ask("ada", ADA);
  await assert.rejects(tooMany, BUSY);
  await settled();
  now = 10_001;
  const late = assert.rejects(last, BUSY);
  await endOldest();
  await late;
});
