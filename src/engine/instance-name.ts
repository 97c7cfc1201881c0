import type { NodeState, PlanNode } from "./model.ts";

/** The identifier of an instance: that of its definition, with what its iteration adds. */
export const instanceIdentifier = ({ identifier }: PlanNode, node: Pick<NodeState, "iteration"> | undefined): string =>
  `${identifier}${node?.iteration?.postfix ?? ""}`;

/** Characters of a name that its author configured with expressions: every iteration stores its own. */
const MAX_NAME = 256;

/** The name without what is too much of it, and without half of a character at its end. */
export const cutName = (name: string): string => name.slice(0, MAX_NAME).replace(/[\uD800-\uDBFF]$/, "");

/** The name of an instance: that of its definition, with what its iteration adds, or the name that its author configured. */
export const nameOf = ({ name }: PlanNode, node: Pick<NodeState, "iteration"> | undefined): string =>
  node?.iteration?.name ?? `${name}${node?.iteration?.postfix ?? ""}`;
