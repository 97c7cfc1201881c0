import type { Actor } from "../core/actor.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import type { Tx } from "../platform/db/db.ts";
import { authorOf } from "../identity/index.ts";
import type { Principal } from "./principal.ts";
import type { Plan } from "../engine/index.ts";
import type { PipelineDeps } from "./create.ts";
import type { PipelineDocument } from "./document/index.ts";
import { referencesIn } from "./document/references.ts";
import type { Connectors } from "./clusters.ts";
import type { FoundReference, Named } from "./find-references.ts";
import type { GetPipeline } from "./get.ts";
import type { FillPipeline } from "./jobs/keep-filled.ts";
import type { InProject, SavedPipeline } from "./pipeline.ts";
import { placeIn } from "./places.ts";
import { buildPlan, type Facts } from "./plan.ts";
import { problem as pipelineProblem } from "./problems.ts";
import { permitReferences, requireConnectorTypes, requireReferences, resolveReferences } from "./references.ts";
import { requireSecrets, type WrittenSecret } from "./secrets.ts";

/** A pipeline with its inputs filled in; only the facts of one run are missing. */
export type PreparedRun = {
  readonly pipelineId: Uuid;
  readonly projectId: Uuid;
  readonly version: number;
  readonly name: string;
  readonly projectName: string;
  /** For whom the run acts; never empty. */
  readonly principals: readonly Principal[];
  /** Checks the principals again at the end of the start's transaction, which may have waited for seconds. */
  readonly requirePrincipals: (tx: Pick<Tx, "query">) => Promise<void>;
  /** Pure but for `newId`, which names the nodes. Throws `pipeline.unresolved_variable` and `pipeline.host_refused`. */
  readonly plan: (facts: Facts, newId: () => string) => Plan;
};

type Input =
  | { readonly text: string; readonly format: "yaml" | "json"; readonly principals?: readonly Principal[] }
  | undefined;

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
};

/**
 * Reads the newest version, or that of the run, and fills in the inputs, given as YAML or JSON text. What it names by references has to
 * exist now, and the actor has to be allowed to use it; with a trigger, so do its owner and the authors of the pipeline
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
  "exist" | "permits" | "findUsedConnectors" | "checkSecretUses" | "findReferences" | "requirePrincipals"
> & {
  readonly get: GetPipeline;
  readonly fill: FillPipeline;
};

export function makePrepareRun(deps: Deps): { readonly prepareRun: PrepareRun; readonly tryInputs: TryInputs } {
  return {
    async prepareRun(actor, { orgIdentifier, projectIdentifier }, identifier, input, runFor = { trigger: null }) {
      const scope = { orgIdentifier, projectIdentifier };
      const { accountId } = actor;
      const pipeline = await deps.get(actor, scope, identifier, runFor.version);
      if (runFor.pipelineId !== undefined && runFor.pipelineId !== pipeline.id)
        throw pipelineProblem("pipeline.not_found", [identifier, projectIdentifier]);
      const { secrets, places, ...filled } = await deps.fill(accountId, pipeline, { scope, input });
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
      const connectors = connectorsOf(references);
      requireReferences(asker, { home: scope, document, at, references });
      if (!isTriggers && runFor.trigger !== null) await deps.requirePrincipals(run);
      return {
        pipelineId: pipeline.id,
        projectId: pipeline.projectId,
        version: pipeline.version,
        name: pipeline.name,
        projectName: pipeline.projectName,
        principals,
        requirePrincipals: (tx) => deps.requirePrincipals(run, tx),
        plan: (known, newId) => ({
          ...buildPlan({ document, authored: filled.authored, connectors }, known, newId),
          references: references.map(({ connector: _, ...reference }) => reference),
        }),
      };
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

/** A run by hand acts for its starter alone; with what a trigger brought, also for the authors of all that it runs. */
function principalsOf(actor: Actor, pipeline: SavedPipeline, input: Input, run: RunFor): readonly Principal[] {
  const starters = run.principals ?? [{ author: authorOf(actor), authored: { type: "execution" } as const }];
  if (actor.kind !== "trigger" && run.trigger === null) return starters;
  const { identifier, version, author } = pipeline;
  const own: Principal = { author, authored: { type: "pipeline", identifier, version } };
  return [...starters, own, ...(input?.principals ?? [])];
}

const connectorsOf = (references: readonly FoundReference[]): Connectors =>
  new Map(references.flatMap(({ reference, connector }) => (connector ? [[reference, connector] as const] : [])));

function usesOf(document: PipelineDocument, secrets: readonly WrittenSecret[]): readonly Named[] {
  const things = referencesIn(document).map(({ kind, value, stage }) => ({
    kind,
    reference: value,
    stage: stage.document.identifier,
  }));
  const asked = [...new Set(secrets.map(({ reference }) => reference))];
  return [...things, ...asked.map((reference) => ({ kind: "secret" as const, reference, stage: null }))];
}
