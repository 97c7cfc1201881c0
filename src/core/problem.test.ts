import assert from "node:assert/strict";
import { test } from "node:test";
import { problemsOf } from "./problem.ts";
import { commonProblem } from "./problems.ts";
import { ENTITY_IDENTIFIER, isReserved, NAME, SCOPE_IDENTIFIER } from "./identifier.ts";

const problem = problemsOf({ "thing.gone": [404, "ENTITY_NOT_FOUND", "No %s in %s."] });

test("arguments stand in the message as they are, in order", () => {
  const made = problem("thing.gone", ["$&", "%s $1"]);
  assert.equal(made.message, "No $& in %s $1.");
  assert.deepEqual([made.code, made.status, made.wire], ["thing.gone", 404, "ENTITY_NOT_FOUND"]);
  assert.equal(problem("thing.gone").message, "No  in .");
});

test("the cause is kept for the log, faults and retry for the caller", () => {
  const cause = new Error("why");
  const made = problem("thing.gone", [], { cause, retryAfter: 3, faults: [{ path: "a", message: "b" }] });
  assert.equal(made.cause, cause);
  assert.equal(made.retryAfter, 3);
  assert.deepEqual(made.faults, [{ path: "a", message: "b" }]);
});

test("only a problem of the server has a stack, and other errors keep theirs", () => {
  const broken = problemsOf({ "thing.broken": [500, "UNKNOWN_ERROR", "Broken."] });
  assert.equal(problem("thing.gone").stack, "Problem: No  in .");
  assert.match(broken("thing.broken").stack ?? "", /problem\.test\.ts/);
  assert.match(new Error("other").stack ?? "", /problem\.test\.ts/);
});

test("identifiers and names as clients of this API family write them", () => {
  for (const good of ["a", "_", "A1_", "x".repeat(128)])
    for (const pattern of [ENTITY_IDENTIFIER, SCOPE_IDENTIFIER]) assert.match(good, pattern);
  for (const bad of ["", "1a", "a-b", "a b", "a.b", "ä", "x".repeat(129), "a\n", "\0"])
    for (const pattern of [ENTITY_IDENTIFIER, SCOPE_IDENTIFIER]) assert.doesNotMatch(bad, pattern);
  assert.match("a$b", SCOPE_IDENTIFIER);
  assert.doesNotMatch("a$b", ENTITY_IDENTIFIER);
  for (const good of ["a", "1 a", "-a", ".a", "a b.c-d_e"]) assert.match(good, NAME);
  for (const bad of ["", " a", "a/b", "<b>", "ä", "x".repeat(129), "a\nb", "a\tb", "a\u2028b", "a\u00a0b", "a\n"])
    assert.doesNotMatch(bad, NAME);
  for (const word of ["or", "true", "stepGroup", "liteEngineTask"]) assert.ok(isReserved(word));
  assert.ok(!isReserved("orders"));
});

test("what the state of things forbids is 402, whatever slice says it", () => {
  const stale = commonProblem("core.stale_version", ["Project", "shop", "3", "2"]);
  assert.deepEqual([stale.status, stale.wire], [402, "OPTIMISTIC_LOCKING_EXCEPTION"]);
  assert.match(stale.message, /^Project \[shop\] .* version 3, .* version 2\.$/);
  assert.equal(commonProblem("core.referenced", ["Connector", "r", "pipeline p"]).status, 402);
});
