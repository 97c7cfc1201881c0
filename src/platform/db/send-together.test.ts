import assert from "node:assert/strict";
import { after, test } from "node:test";
import { freshDatabase } from "../../../test/support/database.ts";
import { sendTogether } from "./send-together.ts";

const { db, drop } = await freshDatabase();
after(drop);
await db.query("create table things (id int primary key)");

test("statements run in their order, and each has its own result", async () => {
  const results = await db.transaction((tx) =>
    sendTogether(
      () => tx.query("insert into things values (1) returning id"),
      async () => "no statement",
      () => tx.query("select count(*) as n from things"),
    ),
  );
  assert.deepEqual(results, [[{ id: 1 }], "no statement", [{ n: 1 }]]);
});

test("the error is that of the statement that failed, not of those after it, and nothing is saved", async () => {
  const failing = db.transaction((tx) =>
    sendTogether(
      () => tx.query("insert into things values (2)"),
      () => tx.query("insert into things values (2)"),
      () => tx.query("select 1"),
    ),
  );
  await assert.rejects(failing, { code: "23505" });
  assert.deepEqual(await db.query("select id from things"), [{ id: 1 }]);
});

test("all work is over before an error is thrown, also one that was thrown at once", async () => {
  const slow = Promise.withResolvers<void>();
  let isOver = false;
  const failing = sendTogether(
    (): Promise<void> => {
      throw new Error("at once");
    },
    () => slow.promise.then(() => (isOver = true)),
  );
  slow.resolve();
  await assert.rejects(failing, /at once/);
  assert.equal(isOver, true);
});
