import type { Actor } from "../core/actor.ts";
import { ancestorsOf, nameOf, type PlanNode } from "../engine/index.ts";
import type { GetExecution } from "./get.ts";
import type { ExecutionDetail } from "./execution.ts";

export type NodeNames = { readonly step: string; readonly stage: string };

/** An execution, and a function that names a node of it and the stage around that. Throws `execution.not_found`. */
export type GetNodeNames = (
  actor: Actor,
  executionId: string,
) => Promise<{ readonly execution: ExecutionDetail; readonly namesOf: (nodeId: string) => NodeNames }>;

export const makeGetNodeNames =
  ({ get }: { readonly get: GetExecution }): GetNodeNames =>
  async (actor, executionId) => {
    const execution = await get(actor, executionId);
    const { plan, nodes } = execution;
    const namesOf = (id: string): NodeNames => {
      const node = nodes.get(id);
      const definition = node && plan.nodes[node.definition];
      if (!node || !definition) return { step: "", stage: "" };
      const around = ancestorsOf(plan, definition.id).find(({ kind }: PlanNode) => kind === "stage");
      return { step: nameOf(definition, node), stage: around?.name ?? "" };
    };
    return { execution, namesOf };
  };
