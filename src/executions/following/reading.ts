import type { InstanceId } from "../../engine/index.ts";
import type { ExecutionDetail } from "../execution.ts";
import type { LogLength } from "../store/following.ts";
import type { NodeExtras } from "../wire/graph.ts";

/** What delegates know of nodes. What services say may depend on the reader, and is not among it. */
export type TaskExtras = Omit<NodeExtras, "serviceReasons">;

/** What a reading of the database found. */
export type Reading = {
  readonly execution: ExecutionDetail;
  readonly extras: TaskExtras;
  readonly canRetry: boolean;
  readonly revision: number;
  /** The format of the row. */
  readonly format: number;
  /** The nodes whose states are new since the reading before. */
  readonly changed: ReadonlySet<InstanceId>;
  /** The nodes whose extras are. */
  readonly touched: ReadonlySet<InstanceId>;
  /** The lengths of the logs of nodes, as far as they may have grown. */
  readonly logs: ReadonlyMap<InstanceId, LogLength>;
};

export type ServiceReasons = ReadonlyMap<string, string>;
export const NO_REASONS: ServiceReasons = new Map();
