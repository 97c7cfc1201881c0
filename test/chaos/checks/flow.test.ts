/** The checks of nodes, decisions, pauses and locks against constructed facts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Attempt, NodeState } from "../../../src/engine/index.ts";
import type { ApprovalFacts, ExecutionFacts } from "./facts.ts";
import { checkDecisions, checkHolders, checkNodes, checkPause, holderOf } from "./flow.ts";
import type { Decision, Seen } from "../load/clients.ts";
import type { Request } from "../load/load.ts";

const attempt = (changes: Partial<Attempt> = {}): Attempt =>
  ({ startedAt: 1_000, endedAt: 2_000, waitsFor: [], ...changes }) as Attempt;
const node = (path: string, changes: Partial<NodeState> = {}): NodeState =>
  ({
    ...{ id: path, parent: path === "p" ? null : "p", path, status: "succeeded", endedAt: 2_000 },
    attempts: [attempt()],
    ...changes,
  }) as NodeState;
const root = node("p");

test("nodes are closed, in order, and have paths of their own", () => {
  const found = (...nodes: readonly NodeState[]): number => checkNodes({ nodes: [root, ...nodes] }).length;
  assert.equal(found(node("p/a"), node("p/b", { status: "skipped", endedAt: null, attempts: [] })), 0);
  assert.equal(found(node("p/a"), node("p/a", { id: "other" })), 1);
  assert.equal(found(node("p/a", { status: "waiting" })), 1);
  assert.equal(found(node("p/a", { endedAt: 2_001 })), 1);
  assert.equal(found(node("p/a", { attempts: [attempt({ endedAt: null })] })), 1);
  assert.equal(found(node("p/a", { attempts: [attempt({ waitsFor: ["timeout"] })] })), 1);
  assert.equal(found(node("p/a", { attempts: [attempt(), attempt({ startedAt: 2_000, endedAt: 2_000 })] })), 0);
  assert.equal(found(node("p/a", { attempts: [attempt(), attempt({ startedAt: 1_999 })] })), 1);
});

const requestOf = (seen: Seen): Request => ({ seen }) as Request;
const activity = (n: number, action: "APPROVE" | "REJECT" = "APPROVE") => ({ action, user: { name: `approver_${n}` } });
const decision = (n: 1 | 2 | 3, response: Decision["response"], action: Decision["action"] = "APPROVE"): Decision => ({
  by: `approver_${n}`,
  ...{ action, response },
});

test("each accepted approval is there once, and decides", () => {
  const found = (
    status: string,
    activities: ApprovalFacts["activities"],
    decisions: readonly Decision[],
    step: NodeState["status"] = "succeeded",
  ): number => {
    const approvals = [{ nodeId: "p/ask", status, activities }];
    const execution = { nodes: [root, node("p/ask", { status: step })], approvals } as unknown as ExecutionFacts;
    return checkDecisions(execution, requestOf({ decisions })).length;
  };
  const two = [decision(1, "accepted"), decision(2, "accepted"), decision(3, "refused")];
  assert.equal(found("APPROVED", [activity(1), activity(2)], two), 0);
  assert.equal(found("APPROVED", [activity(1), activity(1), activity(2)], two), 1, "twice");
  assert.equal(found("APPROVED", [activity(1), activity(2), activity(3)], two), 1, "refused");
  assert.equal(found("EXPIRED", [activity(1)], two, "expired"), 2, "lost, and refused for no reason");
  assert.equal(found("APPROVED", [activity(1)], [decision(1, "accepted")]), 1, "too few");
  assert.equal(found("APPROVED", [activity(1), activity(2)], two, "failed"), 1, "the step says otherwise");
  const rejected = [activity(1), activity(2, "REJECT")];
  const unknown = [decision(1, "unknown"), decision(2, "accepted", "REJECT")];
  assert.equal(found("REJECTED", rejected, unknown, "failed"), 0);
  assert.equal(found("APPROVED", rejected, unknown), 1);
});

test("one intervention is accepted, and decides", () => {
  const found = (status: NodeState["status"], ...types: readonly ("MarkAsSuccess" | "Ignore")[]): number => {
    const execution = { nodes: [root, node("p/broken", { status })], approvals: [] } as unknown as ExecutionFacts;
    const interventions = types.map((type) => ({ type, response: "accepted" as const }));
    return checkDecisions(execution, requestOf({ interventions })).length;
  };
  assert.deepEqual(
    [found("failed"), found("ignored", "Ignore"), found("succeeded", "Ignore"), found("ignored", "Ignore", "Ignore")],
    [0, 0, 1, 1],
  );
});

test("nothing starts in a pause", () => {
  const found = (startedAt: number): number =>
    checkPause(
      { nodes: [node("p/a", { attempts: [attempt({ startedAt })] })] },
      requestOf({ paused: { from: 0, to: 3_000 } }),
    ).length;
  assert.deepEqual([found(100), found(1_500), found(2_900)], [0, 1, 0]);
});

test("two executions do not hold a lock at the same time", () => {
  const held = (from: number, to: number) =>
    holderOf("x", [node("p/locked", { endedAt: to }), node("p/mutex", { endedAt: from })]);
  assert.equal(holderOf("x", [node("p/locked"), node("p/mutex", { status: "aborted" })]), undefined);
  const found = (...holders: readonly ReturnType<typeof held>[]): number =>
    checkHolders(holders.filter((one) => one !== undefined)).length;
  assert.deepEqual([found(held(5_000, 9_000), held(0, 5_000)), found(held(0, 5_000), held(4_000, 6_000))], [0, 1]);
});
