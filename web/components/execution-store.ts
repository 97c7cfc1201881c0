/**
 * The state of one followed execution, outside of React. Events are collected and applied once a frame; only what
 * changed is told to its subscribers, so that a change of one node costs the same in an execution of 500.
 */
import type { ExecutionContent, ExecutionNodeMap } from "../api/operations.gen.ts";
import type { StreamEvent } from "../api/parse-events.ts";

export type Summary = ExecutionContent;
export type RunNode = ExecutionNodeMap;
export type Adjacency = { readonly children: readonly string[]; readonly nextIds: readonly string[] };

type Listener = () => void;
type Snapshot = {
  readonly pipelineExecutionSummary: Summary;
  readonly executionGraph: { readonly rootNodeId: string };
};
type NodesEvent = {
  readonly nodeMap?: Readonly<Record<string, RunNode>>;
  readonly nodeAdjacencyListMap?: Readonly<Record<string, Adjacency>>;
  readonly removed?: readonly string[];
};

/** The shape of the graph: it changes when nodes appear, disappear or move, not with their statuses. */
export type Structure = { readonly rootId: string | undefined; readonly version: number };

const NO_CHILDREN: readonly string[] = [];

export type ExecutionStore = ReturnType<typeof createExecutionStore>;

/** `schedule` calls its argument later: in the next frame. */
export function createExecutionStore(schedule: (flush: () => void) => void) {
  let queue: StreamEvent[] = [];
  let summary: Summary | undefined;
  let structure: Structure = { rootId: undefined, version: 0 };
  let revision = 0;
  const nodes = new Map<string, RunNode>();
  const adjacency = new Map<string, Adjacency>();
  const parents = new Map<string, string>();
  const logBytes = new Map<string, number>();
  const nodeListeners = new Map<string, Set<Listener>>();
  const listeners = new Set<Listener>();
  const changed = new Set<string>();
  let isStructureChanged = false;

  function setAdjacency(id: string, next: Adjacency): void {
    const former = adjacency.get(id);
    adjacency.set(id, next);
    for (const child of next.children) parents.set(child, id);
    isStructureChanged ||= former === undefined || !sameIds(former.children, next.children);
  }

  function remove(id: string): void {
    for (const map of [nodes, adjacency, parents, logBytes]) map.delete(id);
    changed.add(id);
    isStructureChanged = true;
  }

  function applySnapshot({ pipelineExecutionSummary, executionGraph }: Snapshot): void {
    for (const id of nodes.keys()) changed.add(id);
    for (const map of [nodes, adjacency, parents, logBytes]) map.clear();
    summary = pipelineExecutionSummary;
    structure = { ...structure, rootId: executionGraph.rootNodeId };
    isStructureChanged = true;
  }

  function applyNodes({ nodeMap = {}, nodeAdjacencyListMap = {}, removed = [] }: NodesEvent): void {
    for (const [id, node] of Object.entries(nodeMap)) {
      // Sections are shown only once they are needed.
      isStructureChanged ||= node.stepType === "NG_SECTION" && nodes.get(id)?.status !== node.status;
      nodes.set(id, node);
      changed.add(id);
    }
    for (const [id, one] of Object.entries(nodeAdjacencyListMap)) setAdjacency(id, one);
    for (const id of removed) remove(id);
  }

  function applySummary(members: Partial<Summary>): void {
    if (summary === undefined) return;
    const layoutNodeMap = { ...summary.layoutNodeMap, ...members.layoutNodeMap };
    summary = { ...summary, ...members, layoutNodeMap };
  }

  function apply({ type, data }: StreamEvent): void {
    if (type === "snapshot") applySnapshot(data as Snapshot);
    if (type === "nodes") applyNodes(data as NodesEvent);
    if (type === "execution") applySummary(data as Partial<Summary>);
    if (type !== "logs") return;
    for (const [id, bytes] of Object.entries(data as Record<string, number>)) {
      logBytes.set(id, bytes);
      changed.add(id);
    }
  }

  function flush(): void {
    const events = queue;
    queue = [];
    for (const event of events) apply(event);
    revision += 1;
    if (isStructureChanged) structure = { ...structure, version: structure.version + 1 };
    isStructureChanged = false;
    const told = [...changed];
    changed.clear();
    for (const id of told) for (const listener of nodeListeners.get(id) ?? []) listener();
    for (const listener of listeners) listener();
  }

  return {
    receive: (event: StreamEvent): void => {
      queue.push(event);
      if (queue.length === 1) schedule(flush);
    },
    summary: () => summary,
    structure: () => structure,
    /** Counts the frames that changed anything. */
    revision: () => revision,
    node: (id: string): RunNode | undefined => nodes.get(id),
    children: (id: string): readonly string[] => adjacency.get(id)?.children ?? NO_CHILDREN,
    parent: (id: string): string | undefined => parents.get(id),
    logBytes: (id: string): number => logBytes.get(id) ?? 0,
    size: () => nodes.size,
    /** Calls `listener` after each frame in which the node or its log changed. */
    subscribeNode: (id: string, listener: Listener): Listener => {
      const all = nodeListeners.get(id) ?? new Set();
      nodeListeners.set(id, all.add(listener));
      return () => {
        all.delete(listener);
        if (all.size === 0 && nodeListeners.get(id) === all) nodeListeners.delete(id);
      };
    },
    /** Calls `listener` after each frame that changed anything. */
    subscribe: (listener: Listener): Listener => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

const sameIds = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((id, index) => id === other[index]);
