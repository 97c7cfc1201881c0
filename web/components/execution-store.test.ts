import assert from "node:assert/strict";
import { test } from "node:test";
import { createExecutionStore, type ExecutionStore } from "./execution-store.ts";

/** A store whose frames come when told. */
function harness(): { readonly store: ExecutionStore; readonly frame: () => number } {
  let pending: (() => void)[] = [];
  const store = createExecutionStore((flush) => void pending.push(flush));
  return {
    store,
    frame: () => {
      const due = pending;
      pending = [];
      for (const flush of due) flush();
      return due.length;
    },
  };
}

const event = (type: string, data: unknown) => ({ type, data, id: undefined });
const snapshot = event("snapshot", {
  pipelineExecutionSummary: { name: "Release", status: "Running", layoutNodeMap: { a: { status: "Running" } } },
  executionGraph: { rootNodeId: "root" },
});
const node = (uuid: string, status: string) => ({ uuid, status });
const nodes = event("nodes", {
  nodeMap: { root: node("root", "Running"), a: node("a", "Running"), b: node("b", "NotStarted") },
  nodeAdjacencyListMap: { root: { children: ["a", "b"], nextIds: [] }, a: { children: [], nextIds: ["b"] } },
});

function started() {
  const made = harness();
  made.store.receive(snapshot);
  made.store.receive(nodes);
  made.frame();
  return made;
}

test("a snapshot and its nodes become the graph in one frame", () => {
  const { store, frame } = harness();
  store.receive(snapshot);
  store.receive(nodes);
  assert.equal(store.summary(), undefined);
  assert.equal(frame(), 1);
  assert.equal(store.summary()?.name, "Release");
  assert.equal(store.structure().rootId, "root");
  assert.deepEqual(store.children("root"), ["a", "b"]);
  assert.equal(store.parent("b"), "root");
  assert.equal(store.size(), 3);
});

test("only the subscribers of changed nodes are called, once a frame, and the structure stays", () => {
  const { store, frame } = started();
  const called: string[] = [];
  for (const id of ["root", "a", "b"]) store.subscribeNode(id, () => called.push(id));
  const before = store.structure();
  for (const status of ["Running", "AsyncWaiting", "Success"])
    store.receive(event("nodes", { nodeMap: { a: node("a", status) }, nodeAdjacencyListMap: {}, removed: [] }));
  frame();
  assert.deepEqual(called, ["a"]);
  assert.equal(store.node("a")?.status, "Success");
  assert.equal(store.structure(), before);
});

test("members of the summary are set, and stages that did not change stay", () => {
  const { store, frame } = started();
  store.receive(event("execution", { status: "Failed", layoutNodeMap: { b: { status: "Failed" } } }));
  frame();
  assert.equal(store.summary()?.status, "Failed");
  assert.equal(store.summary()?.name, "Release");
  assert.deepEqual(Object.keys(store.summary()?.layoutNodeMap ?? {}), ["a", "b"]);
});

test("nodes that appear or are removed change the structure", () => {
  const { store, frame } = started();
  const { version } = store.structure();
  store.receive(
    event("nodes", {
      nodeMap: { c: node("c", "Running") },
      nodeAdjacencyListMap: { root: { children: ["a", "c"], nextIds: [] } },
      removed: ["b"],
    }),
  );
  frame();
  assert.equal(store.structure().version, version + 1);
  assert.deepEqual(store.children("root"), ["a", "c"]);
  assert.equal(store.node("b"), undefined);
  assert.equal(store.parent("c"), "root");
});

test("a section that begins changes the structure, because it is shown from then on", () => {
  const { store, frame } = started();
  const { version } = store.structure();
  const section = { ...node("b", "Running"), stepType: "NG_SECTION" };
  store.receive(event("nodes", { nodeMap: { b: section }, nodeAdjacencyListMap: {}, removed: [] }));
  frame();
  assert.equal(store.structure().version, version + 1);
});

test("sizes of logs reach the subscribers of their nodes", () => {
  const { store, frame } = started();
  let calls = 0;
  const stop = store.subscribeNode("a", () => (calls += 1));
  store.receive(event("logs", { a: 4_096 }));
  frame();
  assert.equal(store.logBytes("a"), 4_096);
  assert.equal(calls, 1);
  stop();
  store.receive(event("logs", { a: 8_192 }));
  frame();
  assert.equal(calls, 1);
});

test("a further snapshot begins anew", () => {
  const { store, frame } = started();
  store.receive(snapshot);
  store.receive(event("nodes", { nodeMap: { root: node("root", "Running") }, nodeAdjacencyListMap: {} }));
  frame();
  assert.equal(store.size(), 1);
  assert.deepEqual(store.children("root"), []);
});
