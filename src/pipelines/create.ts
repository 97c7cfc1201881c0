import { actorId, type Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId } from "../core/ids.ts";
import { authorOf, type RevalidateActor } from "../identity/index.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize, RecordReferences, Dereference, Permits } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { FindUsedConnectors } from "../connectors/index.ts";
import type { GetProject } from "../projects/index.ts";
import type { CheckSecretUses } from "../secrets/index.ts";
import type { CheckScripts } from "./bash-syntax.ts";
import { permitAuthor } from "./chained/permit-author.ts";
import { shownPipeline, type InProject, type PipelineWithYaml } from "./pipeline.ts";
import type { FindReferences } from "./find-references.ts";
import { problem } from "./problems.ts";
import type { RequirePrincipals } from "./principals.ts";
import { requireConnectorTypes, type ExistOf } from "./references.ts";
import { requireSecrets } from "./secrets.ts";
import { insertPipeline } from "./store/pipelines.ts";
import { noteUses, userOf } from "./uses.ts";
import { locatorOf, type RunJob } from "./jobs/run-job.ts";
import { placeIn } from "./places.ts";
import { shownOf } from "./shown.ts";
import { keptText, toRead, type SentPipeline } from "./text.ts";

export type PipelineDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly permits: Permits;
  readonly dereference: Dereference;
  readonly getProject: GetProject;
  /** Whether what a pipeline names exists. */
  readonly exist: ExistOf;
  readonly findUsedConnectors: FindUsedConnectors;
  readonly checkSecretUses: CheckSecretUses;
  readonly checkScripts: CheckScripts;
  readonly runJob: RunJob;
  readonly revalidateActor: RevalidateActor;
  readonly findReferences: FindReferences;
  readonly requirePrincipals: RequirePrincipals;
  /** Keeps the secrets that a pipeline names from being deleted unless that is forced. */
  readonly noteSecrets: RecordReferences;
  /** Keeps the connectors that a pipeline names from being deleted. */
  readonly noteConnectors: RecordReferences;
  /** Records which services and environments a pipeline names. */
  readonly noteTargets: { readonly [kind in "environment" | "service"]: RecordReferences };
  readonly clock: Clock;
  readonly newId: NewId;
};

/**
 * Saves version 1 of a pipeline. Throws `project.not_found`, `pipeline.duplicate`
 * the document's own problems, and those of its secrets, each fault with line and column.
 */
export type CreatePipeline = (actor: Actor, scope: InProject, sent: SentPipeline) => Promise<PipelineWithYaml>;

export const makeCreatePipeline =
  (deps: PipelineDeps): CreatePipeline =>
  async (asking, scope, sent) => {
    deps.authorize(asking, "core_pipeline_edit", { accountId: asking.accountId, ...scope });
    const project = await deps.getProject(asking, scope.orgIdentifier, scope.projectIdentifier);
    const { document, secrets, places } = await deps.runJob(asking.accountId, "read", toRead(sent, scope));
    sent.check?.(document);
    await deps.checkScripts(asking.accountId, document, locatorOf(deps.runJob, asking.accountId, sent));
    const actor = await stillEditor(deps, asking, scope);
    permitAuthor(actor, document, placeIn(places));
    await requireSecrets(deps.checkSecretUses, actor, scope, secrets);
    await requireConnectorTypes(deps, actor, { home: scope, document, at: placeIn(places) });
    const at = deps.clock.now();
    const pipeline = {
      id: deps.newId(),
      projectId: project.id,
      identifier: document.identifier,
      name: document.name,
      description: document.description ?? "",
      tags: { ...document.tags },
      version: 1,
      createdBy: actorId(actor),
      createdAt: at,
      updatedAt: at,
      yaml: keptText(sent),
      ...shownOf(document),
      author: authorOf(actor),
    };
    await deps.db.transaction(async (tx) => {
      if (!(await insertPipeline(tx, actor.accountId, pipeline)))
        throw problem("pipeline.duplicate", [pipeline.identifier, scope.projectIdentifier]);
      const user = userOf(pipeline.id, pipeline.identifier, scope);
      await noteUses(deps, tx, actor.accountId, { user, document });
      await deps.audit.record(tx, actor, {
        operation: "pipeline.create",
        resourceType: "PIPELINE",
        resourceId: pipeline.identifier,
        scope,
        after: shownPipeline(pipeline),
      });
    });
    return pipeline;
  };

/** Bash may take seconds, in which the actor may have lost credential or permission. Answers the actor as they are now. */
export async function stillEditor(
  { revalidateActor, authorize }: Pick<PipelineDeps, "revalidateActor" | "authorize">,
  asking: Actor,
  scope: InProject,
  identifier?: string,
): Promise<Actor> {
  const actor = await revalidateActor(asking);
  authorize(actor, "core_pipeline_edit", { accountId: actor.accountId, ...scope }, identifier);
  return actor;
}
