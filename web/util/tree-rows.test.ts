import assert from "node:assert/strict";
import { test } from "node:test";
import { moveInTree, treeRows, type TreeNode } from "./tree-rows.ts";

const leaf = (id: string): TreeNode => ({ id, label: id });
const tree: readonly TreeNode[] = [
  { id: "build", label: "build", children: [leaf("compile"), { id: "test", label: "test", children: [leaf("unit")] }] },
  leaf("deploy"),
];
const open =
  (...ids: readonly string[]) =>
  (id: string) =>
    ids.includes(id);

test("the rows are the nodes whose parents are expanded", () => {
  const show = (...ids: readonly string[]) =>
    treeRows(tree, open(...ids)).map(
      ({ node, level, position, siblings }) => `${node.id} ${level} ${position}/${siblings}`,
    );
  assert.deepEqual(show(), ["build 1 1/2", "deploy 1 2/2"]);
  assert.deepEqual(show("build", "test"), ["build 1 1/2", "compile 2 1/2", "test 2 2/2", "unit 3 1/1", "deploy 1 2/2"]);
  assert.deepEqual(show("test", "compile"), ["build 1 1/2", "deploy 1 2/2"]);
});

test("keys move through the visible nodes, expand and collapse", () => {
  const isExpanded = open("build");
  const rows = treeRows(tree, isExpanded);
  for (const [key, from, expected] of [
    ["ArrowDown", "build", "focus compile"],
    ["ArrowDown", "deploy", undefined],
    ["ArrowUp", "deploy", "focus test"],
    ["ArrowUp", "build", undefined],
    ["Home", "deploy", "focus build"],
    ["End", "build", "focus deploy"],
    ["ArrowRight", "build", "focus compile"],
    ["ArrowRight", "test", "expand test"],
    ["ArrowRight", "compile", undefined],
    ["ArrowLeft", "build", "collapse build"],
    ["ArrowLeft", "test", "focus build"],
    ["ArrowLeft", "deploy", undefined],
    ["Enter", "build", undefined],
    ["ArrowDown", "removed", undefined],
  ] as const) {
    const move = moveInTree(key, from, rows, isExpanded);
    assert.equal(move && `${move.kind} ${move.id}`, expected, `${key} on ${from}`);
  }
});
