import { initialState, step, type Json } from "../engine/index.ts";
import { actorId, emailOf, type Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import { toWire, type NewId, type Uuid } from "../core/ids.ts";
import { authorOf } from "../identity/index.ts";
import type { Principal } from "../pipelines/index.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize } from "../access/index.ts";
import type { InProject, InputsOfSets, PreparedRun, PrepareRun } from "../pipelines/index.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { sendTogether } from "../platform/db/send-together.ts";
import { timersOf, type Advance } from "./advance.ts";
import type { RerunInfo, TriggeredBy, TriggerType } from "./execution.ts";
import { ofPipeline, type Idempotency, type StartOnce } from "./idempotency.ts";
import type { Started } from "./started.ts";
import { findPipelineId } from "./store/pipelines.ts";
import { insertExecution, insertTimers, nextSequence } from "./store/executions.ts";

export type StartDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly advance: Pick<Advance, "follow" | "remember">;
  readonly clock: Clock;
  readonly newId: NewId;
};

export type Start = {
  readonly scope: InProject;
  readonly pipelineIdentifier: string;
  readonly prepared: PreparedRun;
  readonly inputYaml: string | null;
  readonly notes?: string | null;
  readonly rerunInfo?: RerunInfo | null;
  readonly triggerType: TriggerType;
  readonly triggeredBy: TriggeredBy;
  /** What `<+trigger.…>` reads; null for a run that somebody started by hand. */
  readonly trigger: {
    readonly type: string;
    readonly payload: Json;
    readonly header: Readonly<Record<string, string>>;
  } | null;
  /** Statements of the caller about the new execution. They travel with those that create it. */
  readonly alongside?: (id: Uuid) => Promise<void>;
};

/** Makes an execution and its first tasks inside the caller's transaction. Throws `pipeline.unresolved_variable`. */
export type StartExecution = (tx: Tx, actor: Actor, start: Start) => Promise<Started>;

export const makeStartExecution =
  (deps: StartDeps): StartExecution =>
  async (tx, actor, start) => {
    const { accountId } = actor;
    const { prepared, scope } = start;
    deps.authorize(actor, "core_pipeline_execute", { accountId, ...scope }, start.pipelineIdentifier);
    const runSequence = await nextSequence(tx, accountId, prepared.pipelineId);
    // Made in one go with the ids of its nodes: by a node's id the execution is found (store/nodes.ts).
    const [id, createdAt] = [deps.newId(), deps.clock.now()];
    const plan = prepared.plan(
      {
        account: { identifier: toWire(accountId) },
        org: { identifier: scope.orgIdentifier },
        project: { identifier: scope.projectIdentifier, name: prepared.projectName },
        execution: {
          id: toWire(id),
          sequenceId: runSequence,
          startTs: createdAt,
          triggerType: start.triggerType,
          triggeredBy: { name: start.triggeredBy.name, email: start.triggeredBy.email ?? "" },
        },
        trigger: start.trigger,
      },
      deps.newId,
    );
    // The engine's first answer goes into the insert itself: one write, not two.
    const { state, effects } = step(plan, initialState(plan), { kind: "started", at: createdAt });
    const { projectId, pipelineId, version } = prepared;
    const { triggerType, triggeredBy, inputYaml, notes = null, rerunInfo = null } = start;
    // The row of the execution goes first, because the others refer to it.
    const [length, followed] = await sendTogether(
      () =>
        insertExecution(tx, {
          accountId,
          id,
          projectId,
          pipelineId,
          pipelineVersion: version,
          runSequence,
          plan,
          state,
          triggerType,
          triggeredBy,
          startedBy: actorId(actor),
          inputYaml,
          notes,
          rerunInfo,
          principals: prepared.principals,
          createdAt,
        }),
      () => deps.advance.follow(tx, { accountId, id, queueId: pipelineId }, plan, state, effects),
      () => insertTimers(tx, accountId, id, timersOf(effects).started),
      () =>
        deps.audit.record(tx, actor, {
          operation: "execution.start",
          resourceType: "PIPELINE",
          resourceId: start.pipelineIdentifier,
          scope,
          after: { execution: toWire(id), runSequence, pipelineVersion: version },
        }),
      async () => start.alongside?.(id),
    );
    deps.advance.remember(id, { plan, length });
    return { id, runSequence, state: followed, createdAt, version, triggerType, triggeredBy, rerunInfo };
  };

/** Runtime inputs as text. */
export type RunInput = { readonly text: string; readonly format: "yaml" | "json" };

export type RunOptions = Pick<Start, "notes" | "rerunInfo"> & {
  readonly trigger?: Start["trigger"];
  /** Of the run that is repeated, those whose inputs it reuses. */
  readonly principals?: readonly Principal[];
  /** The pipeline that is meant; another one that has its identifier by now is not started. */
  readonly pipelineId?: Uuid;
  readonly idempotency?: Idempotency | undefined;
  /** Identifiers of input sets and overlays, of which later ones win; over all of them goes the input itself. */
  readonly inputSets?: readonly string[];
};

/** A run by hand: prepares outside, starts inside one transaction. It keeps the inputs that its input sets gave. */
export type RunPipeline = (
  actor: Actor,
  scope: InProject,
  identifier: string,
  input: RunInput | undefined,
  options?: RunOptions,
) => Promise<Started>;

export const makeRunPipeline =
  (
    deps: Pick<StartDeps, "db" | "authorize"> & {
      prepareRun: PrepareRun;
      mergeInputSets: InputsOfSets;
      startExecution: StartExecution;
      startOnce: StartOnce;
    },
  ): RunPipeline =>
  async (
    actor,
    scope,
    identifier,
    given,
    { inputSets = [], principals = [], pipelineId, idempotency, ...options } = {},
  ) => {
    const { accountId } = actor;
    deps.authorize(actor, "core_pipeline_execute", { accountId, ...scope }, identifier);
    // A key that started a deleted pipeline is not answered for another one of the same identifier.
    const current = idempotency && (await findPipelineId(deps.db, accountId, scope, identifier));
    const earlier = current && (await deps.startOnce.find(actor, ofPipeline(idempotency, current)));
    if (earlier) return earlier;
    const input = await deps.mergeInputSets(actor, scope, identifier, inputSets, given);
    const starter: Principal = { author: authorOf(actor), authored: { type: "execution" } };
    const run = { trigger: options.trigger ?? null, principals: [starter, ...principals], pipelineId };
    const prepared = await deps.prepareRun(actor, scope, identifier, input, run);
    const start: Start = {
      scope,
      pipelineIdentifier: identifier,
      prepared,
      inputYaml: input?.text ?? null,
      triggerType: "MANUAL",
      triggeredBy: personOf(actor),
      trigger: null,
      ...options,
    };
    const once = idempotency && ofPipeline(idempotency, prepared.pipelineId);
    return deps.db.transaction((tx) =>
      deps.startOnce.start(tx, actor, once, () => deps.startExecution(tx, actor, start)),
    );
  };

function personOf(actor: Actor): TriggeredBy {
  if (actor.kind === "system")
    return { uuid: "systemUser", identifier: "system", name: "system", email: null, triggerRef: null };
  const email = emailOf(actor);
  return { uuid: toWire(actor.id), identifier: email ?? actor.name, name: actor.name, email, triggerRef: null };
}
