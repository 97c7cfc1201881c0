import { authorizeSomewhere } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { Uuid } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import { isFinal } from "../engine/index.ts";
import type { Db } from "../platform/db/db.ts";
import { outsideShares } from "../platform/db/pool/budget.ts";
import { stateOfColumns, type ExecutionSummary, type ListedExecution, type WithStages } from "./execution.ts";
import { problem } from "./problems.ts";
import { whyNoRetry } from "./retry/can-retry.ts";
import { lastNodeOf, packStages, packStates, stagesOf, stageStatesOf, unpackStages, unpackStates } from "./stage.ts";
import type { ExecutionFilter } from "./store/conditions.ts";
import { findExecution } from "./store/lists.ts";
import { findStages, findState, saveStages, type StagesRow } from "./store/stages.ts";
import { readStageNodes, readStored } from "./stored.ts";
import { seenBy } from "./visible.ts";

/** Executions whose stages one statement reads. */
const AT_ONCE = 50;
/** A damaged plan may have other ids. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Of the stages of one page: a thousand executions of 25 stages have a third of it. */
const MOST_BYTES = 32 * 1024 * 1024;

type Deps = { readonly db: Db; readonly mostBytes?: number };

type Found = WithStages & Pick<StagesRow, "status" | "startedAt" | "endedAt">;

/**
 * The stages of these executions by id, without those that the conditions exclude; `execution.too_many_stages` instead of
 * those for which one answer has no room.
 */
export type ReadStages = (
  accountId: Uuid,
  ids: readonly Uuid[],
  conditions?: ExecutionFilter,
) => Promise<ReadonlyMap<Uuid, Found | Problem>>;

/**
 * A run that an older server started, or that was quarantined, is completed here: its plan is parsed, one run after the
 * other, and its stages are saved. So each plan is parsed once, whatever is listed. The states of the stages are saved once
 * the run has ended.
 */
export function makeReadStages({ db, mostBytes = MOST_BYTES }: Deps): ReadStages {
  const completing = new Map<Uuid, Promise<WithStages>>();

  let before: Promise<unknown> = Promise.resolve();

  async function complete(accountId: Uuid, { id, stages: stored }: StagesRow): Promise<WithStages> {
    // Another request may have completed it since its row was read.
    const [row] = await findStages(db, accountId, [{ is: "executionIn", value: [id] }]);
    const known = row && currentOf(row);
    if (known) return known;
    // The plan of a run never changes and is parsed once. The state of a run that has not ended is read each time.
    const whole = stored ? undefined : await findExecution(db, accountId, id);
    const plan = whole && readStored(whole).plan;
    const stages = stored ? unpackStages(stored) : plan ? stagesOf(plan) : [];
    const stageIds = stages.map((stage) => stage.id);
    const found = whole ?? (await findState(db, accountId, id, stageIds));
    if (!found) return { stages: [], stageStates: { status: "errored", failure: null, nodes: {} } };
    const { status } = found;
    const { state, nodes } = readStageNodes(found);
    const stageStates = { ...stageStatesOf(state ?? stateOfColumns(found), nodes, stageIds), status };
    const lastNode = plan ? lastNodeOf(plan) : "";
    if (plan || isFinal(status))
      await saveStages(db, accountId, id, status, {
        stages: packStages(stages),
        states: isFinal(status) ? packStates(stageStates, stageIds) : null,
        lastNode: UUID.test(lastNode) ? lastNode : null,
      });
    return { stages, stageStates };
  }

  /** Requests that come at once share one reading, and one plan is read at a time: parsing blocks the server. */
  function completed(accountId: Uuid, row: StagesRow): Promise<WithStages> {
    const earlier = completing.get(row.id);
    if (earlier) return earlier;
    const work = before
      .then(() => outsideShares(() => complete(accountId, row)))
      .finally(() => completing.delete(row.id));
    before = work.catch(() => {}); // the request that waits for it gets the error
    completing.set(row.id, work);
    return work;
  }

  return async (accountId, ids, conditions = []) => {
    const found = new Map<Uuid, Found | Problem>();
    const tooMany = problem("execution.too_many_stages");
    let left = mostBytes;
    let isFull = false;
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      // What follows a row without room is not even read.
      if (isFull) {
        for (const id of ids.slice(from)) found.set(id, tooMany);
        break;
      }
      const part: ExecutionFilter = [{ is: "executionIn", value: ids.slice(from, from + AT_ONCE) }, ...conditions];
      const rows = await findStages(db, accountId, part);
      for (const row of rows.toSorted((a, b) => a.bytes - b.bytes)) {
        if (row.bytes > left) {
          isFull = true;
          found.set(row.id, tooMany);
          continue;
        }
        left -= row.bytes;
        const { id, status, startedAt, endedAt } = row;
        const shown = currentOf(row) ?? (await completed(accountId, row));
        found.set(id, { ...shown, status, startedAt, endedAt });
      }
    }
    return found;
  };
}

/**
 * What the columns say; undefined when they lack something or an older server has saved a state since. That is found out
 * by the status, at the latest when the run has ended.
 */
function currentOf({ status, stages: stored, stageStates: states }: StagesRow): WithStages | undefined {
  if (stored === null || states?.[0] !== status) return undefined;
  const stages = unpackStages(stored);
  const stageIds = stages.map(({ id }) => id);
  return { stages, stageStates: unpackStates(states, stageIds) };
}

/**
 * The same executions with their stages, and with the status and times that belong to these. Throws
 * `execution.too_many_stages`.
 */
export async function withStages(
  { readStages, clock }: { readonly readStages: ReadStages; readonly clock: Clock },
  accountId: Uuid,
  executions: readonly ListedExecution[],
): Promise<ExecutionSummary[]> {
  const now = clock.now();
  const found = await readStages(
    accountId,
    executions.map(({ id }) => id),
  );
  // What was deleted meanwhile is left out.
  return executions.flatMap((execution) => {
    const stages = found.get(execution.id);
    if (stages instanceof Problem) throw stages;
    return stages ? [{ ...execution, ...stages, canRetry: whyNoRetry(execution, now) === undefined }] : [];
  });
}

/**
 * The stages of each of these executions, in their order; none of those that the actor may not see, and
 * `execution.too_many_stages` instead of those for which one answer has no room.
 */
export type ListStages = (actor: Actor, executions: readonly Uuid[]) => Promise<readonly (WithStages | Problem)[]>;

const NONE: WithStages = { stages: [], stageStates: { status: "queued", failure: null, nodes: {} } };

export const makeListStages =
  (deps: { readonly readStages: ReadStages }): ListStages =>
  async (actor, executions) => {
    authorizeSomewhere(actor, "core_pipeline_view");
    const found = await deps.readStages(actor.accountId, executions, seenBy(actor));
    return executions.map((id) => found.get(id) ?? NONE);
  };
