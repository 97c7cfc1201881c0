import type { NodeState, PlanNode } from "./model.ts";

/** The identifier of an instance: that of its definition, with what its iteration adds. */
export const instanceIdentifier = ({ identifier }: PlanNode, node: Pick<NodeState, "iteration"> | undefined): string =>
  `${identifier}${node?.iteration?.postfix ?? ""}`;

/** The name of an instance: that of its definition, with what its iteration adds, or the name that its author configured. */
export const nameOf = ({ name }: PlanNode, node: Pick<NodeState, "iteration"> | undefined): string =>
  node?.iteration?.name ?? `${name}${node?.iteration?.postfix ?? ""}`;
