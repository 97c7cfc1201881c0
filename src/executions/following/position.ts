/** Where a follower of an execution resumes: the id of the events of its stream. */
import type { ExecutionDetail } from "../execution.ts";

/**
 * `shape` counts what makes nodes appear in other places: a loop that has begun, a node with children that is tried
 * again. While it stays the same, no node disappears.
 */
export type Position = { readonly revision: number; readonly shape: number; readonly hasEnded: boolean };

const POSITION = /^(\d{1,15})\.(\d{1,15})(\.end)?$/;

export const positionText = ({ revision, shape, hasEnded }: Position): string =>
  `${revision}.${shape}${hasEnded ? ".end" : ""}`;

/** Undefined for a text that is no position. */
export function parsePosition(text: string): Position | undefined {
  const [, revision, shape, end] = POSITION.exec(text) ?? [];
  if (revision === undefined) return undefined;
  return { revision: Number(revision), shape: Number(shape), hasEnded: end !== undefined };
}

export function shapeOf({ plan, nodes }: Pick<ExecutionDetail, "plan" | "nodes">): number {
  let shape = 0;
  for (const { definition, attempts, progress } of nodes.values()) {
    if (plan.nodes[definition]?.kind === "step") continue;
    shape += Math.max(0, attempts.length - 1) + (progress?.iterations ? 1 : 0);
  }
  return shape;
}
