import type { Actor } from "../core/actor.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import type { Principal, StageSelection } from "../pipelines/index.ts";
import type { Authorize } from "../access/index.ts";
import type { InProject } from "../pipelines/index.ts";
import type { Db, Store } from "../platform/db/db.ts";
import type { ExecutionDetail, RerunInfo } from "./execution.ts";
import type { GetExecution } from "./get.ts";
import type { Idempotency } from "./idempotency.ts";
import { problem } from "./problems.ts";
import type { RunInput, RunPipeline } from "./start.ts";
import type { Start } from "./starts/start-execution.ts";
import type { Started } from "./started.ts";
import { findInputs } from "./store/lists.ts";

/**
 * A fresh run of the pipeline's newest version with the inputs of an earlier one, unless others or input sets are given, and
 * with what `<+trigger.…>` read in it. The pipeline has to be the same one, and a trigger that started the earlier run has
 * to exist. Throws `execution.not_found`, `execution.not_of_pipeline`, `execution.trigger_deleted` and the problems of a run.
 */
export type RerunPipeline = (
  actor: Actor,
  scope: InProject,
  original: {
    readonly executionId: string;
    readonly pipelineIdentifier: string;
    readonly idempotency?: Idempotency | undefined;
    /** Those of the earlier run if it is left out. */
    readonly selection?: StageSelection | undefined;
  },
  input: RunInput | undefined,
  inputSets: readonly string[],
) => Promise<Started>;

export type TriggersOf = {
  /** With `tx`, it reads in that transaction. */
  readonly isTriggerLive: (accountId: Uuid, id: Uuid, tx?: Store) => Promise<boolean>;
};

type Deps = {
  readonly db: Db;
  readonly authorize: Authorize;
  readonly get: GetExecution;
  readonly run: RunPipeline;
} & TriggersOf;

export const makeRerunPipeline =
  (deps: Deps): RerunPipeline =>
  async (actor, scope, { executionId, pipelineIdentifier, idempotency, selection }, input, inputSets) => {
    deps.authorize(actor, "core_pipeline_execute", { accountId: actor.accountId, ...scope }, pipelineIdentifier);
    const original = await deps.get(actor, executionId, scope);
    if (original.pipelineIdentifier !== pipelineIdentifier)
      throw problem("execution.not_of_pipeline", [executionId, pipelineIdentifier]);
    const others = input !== undefined || inputSets.length > 0;
    const former = await findInputs(deps.db, actor.accountId, original.id);
    const given = others ? input : inputsOf(former?.inputYaml);
    const trigger = triggerOf(original);
    const principals = await principalsOfRun(deps, actor.accountId, { original, former, hasOwnInputs: others });
    return deps.run(actor, scope, pipelineIdentifier, given, {
      ...{ rerunInfo: rerunOf(original), trigger, inputSets, principals, idempotency },
      ...{ pipelineId: original.pipelineId, selection: selection ?? selectionOf(original, former) },
    });
  };

/** The stages that a run took; undefined for all of them. */
export const selectionOf = (
  { selectedStages }: Pick<ExecutionDetail, "selectedStages">,
  former: { readonly expressionValues: StageSelection["expressionValues"] | null } | undefined,
): StageSelection | undefined =>
  selectedStages ? { stages: selectedStages, expressionValues: former?.expressionValues ?? {} } : undefined;

type Former = { readonly principals: readonly Principal[] } | undefined;

/**
 * For whom a run acts beside its starter that repeats another one. Throws `execution.unknown_owner` and
 * `execution.trigger_deleted`.
 */
export async function principalsOfRun(
  deps: TriggersOf,
  accountId: Uuid,
  run: { readonly original: ExecutionDetail; readonly former: Former; readonly hasOwnInputs: boolean },
): Promise<readonly Principal[]> {
  const { original, former, hasOwnInputs } = run;
  if (triggerOf(original) === null) return [];
  const principals = reused(former?.principals ?? [], hasOwnInputs ? "payload" : "inputs");
  if (principals.length === 0) throw problem("execution.unknown_owner", [toWire(original.id)]);
  await requireTriggers(deps, accountId, principals);
  return principals;
}

/** Throws `execution.trigger_deleted` for a principal that owns a deleted trigger: its payload is not used again. */
export async function requireTriggers(
  { isTriggerLive }: TriggersOf,
  accountId: Uuid,
  principals: readonly Principal[],
): Promise<void> {
  for (const { authored } of principals)
    if (authored.type === "trigger" && !(await isTriggerLive(accountId, authored.id)))
      throw problem("execution.trigger_deleted", [authored.identifier]);
}

/** What a trigger brought is its owner's; the inputs are also those of the authors of its input sets. */
const reused = (principals: readonly Principal[], what: "payload" | "inputs"): readonly Principal[] =>
  principals.filter(({ authored: { type } }) => type === "trigger" || (type === "input_set" && what === "inputs"));

/** Inputs as they were stored. */
export function inputsOf(text: string | null | undefined): RunInput | undefined {
  if (text === null || text === undefined) return undefined;
  // What was sent as JSON is kept as JSON.
  return { text, format: text.trimStart().startsWith("{") ? "json" : "yaml" };
}

function rerunOf({ id, triggerType, rerunInfo }: ExecutionDetail): RerunInfo {
  const prevExecutionId = toWire(id);
  return {
    prevExecutionId,
    prevTriggerType: triggerType,
    rootExecutionId: rerunInfo?.rootExecutionId ?? prevExecutionId,
    rootTriggerType: rerunInfo?.rootTriggerType ?? triggerType,
  };
}

/** The trigger as the plan's context has it: `start` put it there. */
export const triggerOf = ({ plan }: ExecutionDetail): Start["trigger"] =>
  (plan.context["trigger"] ?? null) as Start["trigger"];
