/**
 * The nodes of executions that run, as of their last commit here, so that an event need not read all of them (invariant
 * 9: an optimization). A transaction lays its changes over them and adds them after its commit. Another replica may have
 * gone on with an execution: whoever has its lock compares the revisions and reads what changed since.
 */
import type { InstanceId, Nodes, NodeState, State } from "../../engine/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import { createLru } from "../../platform/lru.ts";
import { findChangedNodes } from "../changed-nodes.ts";
import type { Revision } from "../recent-changes.ts";
import { findNodes, type RunKey } from "../store/advance.ts";

/** Bytes, as far as `weightOf` knows. */
const CAPACITY = 64 * 1024 * 1024;
const NODE_BYTES = 1024;

type LiveNodes = { revision: number; readonly nodes: Map<InstanceId, NodeState>; outputBytes: number };

/** The nodes that one transaction sees: those of an entry, and its own changes. */
export type OpenNodes = Nodes & {
  readonly change: (changed: ReadonlyMap<InstanceId, NodeState>) => void;
  /** Call it after the commit, with the revision and the state that were committed. */
  readonly committed: (revision: number, state: State) => void;
};

export type LiveExecutions = {
  /** Call it with the lock of the execution's row. `at`: what the row says. */
  readonly open: (db: Store, run: RunKey, at: Revision) => Promise<OpenNodes>;
  /** The nodes of an execution that the transaction creates, or reads from an earlier format. */
  readonly create: (id: Uuid, nodes?: ReadonlyMap<InstanceId, NodeState>) => OpenNodes;
  readonly forget: (id: Uuid) => void;
};

const weightOf = (_: Uuid, { nodes, outputBytes }: LiveNodes): number => nodes.size * NODE_BYTES + outputBytes;

export function createLiveExecutions(capacity = CAPACITY): LiveExecutions {
  const entries = createLru<Uuid, LiveNodes>(capacity, weightOf);

  function opened(id: Uuid, entry: LiveNodes, since: Map<InstanceId, NodeState>): OpenNodes {
    const base = entry.revision;
    return {
      get: (node) => since.get(node) ?? entry.nodes.get(node),
      values: () => new Map([...entry.nodes, ...since]).values(),
      change: (changed) => {
        for (const [node, state] of changed) since.set(node, state);
      },
      committed: (revision, { endedAt, outputBytes }) => {
        // The entry may have gone on meanwhile: the next transaction can have read this commit before it is told here.
        if (entry.revision < base || entry.revision >= revision) return;
        for (const [node, state] of since) entry.nodes.set(node, state);
        entry.revision = revision;
        entry.outputBytes = outputBytes;
        if (endedAt === null) entries.set(id, entry);
        else entries.delete(id);
      },
    };
  }

  return {
    async open(db, run, at) {
      const known = entries.get(run.id);
      // What is read is laid over the entry as well: it may be this transaction's own, and be rolled back.
      if (known && known.revision <= at.revision)
        return opened(run.id, known, await findChangedNodes(db, run, at, known.revision));
      return opened(run.id, { revision: at.revision, nodes: await findNodes(db, run, 0), outputBytes: 0 }, new Map());
    },
    create: (id, nodes = new Map()) => opened(id, { revision: 0, nodes: new Map(), outputBytes: 0 }, new Map(nodes)),
    forget: entries.delete,
  };
}
