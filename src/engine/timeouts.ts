/** How long a node may run: a number of the plan, or an expression that is evaluated when the node starts. */
import { parseDuration } from "./duration.ts";
import { evaluated } from "./conditions.ts";
import type { Failure, NodeState, PlanNode } from "./model.ts";
import { changeAttempt, definitionOf, type Run } from "./run.ts";

const FORM = "A timeout is written like 10m, 90s or 1h 30m (units w d h m s), at least 10s, at most 53w";

/** The node with the time that its open attempt has, or why its timeout cannot be used. */
export function withTimeout(run: Run, node: NodeState): NodeState | { readonly refused: Failure } {
  const definition = definitionOf(run, node);
  const template = "timeout" in definition ? definition.timeout : undefined;
  if (template === undefined) return node;
  const text = evaluated(run, node, template);
  if (typeof text !== "string") return { refused: text.failure };
  // As in a document, an empty text stands for the default.
  if (text.trim() === "") return node;
  const timeoutMs = parseDuration(text.trim());
  if (timeoutMs !== undefined) return changeAttempt(run, node, { timeoutMs });
  const message = `The timeout ${template} of '${definition.identifier}' has come to '${text.slice(0, 80)}'. ${FORM}`;
  return { refused: { message, types: ["ConfigurationFailure"] } };
}

/** Undefined for a node without a timeout. */
export const timeoutOf = (node: Pick<NodeState, "attempts">, definition: PlanNode): number | undefined =>
  node.attempts.at(-1)?.timeoutMs ?? ("timeoutMs" in definition ? definition.timeoutMs : undefined);
