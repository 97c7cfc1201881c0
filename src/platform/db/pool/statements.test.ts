import assert from "node:assert/strict";
import { test } from "node:test";
import { createStatements } from "./statements.ts";

test("a text keeps its name, another text gets another", () => {
  const { nameOf } = createStatements(10);
  assert.equal(nameOf("select 1"), nameOf("select 1"));
  assert.notEqual(nameOf("select 1"), nameOf("select 2"));
  // PostgreSQL cuts longer names, and two could become one.
  assert.ok((nameOf("select 1") ?? "").length < 63);
});

test("beyond the limit a text has no name, and those that had one keep it", () => {
  const { nameOf } = createStatements(1);
  const first = nameOf("select 1");
  assert.equal(nameOf("select 2"), undefined);
  assert.equal(nameOf("select 1"), first);
});

test("after a renewal every name is new", () => {
  const { nameOf, renew } = createStatements(1);
  const first = nameOf("select 1");
  renew();
  assert.notEqual(nameOf("select 1"), first);
});
