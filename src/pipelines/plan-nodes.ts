/** The nodes of a plan, from the nodes of a document. */
import type { GroupNode as PlannedGroup, NodeId, PlanNode, SecretsHome } from "../engine/index.ts";
import { moduleOf } from "../steps/table.ts";
import { type Controlled, controlOf, loopOf, timeoutOf } from "./plan-control.ts";
import type { PipelineDocument } from "./document/schema.ts";
import { lockOf } from "./stage-locks.ts";
import {
  ancestorsOf,
  type DocumentNode,
  type GroupNode,
  type ParallelNode,
  type PipelineNode,
  type StageNode,
  type StepNode,
  visitPipeline,
} from "./document/visit.ts";
import { workOf } from "./plan-work.ts";

/** How long a step may run that does not say so, unless its type has another default. */
export const DEFAULT_TIMEOUT_MS = 10 * 60_000;

export type PlanNodes = {
  readonly root: NodeId;
  readonly nodes: readonly PlanNode[];
  /** The id of the definition of a node of the document. */
  readonly idOf: (node: Pick<DocumentNode, "names">) => NodeId;
};

type Scope = Pick<SecretsHome, "orgIdentifier" | "projectIdentifier">;

/** `newId` names each node once. */
export function planNodes(pipeline: PipelineDocument, scope: Scope, newId: () => NodeId): PlanNodes {
  const nodes = new Map<NodeId, PlanNode | undefined>();
  const ids = new Map<string, NodeId>();
  const ordered = (): NodeId => {
    const id = newId();
    nodes.set(id, undefined);
    return id;
  };
  const root = pipelineNode({ nodes, ids, scope, newId: ordered }, visitPipeline(pipeline));
  return {
    root,
    nodes: [...nodes.values()].filter((node) => node !== undefined),
    idOf: ({ names }) => ids.get(names.join(".")) ?? root,
  };
}

/** `nodes` has them in the order of their ids: what stands around others comes first. */
type Planned = {
  readonly nodes: Map<NodeId, PlanNode | undefined>;
  readonly ids: Map<string, NodeId>;
  readonly scope: Scope;
  readonly newId: () => NodeId;
};

/** A new id for a node of the document. */
function idFor({ ids, newId }: Planned, { names }: DocumentNode): NodeId {
  const id = newId();
  ids.set(names.join("."), id);
  return id;
}

function pipelineNode(planned: Planned, node: PipelineNode): NodeId {
  const id = idFor(planned, node);
  const { identifier, name } = node.document;
  const children = childrenOf(planned, node, "stages");
  planned.nodes.set(id, {
    ...base(id, node),
    kind: "pipeline",
    identifier,
    name,
    children,
    ...timeoutOf(node.document),
  });
  return id;
}

const base = (id: NodeId, { names }: DocumentNode) => ({ id, path: names });

const childrenOf = (planned: Planned, node: DocumentNode, list: string): readonly NodeId[] =>
  node.children.flatMap((child) =>
    child.kind !== "pipeline" && child.list === list ? [childNode(planned, child)] : [],
  );

type Child = Exclude<DocumentNode, PipelineNode>;

function childNode(planned: Planned, node: Child): NodeId {
  switch (node.kind) {
    case "parallel":
      return parallelNode(planned, node);
    case "stage":
      return looped(planned, node, stageNode(planned, node));
    case "group":
      return looped(planned, node, groupNode(planned, node));
    case "step":
      return looped(planned, node, stepNode(planned, node));
  }
}

/** The loop around a node that runs several times; otherwise the node itself. */
function looped(planned: Planned, node: StageNode | GroupNode | StepNode, body: NodeId): NodeId {
  const document: Controlled = node.document;
  const loop = loopOf(document);
  if (!loop) return body;
  const id = planned.newId();
  const { identifier, name } = node.document;
  planned.nodes.set(id, { ...base(id, node), kind: "loop", identifier, name, body, ...loop });
  return id;
}

/** Its identifier is none that a step can have, so that no two nodes of a list have the same. */
function parallelNode(planned: Planned, node: ParallelNode): NodeId {
  const id = planned.newId();
  const children = childrenOf(planned, node, node.list);
  const siblings = node.parent.children.filter((one) => one.kind === "parallel" && one.list === node.list);
  const identifier = `parallel-${siblings.indexOf(node) + 1}`;
  planned.nodes.set(id, { ...base(id, node), kind: "parallel", identifier, name: "Parallel", children });
  return id;
}

function stageNode(planned: Planned, node: StageNode): NodeId {
  const id = idFor(planned, node);
  const { identifier, name, type } = node.document;
  planned.nodes.set(id, {
    ...{ ...base(id, node), kind: "stage", type, identifier, name },
    steps: listNode(planned, node, ["steps", "Execution"]),
    rollback: listNode(planned, node, ["rollbackSteps", "Rollback"]),
    ...timeoutOf(node.document),
    ...controlOf(node.document),
    ...lockOf(node.document, planned.scope),
  });
  return id;
}

/** The group of a list of a stage or a step group. */
function listNode(
  planned: Planned,
  node: StageNode | GroupNode,
  [list, name]: readonly ["steps" | "rollbackSteps", string],
): NodeId {
  const id = planned.newId();
  const path = [...node.names, ...(node.kind === "stage" ? ["spec", "execution"] : []), list];
  planned.ids.set(path.join("."), id);
  const children = childrenOf(planned, node, list);
  const group: PlannedGroup = { id, path, kind: "group", role: list, identifier: list, name, children };
  planned.nodes.set(id, group);
  return id;
}

function groupNode(planned: Planned, node: GroupNode): NodeId {
  const id = idFor(planned, node);
  const { identifier, name, rollbackSteps } = node.document;
  planned.nodes.set(id, {
    ...{ ...base(id, node), kind: "group", role: "stepGroup", identifier, name },
    children: childrenOf(planned, node, "steps"),
    ...(rollbackSteps?.length ? { rollback: listNode(planned, node, ["rollbackSteps", "Rollback"]) } : {}),
    ...timeoutOf(node.document),
    ...controlOf(node.document),
  });
  return id;
}

function stepNode(planned: Planned, node: StepNode): NodeId {
  const id = idFor(planned, node);
  const { identifier, name, type, spec } = node.document;
  const outputAlias = moduleOf(type).outputAlias?.(spec);
  planned.nodes.set(id, {
    ...{ ...base(id, node), kind: "step", type, identifier, name },
    timeoutMs: moduleOf(type).defaultTimeoutMs ?? DEFAULT_TIMEOUT_MS,
    ...timeoutOf(node.document),
    selectors: selectorsOf(node),
    work: workOf(node, planned.scope),
    ...(outputAlias && { outputAlias }),
    ...controlOf(node.document),
  });
  return id;
}

/** Those of the first level, from the step outwards, that has any. */
function selectorsOf(step: StepNode): readonly string[] {
  const { type, spec } = step.document;
  for (const selectors of [moduleOf(type).delegateSelectors(spec), ...ancestorsOf(step).map(selectorsAt)]) {
    if (typeof selectors === "string") throw new Error(`delegate selectors were not merged: ${selectors}`);
    if (selectors && selectors.length > 0) return selectors;
  }
  return [];
}

const selectorsAt = (node: DocumentNode) =>
  node.kind === "step" || node.kind === "parallel" ? undefined : node.document.delegateSelectors;
