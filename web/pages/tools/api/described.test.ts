import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { exampleBody, matchingOperations, operationsOf } from "./described.ts";

const document = JSON.parse(
  readFileSync(new URL("../../../../api/openapi.json", import.meta.url), "utf8"),
) as Parameters<typeof operationsOf>[0];
const operations = operationsOf(document);

test("every operation is listed, grouped by tag, and found by its words in any order", () => {
  assert.ok(operations.length > 250);
  assert.deepEqual(
    [...new Set(operations.map(({ tag }) => tag))],
    [...new Set(operations.map(({ tag }) => tag).toSorted((a, b) => a.localeCompare(b)))],
  );
  assert.ok(matchingOperations(operations, "connectors LIST").some(({ id }) => id === "connector.list"));
  assert.deepEqual(matchingOperations(operations, "no such words"), []);
  assert.equal(matchingOperations(operations, " ").length, operations.length);
});

test("bodies begin with the example of the description", () => {
  const create = operations.find(({ id }) => id === "connector.create");
  assert.ok(create);
  assert.match(exampleBody(create)?.text ?? "", /connector/);
  const list = operations.find(({ id }) => id === "connector.list");
  assert.ok(list);
  assert.equal(exampleBody(list), undefined);
});
