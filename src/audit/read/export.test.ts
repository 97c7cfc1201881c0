/** The export of the audit trail as JSON lines over REST. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { after, before, test } from "node:test";
import { made } from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { fromWire } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";

const MANY = 20_000;
let platform: TestPlatform;
/** The number of batches that were read, and the entries of the largest one. */
let [pieces, largest] = [0, 0];
before(async () => {
  const counting = (db: Db): Db => ({
    ...db,
    query: async (text, values) => {
      const rows = await db.query(text, values);
      if (!text.includes("(at, id) > ")) return rows as never;
      pieces += 1;
      largest = Math.max(largest, rows.length);
      return rows as never;
    },
  });
  platform = await startTestPlatform({ wrapDb: counting });
  await platform.db.query(
    `insert into audit_entries (account_id, id, at, actor_kind, actor_name, operation, resource_type, resource_id)
     select $1, gen_random_uuid(), 1000 + n / 3, 'system', 'system', 'thing.make', 'THING', n::text || repeat('x', 200)
       from generate_series(1, $2::int) n`,
    [fromWire(platform.accountId), MANY],
  );
});
after(() => platform?.stop());

const lines = (text: string): { auditId: string; timestamp: number }[] =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { auditId: string; timestamp: number });

test("every entry is exported once, oldest first, as the list shows it", async () => {
  const answer = await platform.send("GET", "/audit/api/audits/export");
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "application/x-ndjson; charset=utf-8");
  const all = lines(answer.text);
  assert.ok(all.length >= MANY);
  assert.equal(largest, 100);
  assert.equal(new Set(all.map(({ auditId }) => auditId)).size, all.length);
  const times = all.map(({ timestamp }) => timestamp);
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  const list = await made(
    platform.send("POST", "/audit/api/audits/list?pageSize=5", { body: "{}", contentType: "application/json" }),
  );
  const { content } = list;
  const byId = new Map(all.map((one) => [one.auditId, one]));
  for (const event of content) assert.deepEqual(byId.get(event.auditId), event);
});

test("the export is limited to a time range with both ends included; an invalid time is refused", async () => {
  const answer = await platform.send("GET", "/audit/api/audits/export?startTime=1001&endTime=1002");
  assert.deepEqual(new Set(lines(answer.text).map(({ timestamp }) => timestamp)), new Set([1001, 1002]));
  assert.equal(lines(answer.text).length, 6);
  assert.equal((await platform.send("GET", "/audit/api/audits/export?startTime=soon")).status, 400);
  for (const name of ["startTime", "endTime"]) {
    const overflowAttempt = await platform.send("GET", `/audit/api/audits/export?${name}=${"9".repeat(20)}`);
    assert.equal(overflowAttempt.status, 400);
    assert.match(
      overflowAttempt.body.message,
      new RegExp(`${name} is beyond the range of dates: the last moment is 8640000000000000`),
    );
  }
});

test("a caller without permission gets nothing of the trail, and another account has its own", async () => {
  const shopOnly = await platform.addUser("_organization_admin", { orgIdentifier: "default" });
  const refused = await platform.send("GET", "/audit/api/audits/export", { apiKey: shopOnly });
  assert.equal(refused.status, 403);
  const other = await platform.addAccount();
  const theirs = await platform.send("GET", "/audit/api/audits/export", {
    apiKey: other.apiKey,
    account: other.accountId,
  });
  assert.deepEqual([theirs.status, theirs.text], [200, ""]);
});

test("the export reads no faster than the client, and stops when the client disconnects", async () => {
  pieces = 0;
  const url = `${platform.url}/audit/api/audits/export?accountIdentifier=${platform.accountId}`;
  const asked = request(url, { headers: { "x-api-key": platform.apiKey } }).end();
  const [response] = (await once(asked, "response")) as [import("node:http").IncomingMessage];
  await once(response, "readable");
  // The client reads nothing, so the server reads only what the buffers hold.
  for (let quiet = 0, known = pieces; quiet < 200; quiet += 1) {
    await platform.db.query("select 1");
    if (pieces !== known) [known, quiet] = [pieces, 0];
  }
  const readBatches = pieces;
  assert.ok(readBatches < MANY / 100 - 25, `${readBatches} of ${MANY / 100} batches were read without a reader`);
  response.destroy();
  await platform.send("GET", "/audit/api/audits/export?startTime=1&endTime=1");
  assert.ok(pieces <= readBatches + 3, `${pieces - readBatches} more pieces were read after the end`);
});
