/** A person takes over the authorship of what another one saved: from then on executions act for that person. */
import type { Actor } from "../core/actor.ts";
import { toWire } from "../core/ids.ts";
import { authorOf, type Author } from "../identity/index.ts";
import type { Tx } from "../platform/db/db.ts";
import type { AdoptionReads } from "./adoption-reads.ts";
import type { PipelineDeps } from "./create.ts";
import { referencesIn } from "./document/references.ts";
import { findInputSet } from "./store/input-sets.ts";
import { notFound } from "./input-sets/write.ts";
import { placeOf } from "./pipeline.ts";
import type { OfPipeline } from "./input-sets/of-pipeline.ts";
import { problem } from "./problems.ts";
import { permitReferences } from "./references.ts";
import { requireSecrets } from "./secrets.ts";
import { setInputSetAuthor, setVersionAuthor } from "./store/authors.ts";

/**
 * Makes the change that was checked, in the transaction of all that is adopted together, for the actor as they are by
 * then. Throws `access.not_permitted` where the actor has lost the permission to edit.
 */
export type Adoption = (tx: Tx, actor: Actor) => Promise<void>;

/** For the audit trail. */
export const shownAuthor = (author: Author | null) => ({
  author: author && { kind: author.kind, id: author.id && toWire(author.id) },
});

/**
 * Checks that the actor may edit the pipeline and may use now what its newest version names. Throws
 * `pipeline.not_found`, `pipeline.adoption_too_large`, the problems of its secrets and `access.not_permitted`; the
 * adoption `pipeline.changed_meanwhile`.
 */
export type AdoptPipeline = (actor: Actor, within: OfPipeline, reads: AdoptionReads) => Promise<Adoption>;

export const makeAdoptPipeline =
  (deps: PipelineDeps): AdoptPipeline =>
  async (asking, { pipelineIdentifier, ...within }, reads) => {
    const { accountId } = asking;
    const scope = placeOf(within);
    const authorize = (actor: Actor): void =>
      deps.authorize(actor, "core_pipeline_edit", { accountId, ...scope }, pipelineIdentifier);
    authorize(asking);
    const read = await reads.pipeline(asking, scope, pipelineIdentifier);
    const { document, secrets } = await read.document();
    await requireSecrets(deps.checkSecretUses, asking, scope, secrets);
    await permitReferences(deps.exist, asking, scope, referencesIn(document));
    const { id: pipelineId, version, author: former } = read.saved;
    return async (tx, actor) => {
      authorize(actor);
      const author = authorOf(actor);
      if (!(await setVersionAuthor(tx, accountId, { pipelineId, version }, author)))
        throw problem("pipeline.changed_meanwhile", ["Pipeline", pipelineIdentifier]);
      await deps.audit.record(tx, actor, {
        ...{ operation: "pipeline.adopt", resourceType: "PIPELINE", resourceId: pipelineIdentifier, scope },
        before: { version, ...shownAuthor(former) },
        after: { version, ...shownAuthor(author) },
      });
    };
  };

/** The same for an input set or an overlay; it takes the permission to edit it. Throws `input_set.not_found` too. */
export type AdoptInputSet = (
  actor: Actor,
  within: OfPipeline,
  identifier: string,
  reads: AdoptionReads,
) => Promise<Adoption>;

export const makeAdoptInputSet =
  (deps: PipelineDeps): AdoptInputSet =>
  async (asking, { pipelineIdentifier, ...within }, identifier, reads) => {
    const { accountId } = asking;
    const scope = placeOf(within);
    const authorize = (actor: Actor): void =>
      deps.authorize(actor, "core_inputset_edit", { accountId, ...scope }, identifier);
    authorize(asking);
    const pipeline = await reads.pipeline(asking, scope, pipelineIdentifier);
    const set = await findInputSet(deps.db, accountId, { pipelineId: pipeline.saved.id, identifier }, undefined);
    if (!set) throw notFound(undefined, identifier, pipelineIdentifier);
    reads.count(set.yaml);
    if (set.kind === "INPUT_SET") {
      const asked = { pipelineYaml: pipeline.saved.yaml, scope, text: set.yaml, format: "yaml" as const };
      const { secrets, references } = await deps.runJob(accountId, "usesOfSet", asked);
      await requireSecrets(deps.checkSecretUses, asking, scope, secrets);
      await permitReferences(deps.exist, asking, scope, references);
    }
    return async (tx, actor) => {
      authorize(actor);
      const author = authorOf(actor);
      if (!(await setInputSetAuthor(tx, accountId, set, author)))
        throw problem("pipeline.changed_meanwhile", ["Input set", identifier]);
      await deps.audit.record(tx, actor, {
        ...{ operation: "input_set.adopt", resourceType: "INPUT_SET", scope },
        resourceId: `${pipelineIdentifier}/${identifier}`,
        before: { version: set.version, ...shownAuthor(set.author) },
        after: { version: set.version, ...shownAuthor(author) },
      });
    };
  };
