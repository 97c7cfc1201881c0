/** Checks of executions with several stages, groups, attempts and decisions: their nodes, and what clients did to them. */
import { isFinal, type NodeState } from "../../../src/engine/index.ts";
import type { ApprovalFacts, ExecutionFacts } from "./facts.ts";
import { APPROVERS, MINIMUM_COUNT } from "../load/flows.ts";
import type { Decision } from "../load/clients.ts";
import type { Request } from "../load/load.ts";
import { violation, type Violation } from "./violation.ts";

type Found = Pick<Violation, "check" | "seen" | "expected">;

/** Nodes have ended before the node around them, and each has a path of its own. */
export function checkNodes({ nodes }: Pick<ExecutionFacts, "nodes">): readonly Found[] {
  const found: Found[] = [];
  const add = (seen: string, expected: string): void => void found.push({ check: "nodes", seen, expected });
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const paths = new Set<string>();
  for (const node of nodes) {
    if (paths.has(node.path)) add(`two nodes have the path ${node.path}`, "a path of its own for each node");
    paths.add(node.path);
    if (!isFinal(node.status)) add(`${node.path} is ${node.status}`, "nodes that have ended");
    const around = node.parent === null ? undefined : byId.get(node.parent);
    if (node.endedAt !== null && around?.endedAt && node.endedAt > around.endedAt)
      add(`${node.path} ended ${node.endedAt - around.endedAt} ms after it`, `the end of ${around.path} to come last`);
    found.push(...checkAttempts(node));
  }
  return found;
}

function checkAttempts({ path, attempts }: NodeState): readonly Found[] {
  return attempts.flatMap(({ startedAt, endedAt, waitsFor }, n): readonly Found[] => {
    const name = `attempt ${n + 1} of ${path}`;
    const seen = endedAt === null || waitsFor.length > 0 ? `${name} is open: ${waitsFor.join()}` : undefined;
    const before = attempts[n - 1]?.endedAt;
    const early = before && startedAt < before ? `${name} started before the end of the earlier one` : undefined;
    return [seen, early].flatMap((text) =>
      text === undefined ? [] : [{ check: "nodes", seen: text, expected: "attempts that follow one another" }],
    );
  });
}

/** Each accepted approval and intervention counts exactly once; a refused one does not count. */
export function checkDecisions({ nodes, approvals }: ExecutionFacts, { seen }: Request): readonly Found[] {
  const found = approvals.flatMap((approval) => [...checkApproval(approval, nodes, seen.decisions ?? [])]);
  if (approvals.length > 1) found.push(`${approvals.length} approvals`);
  const accepted = (seen.interventions ?? []).filter(({ response }) => response === "accepted");
  const statuses = { MarkAsSuccess: "succeeded", Ignore: "ignored" } as Readonly<Record<string, string>>;
  if (accepted.length > 1) found.push(`${accepted.length} accepted interventions`);
  for (const { type } of accepted)
    if (!nodes.some(({ path, status }) => path.endsWith("/broken") && status === statuses[type]))
      found.push(`an accepted ${type} that the step does not have`);
  return found.map((text) => ({ check: "decisions", seen: text, expected: "each accepted decision once" }));
}

const ENDS: Readonly<Record<string, readonly string[]>> = {
  APPROVED: ["succeeded"],
  REJECTED: ["rejected", "failed"],
  EXPIRED: ["expired"],
};

function checkApproval(
  { nodeId, status, activities }: ApprovalFacts,
  nodes: readonly NodeState[],
  decisions: readonly Decision[],
): readonly string[] {
  const found = APPROVERS.filter((by) => !isCounted(by, activities, decisions)).map((by) => {
    const own = activities.filter(({ user }) => user.name === by).map(({ action }) => action);
    const response = decisions.find((one) => one.by === by)?.response;
    return `${own.join() || "nothing"} of ${by}, ${response ?? "not sent"}`;
  });
  if (!["APPROVED", "REJECTED"].includes(status) && decisions.some(({ response }) => response === "refused"))
    found.push(`a refused decision, and it is ${status}`);
  const count = (action: string): number => activities.filter((one) => one.action === action).length;
  const [approvals, rejections] = [count("APPROVE"), count("REJECT")];
  const approved = approvals >= MINIMUM_COUNT ? "APPROVED" : "EXPIRED";
  const step = nodes.find(({ id }) => id === nodeId)?.status;
  if (status !== (rejections > 0 ? "REJECTED" : approved))
    found.push(`${status} after ${approvals} approvals and ${rejections} rejections`);
  else if (!step || !ENDS[status]?.includes(step)) found.push(`${status}, and the step is ${step}`);
  return found;
}

/** An accepted decision is there once, a refused one is not. */
function isCounted(by: string, activities: ApprovalFacts["activities"], decisions: readonly Decision[]): boolean {
  const own = activities.filter(({ user }) => user.name === by);
  const decision = decisions.find((one) => one.by === by);
  if (own.length === 0) return decision?.response !== "accepted";
  return own.length === 1 && own[0]?.action === decision?.action && decision?.response !== "refused";
}

/** Clocks of servers follow the database's, up to this error. */
const CLOCK_MS = 500;

/** Attempts of steps that began in a pause. A start that was under way when the pause came counts as before it. */
export function checkPause({ nodes }: Pick<ExecutionFacts, "nodes">, { seen: { paused } }: Request): readonly Found[] {
  if (!paused) return [];
  const isIn = (at: number): boolean => at > paused.from + CLOCK_MS && at < paused.to - CLOCK_MS;
  return nodes.flatMap(({ path, attempts }) =>
    attempts
      .filter(({ startedAt }) => isIn(startedAt))
      .map(({ startedAt }) => {
        const seen = `${path} started ${startedAt - paused.from} ms after the pause`;
        return { check: "pauses", seen, expected: "no start before the resume" };
      }),
  );
}

export type Holder = { readonly of: string; readonly from: number; readonly to: number };

/** The time in which an execution has the lock of its Queue step: from the end of the step to that of its stage. */
export function holderOf(of: string, nodes: readonly NodeState[]): Holder | undefined {
  const step = nodes.find(({ path }) => path.endsWith("/mutex"));
  const stage = nodes.find(({ path }) => path.endsWith("/locked"));
  return step?.status === "succeeded" && step.endedAt !== null && stage?.endedAt
    ? { of, from: step.endedAt, to: stage.endedAt }
    : undefined;
}

export function checkHolders(holders: readonly Holder[]): readonly Violation[] {
  const sorted = holders.toSorted((a, b) => a.from - b.from);
  return sorted.flatMap((holder, n) => {
    const before = sorted[n - 1];
    if (!before || holder.from > before.to - CLOCK_MS) return [];
    const seen = `it got the lock ${before.to - holder.from} ms before the end of ${before.of}`;
    return [violation("exclusive", holder.of, seen, "one holder at a time")];
  });
}
