import assert from "node:assert/strict";
import { test } from "node:test";
import { asUnauthenticated } from "./db/pool/budget.ts";
import { createCachedLookup } from "./cached-lookup.ts";

function lookups() {
  const state = { now: 0, begun: 0, answer: Promise.withResolvers<string | undefined>() };
  const cache = createCachedLookup<string>(10, () => state.now);
  const find = async (key = "a") =>
    cache.find(key, async (now) => {
      state.begun += 1;
      const value = await state.answer.promise;
      return value === undefined ? undefined : { value, until: now + 10 };
    });
  const answer = (value: string | undefined): void => {
    state.answer.resolve(value);
    state.answer = Promise.withResolvers();
  };
  return { state, cache, find, answer };
}

test("concurrent lookups of one key are one, and its result is cached until its time", async () => {
  const { state, find, answer } = lookups();
  const all = [find(), find(), find("b")];
  assert.equal(state.begun, 2);
  answer("found");
  assert.deepEqual(await Promise.all(all), ["found", "found", "found"]);
  state.now = 9;
  assert.equal(await find(), "found");
  state.now = 10;
  const again = find();
  assert.equal(state.begun, 3);
  answer("changed");
  assert.equal(await again, "changed");
});

test("an absent value and a failure are not cached", async () => {
  const { state, cache, find, answer } = lookups();
  const absent = find();
  answer(undefined);
  assert.equal(await absent, undefined);
  await assert.rejects(async () => cache.find("a", () => Promise.reject(new Error("no database"))), /no database/);
  const found = find();
  assert.equal(state.begun, 2);
  answer("found");
  assert.equal(await found, "found");
});

test("a lookup that began before `clear` gives its result only to the callers that already wait for it", async () => {
  const { state, cache, find, answer } = lookups();
  const before = find();
  cache.clear();
  answer("before");
  const after = find();
  assert.equal(state.begun, 2);
  assert.equal(await before, "before");
  answer("after");
  assert.equal(await after, "after");
  assert.equal(await find(), "after");
});

test("a lookup is joined in its first second, and not by senders in another line", async () => {
  const { state, find, answer } = lookups();
  const findFromElsewhere = () => asUnauthenticated({ clientAddress: "192.0.2.7" }, () => find());
  const all = [find(), findFromElsewhere(), findFromElsewhere()];
  assert.equal(state.begun, 2);
  state.now = 999;
  all.push(find());
  assert.equal(state.begun, 2);
  state.now = 1_000;
  all.push(find());
  assert.equal(state.begun, 3);
  answer("found");
  assert.deepEqual(await Promise.all(all), ["found", "found", "found", "found", "found"]);
});
