import type { Plan, State, Status } from "../engine/index.ts";
import type { Store } from "../platform/db/db.ts";
import { NO_PLAN, stateOfColumns } from "./execution.ts";
import { shownNodes, type ShownNodes } from "./shown-nodes.ts";
import { findStored, type RunKey } from "./store/advance.ts";
import { readStored } from "./stored.ts";

type ReadExecution = {
  readonly status: Status;
  readonly plan: Plan;
  readonly state: State;
  /** Those that were reached, and the places of the plan that were not. */
  readonly nodes: ShownNodes;
};

/** An execution as it is stored, without a permission check; undefined when there is none. */
export async function readExecution(db: Store, run: RunKey): Promise<ReadExecution | undefined> {
  const stored = await findStored(db, run);
  if (!stored) return undefined;
  const { plan = NO_PLAN, state = stateOfColumns(stored), nodes } = readStored(stored);
  return { status: stored.status, plan, state, nodes: shownNodes({ plan, state, nodes }) };
}
