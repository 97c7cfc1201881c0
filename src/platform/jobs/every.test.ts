import assert from "node:assert/strict";
import { test } from "node:test";
import { every } from "./every.ts";

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
};

test("runs again and again, never two at once, and its errors end nothing", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const errors: unknown[] = [];
  let [started, finish] = [0, (): void => {}];
  const work = (): Promise<void> => {
    started += 1;
    if (started === 1) return Promise.reject(new Error("first"));
    const { promise, resolve } = Promise.withResolvers<void>();
    finish = resolve;
    return promise;
  };
  const job = every(1_000, work, (error) => errors.push(error));
  assert.equal(started, 0, "the first run comes after the first rest");
  t.mock.timers.tick(1_000);
  await settle();
  assert.equal(started, 1);
  assert.match(String(errors), /first/);
  t.mock.timers.tick(1_000);
  assert.equal(started, 2);
  t.mock.timers.tick(10_000);
  assert.equal(started, 2, "the second run is still under way");
  const stopped = job.stop();
  let over = false;
  const watched = stopped.then(() => void (over = true));
  await settle();
  assert.equal(over, false, "stopping waits for the run that is under way");
  finish();
  await watched;
  t.mock.timers.tick(10_000);
  assert.equal(started, 2, "and nothing runs after it");
});
