import assert from "node:assert/strict";
import { test } from "node:test";
import { databaseProblem } from "./problems.ts";

const withCode = (code: string, message = "x", more: object = {}): Error =>
  Object.assign(new Error(message), { code }, more);

test("each failure of the database gets its problem", () => {
  const cases: readonly (readonly [Error, string])[] = [
    [withCode("08006"), "db.unavailable"],
    [withCode("57P01"), "db.unavailable"],
    [withCode("57P03"), "db.unavailable"],
    [withCode("ECONNREFUSED"), "db.unavailable"],
    [Object.assign(new AggregateError([], "all addresses failed"), { code: "ECONNREFUSED" }), "db.unavailable"],
    [new Error("Connection terminated unexpectedly"), "db.unavailable"],
    [withCode("53300"), "db.busy"],
    [new Error("timeout exceeded when trying to connect"), "db.busy"],
    [withCode("57014"), "db.too_slow"],
    [withCode("40P01"), "db.conflict"],
    [withCode("53100"), "db.disk_full"],
    [withCode("58030", "could not write: No space left on device"), "db.disk_full"],
    [withCode("58030", "could not write: Input/output error"), "db.disk_failed"],
    [withCode("28P01"), "db.refused"],
    [
      withCode("0A000", "cached plan must not change result type", { routine: "RevalidateCachedQuery" }),
      "db.plan_changed",
    ],
    [new Error("Cannot use a pool after calling end on the pool"), "db.closed"],
  ];
  for (const [error, code] of cases) {
    const found = databaseProblem(error);
    assert.equal(found?.code, code, error.message);
    assert.equal(found?.status, 503);
    assert.equal(found?.cause, error);
  }
});

test("a problem that passes says when to try again", () => {
  assert.equal(databaseProblem(withCode("ECONNREFUSED"))?.retryAfter, 2);
  assert.equal(databaseProblem(withCode("53100"))?.retryAfter, 30);
});

test("the fault of a statement is nobody else's", () => {
  for (const code of ["23505", "42601", "22003", "0A000", "P0001"])
    assert.equal(databaseProblem(withCode(code)), undefined, code);
  assert.equal(databaseProblem(new Error("something else")), undefined);
  assert.equal(databaseProblem("no error"), undefined);
});
