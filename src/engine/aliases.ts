import type { NodeId, Plan } from "./model.ts";
import { ancestorsOf, nodeOf } from "./plan-index.ts";

/** The short names that stand for a path from the node's own place. */
export function aliasesOf(plan: Plan, id: NodeId): ReadonlyMap<string, readonly string[]> {
  const aliases = new Map<string, readonly string[]>();
  for (const node of [nodeOf(plan, id), ...ancestorsOf(plan, id)]) {
    if (node.kind === "pipeline") break;
    if (node.kind === "step") aliases.set("step", node.path);
    if (node.kind === "group" && node.role === "stepGroup" && !aliases.has("stepGroup"))
      aliases.set("stepGroup", node.path);
    if (node.kind !== "stage" || aliases.has("stage")) continue;
    aliases.set("stage", node.path);
    aliases.set("execution", [...node.path, "spec", "execution"]);
    aliases.set("steps", [...node.path, "spec", "execution", "steps"]);
  }
  return aliases;
}
