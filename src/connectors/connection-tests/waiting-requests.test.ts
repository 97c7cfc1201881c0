import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Uuid } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import { createWaitingRequests } from "./waiting-requests.ts";

test("a stop while a result is read, or after that has failed, leaves no rejection without a handler", async (t) => {
  const unhandled: unknown[] = [];
  const record = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", record);
  t.after(() => process.off("unhandledRejection", record));
  const { promise: read, reject: failToRead } = Promise.withResolvers<never>();
  const waiting = createWaitingRequests({ query: () => read } as unknown as Db);
  const [accountId, id] = [randomUUIDv7() as Uuid, randomUUIDv7() as Uuid];
  const waited = waiting.waitFor(accountId, id);
  waiting.rejectAll(new Error("the server stops"));
  await turn();
  failToRead(new Error("no database"));
  await assert.rejects(waited, /no database/);
  await turn();
  assert.deepEqual(unhandled, []);
});
