/** Attack class 39: two administrators who remove each other at the same moment. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestPlatform } from "../../../test/support/platform.ts";

test("of two administrators who remove each other at once, one stays", async () => {
  const platform = await startTestPlatform();
  try {
    const second = await platform.replica();
    for (let round = 0; round < 10; round += 1) {
      const keys = [await platform.addUser("_account_admin"), await platform.addUser("_account_admin")];
      // Only these two are administrators.
      await platform.db.query(
        "delete from role_assignments where id not in (select id from role_assignments order by id desc limit 2)",
      );
      platform.clock.advance(1_000);
      const rows = await platform.db.query<{ identifier: string }>(
        "select identifier from role_assignments order by id",
      );
      const answers = await Promise.all(
        rows.map(async ({ identifier }, nth) => {
          const server = nth === 0 ? platform : second;
          return server.send("DELETE", `/authz/api/roleassignments/${identifier}`, { apiKey: keys[1 - nth] ?? "" });
        }),
      );
      const left = await platform.db.query("select 1 from role_assignments");
      assert.equal(left.length, 1, answers.map(({ text }) => text).join("\n"));
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    }
  } finally {
    await platform.stop();
  }
});
