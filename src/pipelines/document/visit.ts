/**
 * The nodes of a pipeline document: the pipeline, its stages, parallel lists, step groups and steps. Code that needs all
 * of one kind asks here, and knows nothing of how they nest.
 */
import type { Path } from "../../platform/document/position/path.ts";
import {
  executionOf,
  type ExecutionDocument,
  type PipelineDocument,
  type StageDocument,
  type StageItem,
  type StepDocument,
  type StepGroupDocument,
  type StepItem,
} from "./schema.ts";

/** Fields of a document that hold nodes. */
export type ListName = "stages" | "steps" | "rollbackSteps";

type Base = {
  /** Where the fields of the node stand in the document, as in pipeline, stages, 0, stage; of a parallel list, its items. */
  readonly path: Path;
  /** Where expressions find the node, by identifiers. A parallel list has the names of the node that it stands in. */
  readonly names: readonly string[];
  /** In the order of the document. */
  readonly children: readonly DocumentNode[];
};

/** `parent` and `list` say where the node stands; a list of parallel items belongs to the list that it stands in. */
type Inner = Base & { readonly parent: DocumentNode; readonly list: ListName };

export type PipelineNode = Base & { readonly kind: "pipeline"; readonly document: PipelineDocument };
export type StageNode = Inner & { readonly kind: "stage"; readonly document: StageDocument };
export type ParallelNode = Inner & { readonly kind: "parallel" };
export type GroupNode = Inner & { readonly kind: "group"; readonly document: StepGroupDocument };
export type StepNode = Inner & { readonly kind: "step"; readonly document: StepDocument };
export type DocumentNode = PipelineNode | StageNode | ParallelNode | GroupNode | StepNode;

type StepLists = Partial<ExecutionDocument>;

/** Documents are values: each is visited once, so that its nodes can be compared. */
const roots = new WeakMap<PipelineDocument, PipelineNode>();

/** The pipeline as a node, with all others below it. */
export function visitPipeline(document: PipelineDocument): PipelineNode {
  const known = roots.get(document);
  if (known) return known;
  const root = { kind: "pipeline" as const, document, path: ["pipeline"], names: ["pipeline"], children: [] };
  const node: PipelineNode = withChildren(root, (parent) =>
    stageNodes(document.stages, { parent, list: "stages", path: ["pipeline", "stages"] }),
  );
  roots.set(document, node);
  return node;
}

type Place = { readonly parent: DocumentNode; readonly list: ListName; readonly path: Path };

/** Children name their parent, so the parent is there before them. */
function withChildren<T extends DocumentNode>(node: T, childrenOf: (parent: T) => readonly DocumentNode[]): T {
  return Object.assign(node, { children: childrenOf(node) });
}

const stageNodes = (items: readonly StageItem[], place: Place): readonly DocumentNode[] =>
  items.map((item, nth) => {
    const at = [...place.path, nth];
    const { stage } = item;
    if (!stage) return parallelNode(item.parallel ?? [], { ...place, path: [...at, "parallel"] }, stageNodes);
    const { parent, list } = place;
    const names = [...parent.names, list, stage.identifier];
    const base = { kind: "stage" as const, document: stage, parent, list, path: [...at, "stage"], names, children: [] };
    return withChildren<StageNode>(base, (node) => listNodes(executionOf(stage), node, ["spec", "execution"]));
  });

const stepNodes = (items: readonly StepItem[], place: Place): readonly DocumentNode[] =>
  items.map((item, nth) => {
    const at = [...place.path, nth];
    const { parent, list } = place;
    if (item.step) {
      const names = [...namesOf(parent, list), item.step.identifier];
      return { kind: "step", document: item.step, parent, list, path: [...at, "step"], names, children: [] };
    }
    const { stepGroup: group } = item;
    if (!group) return parallelNode(item.parallel ?? [], { ...place, path: [...at, "parallel"] }, stepNodes);
    const names = [...namesOf(parent, list), group.identifier];
    const base = {
      kind: "group" as const,
      document: group,
      parent,
      list,
      path: [...at, "stepGroup"],
      names,
      children: [],
    };
    return withChildren<GroupNode>(base, (node) => listNodes(group, node, []));
  });

const parallelNode = <T>(
  items: readonly T[],
  { parent, list, path }: Place,
  nodesOf: (items: readonly T[], place: Place) => readonly DocumentNode[],
): ParallelNode =>
  withChildren<ParallelNode>({ kind: "parallel", parent, list, path, names: parent.names, children: [] }, (node) =>
    nodesOf(items, { parent: node, list, path }),
  );

const listNodes = (lists: StepLists, node: DocumentNode, below: Path): readonly DocumentNode[] =>
  (["steps", "rollbackSteps"] as const).flatMap((list) =>
    stepNodes(lists[list] ?? [], { parent: node, list, path: [...node.path, ...below, list] }),
  );

/** The names that those of a step or step group in this list begin with. */
function namesOf(parent: DocumentNode, list: ListName): readonly string[] {
  return parent.kind === "stage" || (parent.kind === "parallel" && ownerOf(parent).kind === "stage")
    ? [...parent.names, "spec", "execution", list]
    : [...parent.names, list];
}

/** The node itself and all below it, in the order of the document. */
export function nodesIn(node: DocumentNode): readonly DocumentNode[] {
  const found: DocumentNode[] = [];
  const add = (one: DocumentNode): void => {
    found.push(one);
    for (const child of one.children) add(child);
  };
  add(node);
  return found;
}

const isStage = (node: DocumentNode): node is StageNode => node.kind === "stage";
const isStep = (node: DocumentNode): node is StepNode => node.kind === "step";

/** All stages of a pipeline, in the order of the document. */
export const stagesIn = (pipeline: PipelineDocument): readonly StageNode[] =>
  nodesIn(visitPipeline(pipeline)).filter(isStage);

/** All steps of a pipeline, rollback steps included, in the order of the document. */
export const stepsIn = (pipeline: PipelineDocument): readonly StepNode[] =>
  nodesIn(visitPipeline(pipeline)).filter(isStep);

/** What the node stands in, innermost first, without itself. */
export function ancestorsOf(node: DocumentNode): readonly DocumentNode[] {
  const found: DocumentNode[] = [];
  for (let at = node; at.kind !== "pipeline"; at = at.parent) found.push(at.parent);
  return found;
}

/** The stage that a node is or stands in; undefined for the pipeline and lists of parallel stages. */
export const stageOf = (node: DocumentNode): StageNode | undefined => [node, ...ancestorsOf(node)].find(isStage);

export function pipelineOf(node: DocumentNode): PipelineNode {
  let at = node;
  while (at.kind !== "pipeline") at = at.parent;
  return at;
}

/** The node that a parallel list belongs to, and any other node itself. */
export function ownerOf(node: DocumentNode): Exclude<DocumentNode, ParallelNode> {
  let at = node;
  while (at.kind === "parallel") at = at.parent;
  return at;
}

/** Children that expressions find in this list of the node: those of parallel lists stand among the others. */
export const namedChildren = (node: DocumentNode, list: ListName): readonly Exclude<DocumentNode, ParallelNode>[] =>
  node.children.flatMap((child) => {
    if (child.kind === "pipeline" || child.list !== list) return [];
    return child.kind === "parallel" ? namedChildren(child, list) : [child];
  });
