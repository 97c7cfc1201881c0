import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Uuid } from "../../core/ids.ts";
import { handClock } from "../../../test/support/platform.ts";
import { createCredentialWatcher, type SelectValid } from "./credential-watcher.ts";

const accountId = "01a1fc75-fee1-7000-8000-000000000001" as Uuid;
const nth = (n: number): Uuid => `01a1fc75-fee1-7000-8000-${String(n).padStart(12, "0")}` as Uuid;

/** Tokens and sessions that are valid until the test removes them. `asked` has the ids of each query. */
function kit(...held: readonly Uuid[]) {
  const valid = new Set(held);
  const asked: Uuid[][] = [];
  const errors: unknown[] = [];
  const state = { fail: false, gate: Promise.resolve() };
  const selectValid: SelectValid = async (credentials) => {
    asked.push(credentials.map(({ id }) => id));
    const now = [...valid];
    await state.gate;
    if (state.fail) throw new Error("no database");
    return now;
  };
  const watching = createCredentialWatcher({
    clock: handClock(),
    selectValid: { token: selectValid, session: selectValid },
    onError: (error) => errors.push(error),
  });
  return { valid, asked, errors, state, ...watching };
}

const token = (id: Uuid) => ({ kind: "token", accountId, id }) as const;

test("each stream gets one call after its credential has ended, and a removed watcher is not checked", async () => {
  const { valid, asked, watch, check } = kit(nth(1), nth(2), nth(3));
  const ended: number[] = [];
  watch(token(nth(1)), () => ended.push(1));
  watch(token(nth(1)), () => ended.push(11));
  watch({ kind: "session", accountId, id: nth(2) }, () => ended.push(2));
  const stop = watch(token(nth(3)), () => ended.push(3));
  await setImmediate();
  asked.length = 0;
  await check();
  assert.deepEqual(asked, [[nth(1), nth(3)], [nth(2)]], "one question for all tokens, one for all sessions");
  assert.deepEqual(ended, []);
  stop();
  for (const id of [nth(1), nth(3)]) valid.delete(id);
  await check();
  await check();
  assert.deepEqual(ended, [1, 11]);
  valid.clear();
  await check();
  assert.deepEqual(ended, [1, 11, 2]);
  asked.length = 0;
  await check();
  assert.deepEqual(asked, [], "nothing is open, so nothing is asked");
});

test("a new watcher is checked once on its own, since its authentication may be a second old", async () => {
  const { watch, asked } = kit();
  const ended: number[] = [];
  watch(token(nth(1)), () => ended.push(1));
  await setImmediate();
  assert.deepEqual([asked, ended], [[[nth(1)]], [1]]);
});

test("a check requested during another one runs afterwards", async () => {
  const { valid, state, watch, check } = kit(nth(1));
  let ended = false;
  watch(token(nth(1)), () => (ended = true));
  await setImmediate();
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  const first = check();
  valid.clear();
  const second = check();
  gate.resolve();
  await Promise.all([first, second]);
  assert.equal(ended, true);
});

test("a database failure ends no stream, and the next check finds ended credentials", async () => {
  const { valid, state, errors, watch, check } = kit(nth(1));
  let ended = false;
  watch(token(nth(1)), () => (ended = true));
  await setImmediate();
  state.fail = true;
  valid.clear();
  await assert.rejects(check(), /no database/);
  watch(token(nth(2)), () => undefined);
  await setImmediate();
  assert.equal(errors.length, 1);
  assert.equal(ended, false);
  state.fail = false;
  await check();
  assert.equal(ended, true);
});
