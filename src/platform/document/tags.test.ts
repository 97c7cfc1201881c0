import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import { Problem } from "../../core/problem.ts";
import { changedTags, withTags } from "./tags.ts";

const TEXT = `# deploys the shop
service:
  name: web # its name
  tags:
    team: red # keep
    tier: "1"
  description: "a very long line that is longer than eighty characters, so that a folding writer would break it in two"
`;

test("a tag is set, replaced and taken away in the text; comments, order and long lines stay", () => {
  assert.equal(withTags(TEXT, "service", { team: "red", tier: "1" }), TEXT);
  assert.equal(withTags(TEXT, "service", { team: "red", tier: "2" }), TEXT.replace('"1"', '"2"'));
  assert.equal(withTags(TEXT, "service", { team: "red" }), TEXT.replace('    tier: "1"\n', ""));
  assert.equal(
    withTags(TEXT, "service", { team: "red", tier: "1", "a: b": "yes" }),
    TEXT.replace('tier: "1"\n', 'tier: "1"\n    "a: b": yes\n'),
  );
});

test("a document without tags gets them; one in JSON stays readable", () => {
  assert.equal(
    withTags("service:\n  name: web\n", "service", { a: "b" }),
    "service:\n  name: web\n  tags:\n    a: b\n",
  );
  assert.equal(withTags("service:\n  tags:\n", "service", { a: "b" }), "service:\n  tags:\n    a: b\n");
  const json = withTags('{ "service": { "name": "web", "tags": { "a": "b" } } }\n', "service", { a: "b", c: "1" });
  assert.deepEqual(parse(json), { service: { name: "web", tags: { a: "b", c: "1" } } });
});

test("changed tags: the others stay; what no map of tags may hold is refused", () => {
  assert.deepEqual(changedTags({ a: "1" }, { name: "b", value: "" }), { a: "1", b: "" });
  assert.deepEqual(changedTags({ a: "1", b: "2" }, { name: "a", value: null }), { b: "2" });
  assert.deepEqual(changedTags({ b: "2" }, { name: "a", value: null }), { b: "2" });
  for (const change of [
    { name: "", value: "x" },
    { name: "__proto__", value: "x" },
    { name: "x".repeat(129), value: "x" },
    { name: "x", value: "y".repeat(257) },
  ])
    assert.throws(() => changedTags({}, change), Problem);
});
