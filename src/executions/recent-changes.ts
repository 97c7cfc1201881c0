/** Which nodes the latest revisions of an execution have changed: what a replica reads that knows an earlier revision. */
import type { InstanceId } from "../engine/index.ts";

/** A revision and the nodes that it changed; null for more nodes than are worth naming. */
export type RecentChange = readonly [revision: number, nodes: readonly InstanceId[] | null];

/** Where an execution stands. */
export type Revision = {
  readonly revision: number;
  /** The oldest first; null where a transition was saved without it. */
  readonly recent: readonly RecentChange[] | null;
};

const REVISIONS = 6;
const NODES = 24;

/** The same after a further revision. */
export const withChange = (
  recent: readonly RecentChange[],
  revision: number,
  nodes: readonly InstanceId[],
): readonly RecentChange[] => [...recent.slice(1 - REVISIONS), [revision, nodes.length > NODES ? null : nodes]];

/** The nodes that have changed since a revision; undefined when that is not known. */
export function changedSince({ revision, recent }: Revision, known: number): readonly InstanceId[] | undefined {
  const since = (recent ?? []).filter(([of]) => of > known);
  if (since.length !== revision - known) return undefined;
  const nodes = new Set<InstanceId>();
  for (const [, changed] of since) {
    if (changed === null) return undefined;
    for (const node of changed) nodes.add(node);
  }
  return [...nodes];
}
