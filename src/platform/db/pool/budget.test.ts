/** Intake and each caller use their share of the connections and no more, so that others find one. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { freshDatabase, type TestDatabase } from "../../../../test/support/database.ts";
import { until } from "../../../../test/support/until.ts";
import { randomUUIDv7 } from "node:crypto";
import type { Actor } from "../../../core/actor.ts";
import type { Uuid } from "../../../core/ids.ts";
import { asCaller, asDelegate, asIntake, asUnauthenticated, outsideShares } from "./budget.ts";
import type { Db } from "../db.ts";

const CONNECTIONS = 4;
/** Half of them. */
const SHARE = 2;
/** A third of them. */
const CALLER_SHARE = 1;

let database: TestDatabase;
let db: Db;
before(async () => {
  database = await freshDatabase({ max: CONNECTIONS, shareTimeout: 60_000 });
  ({ db } = database);
});
after(() => database?.drop());

/** Transactions of intake that stay open until they are told to end. */
function holders(count: number) {
  const open = Promise.withResolvers<void>();
  let begun = 0;
  const all = Array.from({ length: count }, () =>
    asIntake(() =>
      db.transaction(async (tx) => {
        await tx.query("select 1");
        begun += 1;
        await open.promise;
      }),
    ),
  );
  return { begun: () => begun, end: async () => (open.resolve(), void (await Promise.all(all))) };
}

test("while intake has used up its share, reads and transactions of others get connections", async () => {
  const intake = holders(10);
  await until(intake.begun, (begun) => begun === SHARE);
  const waiting = asIntake(() => db.query<{ n: number }>("select 1 as n"));
  let answered = false;
  void waiting.then(() => (answered = true));
  // With the whole pool for everybody these two would wait for intake, which does not end before them.
  assert.deepEqual(await db.query("select 2 as n"), [{ n: 2 }]);
  assert.deepEqual(await db.tuples("select 3"), [[3]]);
  assert.deepEqual(await db.transaction((tx) => tx.query("select 4 as n")), [{ n: 4 }]);
  assert.equal(intake.begun(), SHARE);
  assert.equal(answered, false);
  await intake.end();
  assert.deepEqual(await waiting, [{ n: 1 }]);
  assert.equal(intake.begun(), 10);
});

test("a read of the same turn does not wait in the line of intake", async () => {
  const intake = holders(SHARE);
  await until(intake.begun, (begun) => begun === SHARE);
  const late = asIntake(() => db.tuples("select 1"));
  assert.deepEqual(await db.tuples("select 2"), [[2]]);
  await intake.end();
  assert.deepEqual(await late, [[1]]);
});

for (const [share, run] of [
  ["accounts and triggers", (turn: readonly [string, string], work) => asIntake(work, turn)],
  [
    "tokens and delegates",
    ([token, one]: readonly [string, string], work) => asDelegate(token as Uuid, one as Uuid, work),
  ],
] satisfies [string, (turn: readonly [string, string], work: () => Promise<unknown>) => Promise<unknown>][])
  test(`while a share is used up, ${share} take turns, and others find a connection`, async () => {
    const opens = Array.from({ length: SHARE }, () => Promise.withResolvers<void>());
    let begun = 0;
    const order: string[] = [];
    const one = (turn: readonly [string, string]) =>
      run(turn, async () => db.query("select 1").then(() => order.push(turn.join(""))));
    const held = opens.map(({ promise }) =>
      run(["a", "1"], () =>
        db.transaction(async (tx) => {
          await tx.query("select 1");
          begun += 1;
          await promise;
        }),
      ),
    );
    await until(
      () => begun,
      (count) => count === SHARE,
    );
    const waiting = [
      ["a", "1"],
      ["a", "1"],
      ["a", "1"],
      ["a", "1"],
      ["a", "2"],
      ["b", "1"],
    ] as const;
    const all = waiting.map(one);
    assert.deepEqual(await db.query("select 2 as n"), [{ n: 2 }]);
    assert.equal(order.length, 0);
    // One connection only, so the statements end in the order of their turns.
    opens[0]?.resolve();
    await Promise.all(all);
    for (const { resolve } of opens) resolve();
    await Promise.all(held);
    assert.deepEqual(order, ["a1", "b1", "a2", "a1", "a1", "a1"]);
  });

test("while the share of senders without an actor is used up, their addresses take turns", async () => {
  const order: string[] = [];
  const ask = (address: string) =>
    asUnauthenticated({ clientAddress: address }, () => db.query("select 1").then(() => order.push(address)));
  await Promise.all(["a", "a", "a", "a", "b"].map(ask));
  assert.equal(order.indexOf("b"), 2, order.join(" "));
});

test("of one network a thousand senders wait for their authentication, and the next one is refused at once", async () => {
  const open = Promise.withResolvers<void>();
  const ask = (clientAddress: string) => asUnauthenticated({ clientAddress }, () => db.query("select 1"));
  const begun = Promise.withResolvers<void>();
  const held = asUnauthenticated({ clientAddress: "192.0.2.7" }, () =>
    db.transaction(async (tx) => {
      await tx.query("select 1");
      begun.resolve();
      await open.promise;
    }),
  );
  await begun.promise;
  const waiting = Array.from({ length: 1_000 }, (_, nth) => ask(`2001:db8::${nth.toString(16)}`));
  await assert.rejects(ask("2001:db8::ffff"), { code: "db.busy" });
  const other = ask("192.0.2.8");
  open.resolve();
  await Promise.all([held, other, ...waiting]);
});

test("what intake asks beside its open transaction needs no second permit", async () => {
  const all = Array.from({ length: SHARE }, () =>
    asIntake(() =>
      db.transaction(async (tx) => {
        await tx.query("select 1");
        return db.query("select 5 as n");
      }),
    ),
  );
  for (const rows of await Promise.all(all)) assert.deepEqual(rows, [{ n: 5 }]);
});

test("a permit that is not granted in time is refused as busy, and failures give permits back", async (t) => {
  const other = await freshDatabase({ max: CONNECTIONS, shareTimeout: 1 });
  t.after(other.drop);
  const open = Promise.withResolvers<void>();
  const held = Array.from({ length: SHARE }, () => asIntake(() => other.db.transaction(() => open.promise)));
  await assert.rejects(
    asIntake(() => other.db.query("select 1")),
    { code: "db.busy", status: 503 },
  );
  open.resolve();
  await Promise.all(held);
  for (let nth = 0; nth < 3 * SHARE; nth += 1)
    await assert.rejects(asIntake(() => other.db.query("select no_such_column")));
  assert.deepEqual(await asIntake(() => other.db.query("select 6 as n")), [{ n: 6 }]);
});

const newCaller = (accountId = randomUUIDv7() as Uuid): Actor => ({
  ...{ kind: "user", accountId, id: randomUUIDv7() as Uuid, name: "a", email: "a@example.com", grants: [] },
});

test("reads of one caller use its share, while reads of another caller of the account are answered", async () => {
  const caller = newCaller();
  const open = Promise.withResolvers<void>();
  let begun = 0;
  const slow = Array.from({ length: 10 }, () =>
    asCaller(caller, () =>
      db.transaction(async (tx) => {
        await tx.query("select 1");
        begun += 1;
        await open.promise;
      }),
    ),
  );
  await until(
    () => begun,
    (count) => count === CALLER_SHARE,
  );
  let answered = 0;
  const late = [
    asCaller({ ...caller }, () => db.tuples("select 1")),
    asCaller({ ...caller }, () => db.query("select 1 as n")),
  ];
  for (const one of late) void one.then(() => (answered += 1));
  const other = newCaller(caller.accountId);
  assert.deepEqual(await asCaller(other, () => db.query("select 2 as n")), [{ n: 2 }]);
  assert.deepEqual(await asCaller(other, () => db.tuples("select 3")), [[3]]);
  assert.deepEqual(await db.query("select 4 as n"), [{ n: 4 }]);
  assert.deepEqual(await asCaller(caller, () => outsideShares(() => db.query("select 5 as n"))), [{ n: 5 }]);
  assert.deepEqual([begun, answered], [CALLER_SHARE, 0]);
  open.resolve();
  await Promise.all(slow);
  assert.deepEqual(await Promise.all(late), [[[1]], [{ n: 1 }]]);
});

test("what a caller asks beside its open transaction needs no second permit, and a late permit is refused", async (t) => {
  const other = await freshDatabase({ max: CONNECTIONS, shareTimeout: 1 });
  t.after(other.drop);
  const caller = newCaller();
  await asCaller(caller, () =>
    other.db.transaction(async (tx) => {
      await tx.query("select 1");
      assert.deepEqual(await other.db.query("select 6 as n"), [{ n: 6 }]);
      const refused = outsideShares(() => asCaller(caller, () => other.db.query("select 7 as n")));
      await assert.rejects(refused, { code: "db.busy", status: 503, retryAfter: 1 });
    }),
  );
  assert.deepEqual(await asCaller(caller, () => other.db.query("select 8 as n")), [{ n: 8 }]);
});

for (const [whose, run] of [
  ["callers", <T>(work: () => T): T => asCaller(newCaller(), work)],
  ["no caller", <T>(work: () => T): T => work()],
] as const)
  test(`a statement beside a transaction finds a connection while all others have a transaction of ${whose}`, async () => {
    const allBegun = Promise.withResolvers<void>();
    let begun = 0;
    const open = Array.from({ length: CONNECTIONS }, () =>
      run(() =>
        db.transaction(async (tx) => {
          await tx.query("select 1");
          begun += 1;
          if (begun === CONNECTIONS) allBegun.resolve();
          await allBegun.promise;
          return [await db.query("select 2 as n"), await db.tuples("select 3")];
        }),
      ),
    );
    for (const answers of await Promise.all(open)) assert.deepEqual(answers, [[{ n: 2 }], [[3]]]);
  });
