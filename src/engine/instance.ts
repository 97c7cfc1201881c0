import { createHash } from "node:crypto";
import type { InstanceId, Iteration, NodeId, NodeState, Plan } from "./model.ts";
import { nodeOf } from "./plan-index.ts";

/** An instance to be created. `parent` is null for the root. */
export type NewNode = {
  readonly definition: NodeId;
  readonly parent: InstanceId | null;
  readonly iteration?: Iteration;
  /** Tells an instance from another of the same definition and parent, as that which undoes a stage. */
  readonly label?: string;
};

export type FindNode = (id: InstanceId) => NodeState | undefined;

/**
 * Id and path of an instance. An instance that is the only one of its definition has the id of it: tasks and clients of
 * earlier versions know it by that. The others get one that follows from definition and path. What is below a node that
 * is tried again is created anew: the path tells the tries apart.
 */
export function instanceOf(
  plan: Plan,
  find: FindNode,
  { definition, parent: parentId, iteration, label }: NewNode,
): { readonly id: InstanceId; readonly path: string } {
  const { identifier } = nodeOf(plan, definition);
  const parent = parentId === null ? undefined : find(parentId);
  if (!parent) return { id: definition, path: identifier };
  const suffix = `${label ?? ""}${iteration ? `[${iteration.index}]` : ""}`;
  const tries = parent.attempts.length;
  const path = `${parent.path}${tries > 1 ? `@${tries}` : ""}/${identifier}${suffix}`;
  const isOnly = parent.id === parent.definition && tries <= 1 && suffix === "";
  return { id: isOnly ? definition : hashedId(definition, path), path };
}

/** The instance that a path belongs to, if it is not the only one of its definition. */
export const instanceWithPath = (definition: NodeId, path: string): ReturnType<typeof instanceOf> => ({
  id: hashedId(definition, path),
  path,
});

/** A UUID of version 8 (RFC 9562): free content. */
function hashedId(definition: NodeId, path: string): InstanceId {
  const hex = createHash("sha256").update(`${definition} ${path}`).digest("hex");
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
