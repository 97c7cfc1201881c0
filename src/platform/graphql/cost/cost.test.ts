import assert from "node:assert/strict";
import { test } from "node:test";
import { buildSchema, parse, type OperationDefinitionNode } from "graphql";
import { costOf } from "./cost.ts";

const schema = buildSchema(`
  interface Node { id: ID }
  type App implements Node { id: ID name: String tags: [Tag!] pipelines(limit: Int): Pipelines }
  type Tag { name: String value: String words: [String!]! stages: [Tag] }
  type Pipeline implements Node { id: ID app: App }
  type Pipelines { nodes: [Pipeline] pageInfo: PageInfo }
  type Nodes { nodes: [Node] pageInfo: PageInfo }
  type PageInfo { total: Int limit: Int hasMore: Boolean }
  type Query { apps(limit: Int, offset: Int): Pipelines nodes(limit: Int): Nodes app: App word: String }`);

function cost(text: string, variables?: Record<string, unknown> | null): number {
  const document = parse(text);
  return costOf(schema, { document, operation: document.definitions[0] as OperationDefinitionNode, variables });
}

/** A list beside its nodes. */
const LIST = 1 + 10;

test("a field costs one, and what is below a list once for each entry", () => {
  assert.equal(cost("{ word }"), 1);
  assert.equal(cost("{ app { id name } }"), 3);
  assert.equal(cost("{ apps(limit: 7) { nodes { id } } }"), LIST + 1 + 7);
  assert.equal(cost("{ apps(limit: 7) { nodes { id app { id } } pageInfo { total } } }"), LIST + 1 + 7 * 3 + 1 + 11);
  assert.equal(cost("{ apps { nodes { id } } }"), LIST + 1 + 100, "100 is the default");
  assert.equal(cost("{ apps(limit: null) { nodes { id } } }"), LIST + 1 + 100);
  assert.equal(cost("{ apps(limit: 100000) { nodes { id } } }"), LIST + 1 + 1_000, "1000 is the most");
  assert.equal(cost("{ app { tags { name value } } }"), 1 + 1 + 10 * 2, "a list without a limit");
  assert.equal(cost("{ app { tags { words } } }"), 1 + 1 + 10, "a list of scalars");
  assert.equal(
    cost("{ apps(limit: 60) { nodes { app { tags { stages { name } } } } } }"),
    LIST + 1 + 60 * (1 + 1 + 10 * (1 + 10)),
    "lists in lists",
  );
  assert.equal(
    cost("{ app { pipelines(limit: 10) { nodes { app { pipelines(limit: 10) { nodes { id } } } } } } }"),
    1 + LIST + 1 + 10 * (1 + LIST + 1 + 10),
  );
  assert.equal(cost("{ __typename __schema { types { name fields { name } } } }"), 6);
});

test("fragments count wherever they are spread, for the list that they stand in", () => {
  assert.equal(
    cost("{ apps(limit: 5) { ...F } } fragment F on Pipelines { nodes { ... on Node { id } } }"),
    LIST + 1 + 5,
  );
  const twice = "{ a: apps(limit: 5) { ...F } b: apps(limit: 9) { ...F } } fragment F on Pipelines { nodes { id } }";
  assert.equal(cost(twice), LIST + 1 + 5 + LIST + 1 + 9);
  assert.equal(
    cost("{ nodes(limit: 3) { nodes { id ... on App { name tags { name } } } } }"),
    LIST + 1 + 3 * (1 + 1 + 11),
  );
  const doubling = Array.from({ length: 30 }, (_, at) => `fragment f${at} on App { ...f${at + 1} ...f${at + 1} }`);
  assert.equal(cost(`{ app { ...f0 } } ${doubling.join(" ")} fragment f30 on App { id }`), 1 + 2 ** 30);
});

test("a limit in a variable: its value, its default, or the largest when nothing is known", () => {
  const text = "query($l: Int = 20, $m: Int) { apps(limit: $l) { nodes { id } } b: apps(limit: $m) { nodes { id } } }";
  assert.equal(cost(text), 2 * (LIST + 101 + 1_000), "it may also be negative");
  assert.equal(cost(text, null), LIST + 1 + 20 + LIST + 1 + 100);
  assert.equal(cost(text, { l: 3, m: 4 }), LIST + 1 + 3 + LIST + 1 + 4);
  assert.equal(cost(text, { l: null, m: 5_000 }), LIST + 1 + 100 + LIST + 1 + 1_000);
  assert.equal(cost(text, { l: "9", m: [1] }), 2 * (LIST + 101 + 1_000), "what is no number is refused later");
});

test("a field that fails for a negative limit or offset costs as much as a hundred values", () => {
  assert.equal(cost("{ apps(limit: -5) { nodes { id } } }"), LIST + 100 + 1 + 1);
  assert.equal(cost("{ apps(limit: 5, offset: -1) { nodes { id } } }"), LIST + 100 + 1 + 5);
  const text = "query($o: Int = -1) { apps(limit: 5, offset: $o) { nodes { id } } }";
  assert.equal(cost(text), LIST + 100 + 1 + 5);
  assert.equal(cost(text, { o: 3 }), LIST + 1 + 5);
  assert.equal(cost(text, {}), LIST + 100 + 1 + 5);
  assert.equal(
    cost("{ apps(limit: 50) { nodes { app { pipelines(limit: -1) { nodes { id } } } } } }"),
    LIST + 1 + 50 * (1 + LIST + 100 + 1 + 1),
  );
});

test("a list costs at least the rows that it reads, and counting its matches extra", () => {
  assert.equal(cost("{ apps(limit: 70) { __typename } }"), LIST + 70);
  assert.equal(cost("{ apps { pageInfo { limit } } }"), LIST + 100);
  assert.equal(cost("{ apps(limit: 1) { pageInfo { limit total hasMore } } }"), LIST + 1 + 1 + 11 + 11);
  assert.equal(
    cost("{ apps(limit: 1) { pageInfo { ...F } } } fragment F on PageInfo { a: total b: total }"),
    LIST + 23,
  );
  assert.equal(
    cost("{ apps(limit: 50) { nodes { app { pipelines(limit: 1000) { pageInfo { limit } } } } } }"),
    LIST + 1 + 50 * (1 + LIST + 1_000),
  );
});
