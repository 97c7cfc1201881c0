/** What Email steps are told of their mails. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { after, before, test } from "node:test";
import { freshDatabase, type TestDatabase } from "../../test/support/database.ts";
import type { Uuid } from "../core/ids.ts";
import { reportMailEnd } from "./mails.ts";

let database: TestDatabase;
before(async () => {
  database = await freshDatabase();
});
after(() => database?.drop());

test("a mail that has left the queue otherwise tells its step nothing", async () => {
  const [accountId, executionId, nodeId] = [randomUUIDv7() as Uuid, randomUUIDv7() as Uuid, randomUUIDv7() as Uuid];
  const told: unknown[] = [];
  const report = reportMailEnd((_, work) =>
    database.db.transaction((tx) =>
      work(tx, {
        hasEnded: false,
        executors: [],
        answer: async (node, answer) => {
          told.push([node, answer]);
          return "taken";
        },
      }),
    ),
  );
  const sent = { kind: "sent", recipients: 1 } as const;
  await report({ accountId, executionId, nodeId }, sent, async () => false);
  assert.deepEqual(told, []);
  await report({ accountId, executionId, nodeId }, sent, async () => true);
  assert.deepEqual(told, [[nodeId, sent]]);
});
