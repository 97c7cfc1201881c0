import assert from "node:assert/strict";
import { test } from "node:test";
import { referred } from "./reference.ts";

const place = (orgIdentifier: string | null, projectIdentifier: string | null) => ({
  orgIdentifier,
  projectIdentifier,
});
const PROJECT = place("default", "shop");

test("a reference is read from where the referring thing lives", () => {
  assert.deepEqual(referred("x", PROJECT), { ...PROJECT, identifier: "x" });
  assert.deepEqual(referred("org.x", PROJECT), { ...place("default", null), identifier: "x" });
  assert.deepEqual(referred("account.x-1", PROJECT), { ...place(null, null), identifier: "x-1" });
  assert.deepEqual(referred("x", place(null, null)), { ...place(null, null), identifier: "x" });
  // Only the two words before a dot are levels; alone they are identifiers like any other.
  assert.equal(referred("account", PROJECT)?.identifier, "account");
});

test("what can name nothing names nothing", () => {
  for (const text of ["", ".", "org.", "account.", "project.x", "account.org.x", "a.b", "a b", "<+input>", "1x", "a/b"])
    assert.equal(referred(text, PROJECT), undefined, text);
  assert.equal(referred("x".repeat(129), PROJECT), undefined);
  assert.equal(referred("org.x", place(null, null)), undefined);
});
