import type { Actor } from "../core/actor.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import type { Tx } from "../platform/db/db.ts";
import { authorOf } from "../identity/index.ts";
import type { Principal } from "./principal.ts";
import type { Plan } from "../engine/index.ts";
import { requireFew } from "./chained/count.ts";
import { loadChained } from "./chained/load.ts";
import type { PipelineDeps } from "./create.ts";
import { referencesIn } from "./document/references.ts";
import { inOriginalPaths, type StageSelection, withOriginalPaths } from "./document/select-stages.ts";
import type { Filled } from "./fill.ts";
import type { GetPipeline } from "./get.ts";
import type { InputsOfSets } from "./input-sets/index.ts";
import type { FillPipeline } from "./jobs/keep-filled.ts";
import type { InProject, SavedPipeline } from "./pipeline.ts";
import { placeIn } from "./places.ts";
import type { Facts } from "./plan.ts";
import { planWorks } from "./plan-work.ts";
import { problem as pipelineProblem } from "./problems.ts";
import { permitReferences, requireConnectorTypes, requireReferences, resolveReferences } from "./references.ts";
import { planOfPart } from "./run-part.ts";
import { connectorsOf, usesOf } from "./run-uses.ts";
import { requireSecrets } from "./secrets.ts";
import { findPipeline } from "./store/pipelines.ts";
import type { PipelineText } from "./text.ts";

/** A pipeline with its inputs filled in; only the facts of one run are missing. */
export type PreparedRun = {
  readonly pipelineId: Uuid;
  readonly projectId: Uuid;
  readonly version: number;
  readonly name: string;
  readonly projectName: string;
  /** For whom the run acts; never empty. */
  readonly principals: readonly Principal[];
  readonly allowStageExecutions: boolean;
  /** In the order of the pipeline; null for a run of all stages. */
  readonly selectedStages: readonly string[] | null;
  /** Checks the principals again at the end of the start's transaction, which may have waited for seconds. */
  readonly requirePrincipals: (tx: Pick<Tx, "query">) => Promise<void>;
  /** Pure but for `newId`, which names the nodes. Throws `pipeline.unresolved_variable` and `pipeline.host_refused`. */
  readonly plan: (facts: Facts, newId: () => string) => Plan;
};

type Input = (PipelineText & { readonly principals?: readonly Principal[] }) | undefined;

/**
 * `trigger` is what references may read as `<+trigger.…>`; it must be that of the facts of the run. `principals` are
 * those that the caller knows, the starter or the trigger's owner first; the actor alone where they are left out.
 * `pipelineId` is the pipeline that the caller means: another one with the same identifier counts as not found.
 */
export type RunFor = {
  readonly trigger: Facts["trigger"];
  readonly principals?: readonly Principal[] | undefined;
  readonly pipelineId?: Uuid | undefined;
  /** The newest one if it is left out. */
  readonly version?: number | undefined;
  /** The stages that it takes; all of them if it is left out. */
  readonly selection?: StageSelection | undefined;
};

/**
 * Reads the newest version, or that of the run, and fills in the inputs, given as YAML or JSON text. What it names by
 * references has to exist now, and the actor has to be allowed to use it; with a trigger, so do its owner and the authors of the pipeline
 * and of the input sets. Throws `pipeline.not_found`, the problems of inputs (a missing one is named by its path),
 * `pipeline.bad_references`, and the problems of RequirePrincipals.
 */
export type PrepareRun = (
  actor: Actor,
  scope: InProject,
  identifier: string,
  input: Input,
  run?: RunFor,
) => Promise<PreparedRun>;

/**
 * Whether a run could be made with these inputs. What they name need not exist yet; what does has to be the actor's to
 * use: `access.not_permitted`. Throws what PrepareRun throws of inputs and of secrets.
 */
export type TryInputs = (
  actor: Actor,
  scope: InProject,
  identifier: string,
  input: Input,
) => Promise<Pick<SavedPipeline, "id" | "projectId">>;

type Deps = Pick<
  PipelineDeps,
  | "db"
  | "runJob"
  | "exist"
  | "permits"
  | "findUsedConnectors"
  | "checkSecretUses"
  | "findReferences"
  | "requirePrincipals"
> & {
  readonly get: GetPipeline;
  readonly fill: FillPipeline;
  readonly inputsOfSets: InputsOfSets;
};

export function makePrepareRun(deps: Deps): { readonly prepareRun: PrepareRun; readonly tryInputs: TryInputs } {
  const loading = {
    ...deps,
    findPipeline: (accountId: Uuid, scope: InProject, identifier: string) =>
      findPipeline(deps.db, accountId, scope, identifier),
  };
  return {
    async prepareRun(actor, { orgIdentifier, projectIdentifier }, identifier, input, runFor = { trigger: null }) {
      const scope = { orgIdentifier, projectIdentifier };
      const { accountId } = actor;
      const pipeline = await deps.get(actor, scope, identifier, runFor.version);
      if (runFor.pipelineId !== undefined && runFor.pipelineId !== pipeline.id)
        throw pipelineProblem("pipeline.not_found", [identifier, projectIdentifier]);
      const filled = await deps.fill(accountId, pipeline, { scope, input, selection: runFor.selection });
      const stagePlaces = filled.selected?.stagePlaces;
      try {
        const prepared = await prepare(loading, actor, { scope, input, runFor, pipeline, filled });
        return { ...prepared, plan: (known, newId) => inOriginalPaths(stagePlaces, () => prepared.plan(known, newId)) };
      } catch (error) {
        throw withOriginalPaths(stagePlaces, error);
      }
    },
    async tryInputs(actor, scope, identifier, input) {
      const pipeline = await deps.get(actor, scope, identifier);
      const { document, secrets, places } = await deps.fill(actor.accountId, pipeline, { scope, input });
      await requireSecrets(deps.checkSecretUses, actor, scope, secrets);
      await permitReferences(deps.exist, actor, scope, referencesIn(document));
      await requireConnectorTypes(deps, actor, { home: scope, document, at: placeIn(places) });
      return pipeline;
    },
  };
}

type ToPrepare = {
  readonly scope: InProject;
  readonly input: Input;
  readonly runFor: RunFor;
  readonly pipeline: SavedPipeline;
  readonly filled: Filled;
};

/** Problems name paths of the stages that the run takes. */
async function prepare(
  deps: Deps & Parameters<typeof loadChained>[0],
  actor: Actor,
  { scope, input, runFor, pipeline, filled: { secrets, places, ...filled } }: ToPrepare,
): Promise<PreparedRun> {
  const { accountId } = actor;
  const { orgIdentifier, projectIdentifier } = scope;
  const { identifier } = pipeline;
  const at = placeIn(places);
  const facts = {
    account: { identifier: toWire(accountId) },
    org: { identifier: orgIdentifier },
    project: { identifier: projectIdentifier, name: pipeline.projectName },
    trigger: runFor.trigger,
  };
  const document = resolveReferences(filled.document, facts, at);
  const uses = usesOf(document, secrets);
  const principals = principalsOf(actor, pipeline, input, runFor);
  const run = { accountId, scope, pipelineIdentifier: identifier, principals, uses };
  const isTriggers = actor.kind === "trigger";
  // Before anything is looked up: the answer must not tell principals what exists where they may see nothing.
  if (isTriggers) await deps.requirePrincipals(run);
  const asker: Actor = isTriggers ? { kind: "system", accountId } : actor;
  await requireSecrets(deps.checkSecretUses, asker, scope, secrets);
  const references = await deps.findReferences(accountId, scope, uses);
  requireReferences(asker, { home: scope, document, at, references });
  if (!isTriggers && runFor.trigger !== null) await deps.requirePrincipals(run);
  const loaded = await loadChained(
    deps,
    { actor, run, actsForAuthors: isTriggers || runFor.trigger !== null },
    { document, facts, at, ids: [pipeline.id] },
  );
  const filledPipeline = {
    document,
    authored: filled.authored,
    asks: filled.asks,
    connectors: connectorsOf(references),
    values: filled.selected?.values ?? [],
  };
  await planWorks(document, { orgIdentifier, projectIdentifier });
  const part = { filled: filledPipeline, references, chained: loaded.parts };
  requireFew(part);
  const all = isTriggers || runFor.trigger !== null ? [...principals, ...loaded.principals] : principals;
  return {
    pipelineId: pipeline.id,
    projectId: pipeline.projectId,
    version: pipeline.version,
    name: pipeline.name,
    projectName: pipeline.projectName,
    principals: all,
    allowStageExecutions: filled.allowStageExecutions,
    selectedStages: filled.selected?.stages ?? null,
    requirePrincipals: (tx) => deps.requirePrincipals({ ...run, principals: all, chained: loaded.chained }, tx),
    plan: (known, newId) => planOfPart(part, known, newId),
  };
}

/** A run by hand acts for its starter alone; with what a trigger brought, also for the authors of all that it runs. */
function principalsOf(actor: Actor, pipeline: SavedPipeline, input: Input, run: RunFor): readonly Principal[] {
  const starters = run.principals ?? [{ author: authorOf(actor), authored: { type: "execution" } as const }];
  if (actor.kind !== "trigger" && run.trigger === null) return starters;
  const { identifier, version, author } = pipeline;
  const own: Principal = { author, authored: { type: "pipeline", identifier, version } };
  return [...starters, own, ...(input?.principals ?? [])];
}
