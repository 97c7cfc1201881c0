import { actorId, type Actor } from "../core/actor.ts";
import { authorOf } from "../identity/index.ts";
import { commonProblem } from "../core/problems.ts";
import type { Tx } from "../platform/db/db.ts";
import { shownRemovals } from "../platform/removed-reference.ts";
import { permitAuthor } from "./chained/permit-author.ts";
import { stillEditor, type PipelineDeps } from "./create.ts";
import { locatorOf } from "./jobs/run-job.ts";
import { placeIn } from "./places.ts";
import { shownPipeline, type InProject, type SavedPipeline } from "./pipeline.ts";
import { problem } from "./problems.ts";
import { requireConnectorTypes } from "./references.ts";
import { requireSecrets } from "./secrets.ts";
import { findNamesOnlyOf } from "./store/input-sets.ts";
import { findPipeline, holdPipeline, markDeleted, replacePipeline, type PipelineKey } from "./store/pipelines.ts";
import { noteUses, userOf } from "./uses.ts";
import { shownOf } from "./shown.ts";
import { keptText, toRead, type SentPipeline } from "./text.ts";

/**
 * Saves the next version and answers its number; runs that are under way keep theirs. `version` is the one that the
 * caller has read. Throws `pipeline.not_found`, `core.stale_version`, `pipeline.other_identifier`, and the document's
 * own problems and those of its secrets.
 */
export type UpdatePipeline = (
  actor: Actor,
  scope: InProject,
  identifier: string,
  sent: SentPipeline,
  version: number | undefined,
) => Promise<number>;

export const makeUpdatePipeline =
  (deps: PipelineDeps): UpdatePipeline =>
  async (asking, scope, identifier, sent, version) => {
    deps.authorize(asking, "core_pipeline_edit", { accountId: asking.accountId, ...scope }, identifier);
    const project = await deps.getProject(asking, scope.orgIdentifier, scope.projectIdentifier);
    const { document, secrets, places } = await deps.runJob(asking.accountId, "read", toRead(sent, scope));
    sent.check?.(document);
    if (document.identifier !== identifier) {
      const { inInputs: _, ...position } = placeIn(places)(["pipeline", "identifier"]);
      const fault = {
        ...{ path: "pipeline.identifier", message: `'${document.identifier}' is not '${identifier}'` },
        ...position,
      };
      throw problem("pipeline.other_identifier", [document.identifier, identifier], { faults: [fault] });
    }
    await deps.checkScripts(asking.accountId, document, locatorOf(deps.runJob, asking.accountId, sent));
    const actor = await stillEditor(deps, asking, scope, identifier);
    permitAuthor(actor, document, placeIn(places));
    await requireSecrets(deps.checkSecretUses, actor, scope, secrets);
    await requireConnectorTypes(deps, actor, { home: scope, document, at: placeIn(places) });
    const to = {
      name: document.name,
      description: document.description ?? "",
      tags: { ...document.tags },
      yaml: keptText(sent),
      ...shownOf(document),
      author: authorOf(actor),
      updatedAt: deps.clock.now(),
      savedBy: actorId(actor),
    };
    return deps.db.transaction(async (tx) => {
      const key = { projectId: project.id, identifier };
      const before = await held(tx, actor, scope, key);
      const saved = await replacePipeline(tx, actor.accountId, key, to, version);
      if (saved === undefined) throw await refusal(tx, actor, scope, identifier, version);
      const user = userOf(saved.id, identifier, scope);
      await noteUses(deps, tx, actor.accountId, { user, document });
      await deps.audit.record(tx, actor, {
        ...changeOf(sent.restored === undefined ? "pipeline.update" : "pipeline.restore", identifier, scope),
        before: before && shownPipeline(before),
        after: {
          ...shownPipeline({ ...to, version: saved.version }),
          ...(sent.restored !== undefined && { restoredVersion: sent.restored }),
        },
      });
      return saved.version;
    });
  };

/**
 * Its executions stay and go on; its identifier is free again, its webhooks lead nowhere. Throws
 * `pipeline.not_found`, `core.stale_version`.
 */
export type DeletePipeline = (
  actor: Actor,
  scope: InProject,
  identifier: string,
  version: number | undefined,
) => Promise<void>;

export const makeDeletePipeline =
  (deps: PipelineDeps): DeletePipeline =>
  async (actor, scope, identifier, version) => {
    deps.authorize(actor, "core_pipeline_delete", { accountId: actor.accountId, ...scope }, identifier);
    const project = await deps.getProject(actor, scope.orgIdentifier, scope.projectIdentifier);
    await deps.db.transaction(async (tx) => {
      const key = { projectId: project.id, identifier };
      const before = await held(tx, actor, scope, key);
      const id = await markDeleted(tx, actor.accountId, key, deps.clock.now(), version);
      if (id === undefined) throw await refusal(tx, actor, scope, identifier, version);
      const user = userOf(id, identifier, scope);
      await noteUses(deps, tx, actor.accountId, { user, document: undefined });
      const { accountId } = actor;
      const sets = await findNamesOnlyOf(tx, accountId, { projectId: project.id, pipelineId: id });
      const gone = await deps.dereference(tx, accountId, scope, { PIPELINE: identifier, INPUT_SET: sets });
      await deps.audit.record(tx, actor, {
        ...changeOf("pipeline.delete", identifier, scope),
        before: before && { ...shownRemovals(gone), ...shownPipeline(before) },
      });
    });
  };

/** As it is before it is changed, and stays until the transaction ends. */
async function held(tx: Tx, actor: Actor, scope: InProject, key: PipelineKey): Promise<SavedPipeline | undefined> {
  await holdPipeline(tx, actor.accountId, key);
  return findPipeline(tx, actor.accountId, scope, key.identifier);
}

const changeOf = (operation: string, resourceId: string, scope: InProject) => ({
  operation,
  resourceType: "PIPELINE",
  resourceId,
  scope,
});

/** Why a statement that names the version has touched nothing. */
async function refusal(
  tx: Tx,
  actor: Actor,
  scope: InProject,
  identifier: string,
  version: number | undefined,
): Promise<Error> {
  const there = await findPipeline(tx, actor.accountId, scope, identifier);
  if (!there) return problem("pipeline.not_found", [identifier, scope.projectIdentifier]);
  return commonProblem("core.stale_version", ["Pipeline", identifier, `${there.version}`, `${version}`]);
}
