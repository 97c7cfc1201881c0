/** Probes of readiness: how often the database is asked, and what ends a valid result. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { createHealth } from "./health.ts";
import type { Call } from "./routes.ts";

let [checks, now, isAway] = [0, 0, false];
let leaving: AbortController;
let status: () => Promise<number>;

beforeEach(() => {
  [checks, now, isAway] = [0, 0, false];
  leaving = new AbortController();
  const health = createHealth({
    pendingMigrations: async () => {
      checks += 1;
      if (isAway) throw new Error("connection refused");
      return [];
    },
    leaving: leaving.signal,
    stopping: new AbortController().signal,
    elapsed: () => now,
  });
  health.ready();
  const ready = health.routes.find(({ path }) => path === "/health/ready");
  assert.ok(ready);
  status = async () => {
    const answer = await ready.handle({} as Call);
    return answer.kind === "json" ? answer.status : 0;
  };
});

test("a result of the database is valid for a tenth of a second, and probes at the same time share a check", async () => {
  assert.deepEqual(await Promise.all([status(), status(), status()]), [200, 200, 200]);
  now = 99;
  isAway = true;
  assert.equal(await status(), 200);
  assert.equal(checks, 1);
  now = 100;
  assert.deepEqual(await Promise.all([status(), status()]), [503, 503]);
  assert.equal(checks, 2);
});

test("a valid result does not hide that the server stops", async () => {
  assert.equal(await status(), 200);
  leaving.abort();
  assert.equal(await status(), 503);
});
