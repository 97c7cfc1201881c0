import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { grantOf } from "../../../test/support/access.ts";
import type { Actor } from "../../core/actor.ts";
import type { Grants } from "../../core/grants.ts";
import type { Uuid } from "../../core/ids.ts";
import { createGrantWatcher } from "./grant-watcher.ts";

const accountId = "01a1fc75-fee1-7000-8000-000000000001" as Uuid;
const nth = (n: number): Uuid => `01a1fc75-fee1-7000-8000-${String(n).padStart(12, "0")}` as Uuid;
const ADMIN: Grants = [grantOf("_account_admin")];
const VIEWER: Grants = [grantOf("_account_viewer")];

/** All actors hold the grants of `now`. `asked` has the actors of each query. */
function kit(now: Map<Uuid, Grants>) {
  const asked: Uuid[] = [];
  const errors: unknown[] = [];
  const state = { fail: false };
  const watching = createGrantWatcher({
    grantsOfAll: async (_account, principals) => {
      const ids = principals.map(({ id }) => id);
      asked.push(...ids);
      if (state.fail) throw new Error("no database");
      return new Map(ids.map((id) => [id, now.get(id) ?? []]));
    },
    onError: (error) => errors.push(error),
  });
  return { asked, errors, state, ...watching };
}

const person = (id: Uuid, grants: Grants): Actor => ({
  ...{ kind: "user", accountId, id, grants },
  ...{ name: "ada", email: "ada@example.com" },
});

test("a removed watcher is not checked any more; several streams of one user each get one call", async () => {
  const now = new Map([
    [nth(1), ADMIN],
    [nth(2), ADMIN],
  ]);
  const { asked, watch, check } = kit(now);
  const ended: number[] = [];
  watch(person(nth(1), ADMIN), () => ended.push(1));
  watch(person(nth(1), ADMIN), () => ended.push(11));
  const stop = watch(person(nth(2), ADMIN), () => ended.push(2));
  await setImmediate();
  stop();
  asked.length = 0;
  now.clear();
  await check();
  await check();
  assert.deepEqual([ended, asked], [[1, 11], [nth(1)]]);
});

test("an actor whose grants have changed before watching began ends with the first check", async () => {
  const { watch } = kit(new Map([[nth(1), VIEWER]]));
  const ended = Promise.withResolvers<void>();
  watch(person(nth(1), ADMIN), ended.resolve);
  await ended.promise;
});

test("when grants cannot be read, streams stay open and the failure is reported", async () => {
  const now = new Map([[nth(1), ADMIN]]);
  const { watch, check, state, errors } = kit(now);
  let isOver = false;
  state.fail = true;
  watch(person(nth(1), ADMIN), () => void (isOver = true));
  await setImmediate();
  assert.equal(errors.length, 1);
  await assert.rejects(check(), /no database/);
  assert.equal(isOver, false);
  state.fail = false;
  now.set(nth(1), VIEWER);
  await check();
  assert.equal(isOver, true);
});

test("many streams with the same grants cost one comparison", async () => {
  let reads = 0;
  const [grant] = ADMIN;
  assert.ok(grant);
  const counted = (): Grants => [
    {
      ...grant,
      get permissions() {
        reads += 1;
        return grant.permissions;
      },
    },
  ];
  const readsOf = async (streams: number): Promise<number> => {
    const now = new Map([[nth(1), ADMIN]]);
    const { watch, check } = kit(now);
    for (let n = 0; n < streams; n += 1) watch(person(nth(1), ADMIN), assert.fail);
    await setImmediate();
    now.set(nth(1), counted());
    reads = 0;
    await check();
    return reads;
  };
  const one = await readsOf(1);
  assert.ok(one > 0);
  assert.equal(await readsOf(50), one);
});

test("each actor is checked in their own account", async () => {
  const other = "01a1fc75-fee1-7000-8000-000000000002" as Uuid;
  const asked: string[] = [];
  const { watch, check } = createGrantWatcher({
    grantsOfAll: async (account, principals) => {
      asked.push(...principals.map(({ id }) => `${account} ${id}`));
      return new Map(principals.map(({ id }) => [id, ADMIN]));
    },
    onError: (error) => assert.fail(String(error)),
  });
  watch(person(nth(1), ADMIN), assert.fail);
  watch({ ...person(nth(2), ADMIN), accountId: other }, assert.fail);
  await setImmediate();
  asked.length = 0;
  await check();
  assert.deepEqual(asked, [`${accountId} ${nth(1)}`, `${other} ${nth(2)}`]);
});
