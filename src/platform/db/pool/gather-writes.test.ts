import assert from "node:assert/strict";
import { Socket } from "node:net";
import { after, test } from "node:test";
import { freshDatabase } from "../../../../test/support/database.ts";
import { sendTogether } from "../send-together.ts";

const { db, drop } = await freshDatabase({ max: 1 });
after(drop);

test("a transaction writes once for what it sends in one turn, `begin` included", async (t) => {
  const numbers = [1, 2, 3];
  const work = (): Promise<unknown> =>
    db.transaction(async (tx) => {
      await tx.query("select 1");
      await sendTogether(...numbers.map((n) => () => tx.query("select $1::int as n", [n])));
    });
  await work();
  const writes: string[] = [];
  // The stream passes what was collected to one call of `_writev`, and a single chunk to `_write`.
  const socket = Socket.prototype as unknown as Record<"_write" | "_writev", (...given: unknown[]) => void>;
  for (const method of ["_write", "_writev"] as const) {
    const original = socket[method];
    t.mock.method(socket, method, function (this: Socket, ...given: unknown[]) {
      writes.push(method);
      original.apply(this, given);
    });
  }
  await work();
  assert.equal(writes.length, 3, "begin with the first statement, three statements, commit");
});
