/** What log lines say of the nodes that wrote them. */
import { instanceIdentifier, type InstanceId, type NodeState } from "../../engine/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import type { ExecutionDetail } from "../execution.ts";
import type { FindLogNode, LogNode } from "./lines.ts";
import { fullPathOf } from "../pipelines-around.ts";
import { findNodes } from "../store/advance.ts";

type Execution = Pick<ExecutionDetail, "id" | "plan" | "nodes">;

/** Looks nodes up in an execution as it was read, and reads those that were reached since. */
export function findLogNodes(db: Store, accountId: Uuid, { id, plan, nodes: read }: Execution): FindLogNode {
  const nodes = new Map(read);
  const found = new Map<Uuid, LogNode>();
  return async (nodeId) => {
    const earlier = found.get(nodeId);
    if (earlier) return earlier;
    // Nodes of one definition may have ids that the plan does not have.
    if (!Object.hasOwn(plan.nodes, nodeId) && !nodes.has(nodeId))
      for (const [each, node] of await findNodes(db, { accountId, id }, 0)) nodes.set(each, node);
    const node = describe({ plan, nodes }, nodeId);
    found.set(nodeId, node);
    return node;
  };
}

function describe({ plan, nodes }: Pick<Execution, "plan" | "nodes">, nodeId: InstanceId): LogNode {
  const state = nodes.get(nodeId);
  const definition = plan.nodes[state?.definition ?? nodeId];
  if (!definition) return { step: null, path: [] };
  const path = fullPathOf(plan, definition);
  const own = instanceIdentifier(definition, state);
  const [, , planned] = path;
  const stage = stagesAround({ plan, nodes }, state) ?? planned;
  return { step: stage === undefined || path.length === 3 ? own : `${stage}.${own}`, path };
}

/** The identifiers of the stages around an instance; several in a chained pipeline, the outermost first. */
function stagesAround(
  { plan, nodes }: Pick<Execution, "plan" | "nodes">,
  from: NodeState | undefined,
): string | undefined {
  const stages: string[] = [];
  for (let node = from; node; node = node.parent === null ? undefined : nodes.get(node.parent)) {
    const definition = plan.nodes[node.definition];
    if (definition?.kind === "stage") stages.unshift(instanceIdentifier(definition, node));
  }
  return stages.length === 0 ? undefined : stages.join(".");
}
