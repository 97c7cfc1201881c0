import { actorEmail, type Actor } from "../core/actor.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import { authorOf } from "../identity/index.ts";
import type { Principal } from "../pipelines/index.ts";
import type { Authorize } from "../access/index.ts";
import type { InProject, InputsOfSets, PrepareRun } from "../pipelines/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { TriggeredBy } from "./execution.ts";
import { ofPipeline, type Idempotency, type StartOnce } from "./idempotency.ts";
import type { Started } from "./started.ts";
import type { Start } from "./starts/start-execution.ts";
import type { StartTransaction } from "./starts/start-transaction.ts";
import { findPipelineId } from "./store/pipelines.ts";

/** Runtime inputs as text. */
export type RunInput = { readonly text: string; readonly format: "yaml" | "json" };

export type RunOptions = Pick<Start, "notes" | "rerunInfo" | "selection"> & {
  /** Called once no earlier request with the key is answered. */
  readonly retry?: () => NonNullable<Start["retry"]>;
  readonly trigger?: Start["trigger"];
  /** Of the run that is repeated, those whose inputs it reuses. */
  readonly principals?: readonly Principal[];
  /** The pipeline that is meant; another one that has its identifier by now is not started. */
  readonly pipelineId?: Uuid;
  /** The newest one if it is left out. */
  readonly version?: number;
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
  (deps: {
    db: Db;
    authorize: Authorize;
    prepareRun: PrepareRun;
    mergeInputSets: InputsOfSets;
    startTransaction: StartTransaction;
    startOnce: StartOnce;
  }): RunPipeline =>
  async (
    actor,
    scope,
    identifier,
    given,
    { inputSets = [], principals = [], pipelineId, version, idempotency, retry, ...options } = {},
  ) => {
    const { accountId } = actor;
    deps.authorize(actor, "core_pipeline_execute", { accountId, ...scope }, identifier);
    // A key that started a deleted pipeline is not answered for another one of the same identifier.
    const current = idempotency && (await findPipelineId(deps.db, accountId, scope, identifier));
    const earlier = current && (await deps.startOnce.find(actor, ofPipeline(idempotency, current)));
    if (earlier) return earlier;
    const retried = retry?.();
    const input = await deps.mergeInputSets(actor, scope, identifier, inputSets, given);
    const starter: Principal = { author: authorOf(actor), authored: { type: "execution" } };
    const run = {
      trigger: options.trigger ?? null,
      principals: [starter, ...principals],
      pipelineId,
      version,
      selection: options.selection,
    };
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
      ...(retried && { retry: retried }),
    };
    const once = idempotency && ofPipeline(idempotency, prepared.pipelineId);
    return deps.startTransaction(prepared.pipelineId, (tx, startExecution) =>
      deps.startOnce.start(tx, actor, once, () => startExecution(actor, start)),
    );
  };

function personOf(actor: Actor): TriggeredBy {
  if (actor.kind === "system")
    return { uuid: "systemUser", identifier: "system", name: "system", email: null, triggerRef: null };
  const email = actorEmail(actor);
  return { uuid: toWire(actor.id), identifier: email ?? actor.name, name: actor.name, email, triggerRef: null };
}
