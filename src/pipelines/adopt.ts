/** A person takes over the authorship of what another one saved: from then on executions act for that person. */
import type { Actor } from "../core/actor.ts";
import { toWire } from "../core/ids.ts";
import { authorOf, type Author } from "../identity/index.ts";
import { parseDocument } from "../platform/document/document.ts";
import type { Tx } from "../platform/db/db.ts";
import type { PipelineDeps } from "./create.ts";
import { readPipeline } from "./document/index.ts";
import { referencesIn } from "./document/references.ts";
import { requirePipeline } from "./get.ts";
import { findInputSet } from "./store/input-sets.ts";
import { notFound } from "./input-sets/write.ts";
import { placeOf, type OfPipeline } from "./input-sets/of-pipeline.ts";
import { givenReferences, secretsOfSet } from "./input-sets/document.ts";
import { problem } from "./problems.ts";
import { permitReferences } from "./references.ts";
import { requireSecrets, writtenSecrets } from "./secrets.ts";
import { setInputSetAuthor, setVersionAuthor } from "./store/authors.ts";

/** Makes the change that was checked, in the transaction of all that is adopted together. */
export type Adoption = (tx: Tx) => Promise<void>;

/** For the audit trail. */
export const shownAuthor = (author: Author | null) => ({
  author: author && { kind: author.kind, id: author.id && toWire(author.id) },
});

/**
 * Checks that the actor may edit the pipeline and may use now what its newest version names. Throws
 * `pipeline.not_found`, the problems of its secrets and `access.not_permitted`; the adoption `pipeline.changed_meanwhile`.
 */
export type AdoptPipeline = (actor: Actor, within: OfPipeline) => Promise<Adoption>;

export const makeAdoptPipeline =
  (deps: PipelineDeps): AdoptPipeline =>
  async (actor, { pipelineIdentifier, ...within }) => {
    const { accountId } = actor;
    const scope = placeOf(within);
    deps.authorize(actor, "core_pipeline_edit", { accountId, ...scope }, pipelineIdentifier);
    const pipeline = await requirePipeline(deps, actor, scope, pipelineIdentifier);
    const { pipeline: document, doc } = readPipeline(pipeline.yaml, scope);
    await requireSecrets(deps.judgeSecrets, actor, scope, writtenSecrets(document, doc.positionIn));
    await permitReferences(deps.exist, actor, scope, referencesIn(document));
    const { id: pipelineId, version } = pipeline;
    const author = authorOf(actor);
    return async (tx) => {
      if (!(await setVersionAuthor(tx, accountId, { pipelineId, version }, author)))
        throw problem("pipeline.changed_meanwhile", ["Pipeline", pipelineIdentifier]);
      await deps.audit.record(tx, actor, {
        ...{ operation: "pipeline.adopt", resourceType: "PIPELINE", resourceId: pipelineIdentifier, scope },
        before: { version, ...shownAuthor(pipeline.author) },
        after: { version, ...shownAuthor(author) },
      });
    };
  };

/** The same for an input set or an overlay; it takes the permission to edit it. Throws `input_set.not_found` too. */
export type AdoptInputSet = (actor: Actor, within: OfPipeline, identifier: string) => Promise<Adoption>;

export const makeAdoptInputSet =
  (deps: PipelineDeps): AdoptInputSet =>
  async (actor, { pipelineIdentifier, ...within }, identifier) => {
    const { accountId } = actor;
    const scope = placeOf(within);
    deps.authorize(actor, "core_inputset_edit", { accountId, ...scope }, identifier);
    const pipeline = await requirePipeline(deps, actor, scope, pipelineIdentifier);
    const set = await findInputSet(deps.db, accountId, { pipelineId: pipeline.id, identifier }, undefined);
    if (!set) throw notFound(undefined, identifier, pipelineIdentifier);
    if (set.kind === "INPUT_SET") {
      const { pipeline: document } = readPipeline(pipeline.yaml, scope);
      const doc = parseDocument(set.yaml);
      await requireSecrets(deps.judgeSecrets, actor, scope, secretsOfSet(document, doc));
      await permitReferences(deps.exist, actor, scope, givenReferences(document, doc));
    }
    const author = authorOf(actor);
    return async (tx) => {
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
