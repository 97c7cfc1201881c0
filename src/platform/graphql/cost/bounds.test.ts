import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "graphql";
import { findExceededBound, MAX_DEPTH, MAX_FIELDS, MAX_ROOT_FIELDS } from "./bounds.ts";

const passed = (text: string): string | undefined => findExceededBound(parse(text))?.message;
const aliases = (count: number, body = ""): string =>
  Array.from({ length: count }, (_, at) => `a${at}: f${body}`).join(" ");

test("each bound holds at its number and not below", () => {
  const deep = (levels: number): string => `{ ${"a { ".repeat(levels - 1)}a${" }".repeat(levels - 1)} }`;
  assert.equal(passed(deep(MAX_DEPTH)), undefined);
  assert.match(passed(deep(MAX_DEPTH + 1)) ?? "", /16 levels deep/);
  assert.equal(passed(`{ ${aliases(MAX_ROOT_FIELDS)} }`), undefined);
  assert.match(passed(`{ ${aliases(MAX_ROOT_FIELDS + 1)} }`) ?? "", /21 fields at the top/);
  assert.equal(passed(`{ f { ${aliases(MAX_FIELDS - 1)} } }`), undefined);
  assert.match(passed(`{ f { ${aliases(MAX_FIELDS)} } }`) ?? "", /1001 fields/);
});

test("a fragment counts at every place where it is spread, and inline fragments do not hide fields", () => {
  // 2^20 fields in a few hundred characters: only what remembers a fragment's size answers at all.
  const doubling = Array.from(
    { length: 20 },
    (_, at) => `fragment f${at} on T { ...f${at + 1} ... on T { ...f${at + 1} } }`,
  );
  assert.match(passed(`{ x { ...f0 } } ${doubling.join(" ")} fragment f20 on T { leaf }`) ?? "", /1048577 fields/);
  assert.match(
    passed(`{ ...top ... on Query { ${aliases(10)} } } fragment top on Query { ${aliases(11)} }`) ?? "",
    /21 fields at the top/,
  );
});

test("the largest operation of a document counts", () => {
  assert.match(passed(`query a { x } query b { ${aliases(21)} }`) ?? "", /at the top/);
});
