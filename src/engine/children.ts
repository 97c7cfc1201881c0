import type { NewNode } from "./instance.ts";
import type { NodeState, PlanNode, Progress } from "./model.ts";
import { nodeOf } from "./plan-index.ts";
import { definitionOf, nodeAt, progressOf, type Run } from "./run.ts";

/** How many children a node has in its present phase. */
export function countOf(definition: PlanNode, { phase, iterations, undo }: Progress): number {
  if (phase === "rollback") return undo ? undo.length : 1;
  switch (definition.kind) {
    case "pipeline":
    case "group":
    case "parallel":
      return definition.children.length;
    case "stage":
      return 1;
    case "loop":
      return iterations?.length ?? 0;
    case "step":
      return 0;
  }
}

/** The child at a position of the present phase. */
export function childOf(run: Run, node: NodeState, index: number): NewNode {
  const definition = definitionOf(run, node);
  const { phase, iterations, undo } = progressOf(node);
  const child = (id: string | undefined, rest: Partial<NewNode> = {}): NewNode => {
    if (id === undefined) throw new Error(`node ${node.path} has no child ${index}`);
    return { definition: id, parent: node.id, ...rest };
  };
  if (phase === "rollback") {
    const stage = undo?.[index];
    if (stage !== undefined) return undoing(run, node, nodeAt(run, stage));
    return child(definition.kind === "stage" || definition.kind === "group" ? definition.rollback : undefined);
  }
  switch (definition.kind) {
    case "pipeline":
    case "group":
    case "parallel":
      return child(definition.children[index]);
    case "stage":
      return child(definition.steps);
    case "loop": {
      const iteration = iterations?.[index];
      return child(iteration && definition.body, iteration && { iteration });
    }
    case "step":
      return child(undefined);
  }
}

/** The rollback of a stage that has ended, as a child of the pipeline. */
function undoing(run: Run, root: NodeState, stage: NodeState): NewNode {
  const definition = nodeOf(run.plan, stage.definition);
  if (definition.kind !== "stage" || definition.rollback === undefined)
    throw new Error(`stage ${stage.path} has no rollback`);
  const label = `(${stage.path})`;
  return {
    definition: definition.rollback,
    parent: root.id,
    label,
    ...(stage.iteration && { iteration: stage.iteration }),
  };
}
