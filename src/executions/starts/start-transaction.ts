import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import type { Start, StartExecution } from "./start-execution.ts";
import type { Started } from "../started.ts";
import { currentShare } from "../../platform/db/pool/budget.ts";
import { createLanes } from "./lanes.ts";

/** Transactions of one pipeline and one share at once: one has the run number, the other has done what comes before it. */
const STARTS = { most: 2, waitMs: 10_000 };

/** Starts an execution in the transaction of the caller. Throws what StartExecution throws. */
export type StartInTransaction = (actor: Actor, start: Start) => Promise<Started>;

/**
 * Opens the transaction of a start and commits it after `work`. All starts of a pipeline pass through here. Those of the
 * webhooks wait in one line before they take a connection, and so do those of each caller: a caller whose share of the
 * connections is used up delays only its own starts. Throws `db.busy` after ten seconds in the line.
 */
export type StartTransaction = <T>(
  pipelineId: Uuid,
  work: (tx: Tx, startExecution: StartInTransaction) => Promise<T>,
) => Promise<T>;

export function makeStartTransaction(deps: {
  readonly db: Db;
  readonly startExecution: StartExecution;
}): StartTransaction {
  const inLane = createLanes(STARTS);
  return (pipelineId, work) =>
    inLane(`${pipelineId} ${currentShare() ?? ""}`, () =>
      deps.db.transaction((tx) => work(tx, (actor, start) => deps.startExecution(tx, actor, start))),
    );
}
