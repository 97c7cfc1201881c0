import { actorId, type Actor } from "../../core/actor.ts";
import { authorOf } from "../../identity/index.ts";
import { commonProblem } from "../../core/problems.ts";
import type { Tx } from "../../platform/db/db.ts";
import { faultOf } from "../../platform/document/validate.ts";
import { shownRemovals } from "../../platform/removed-reference.ts";
import { requirePipeline } from "../get.ts";
import { placeOf, type SavedPipeline } from "../pipeline.ts";
import { problem } from "../problems.ts";
import { requireSecrets } from "../secrets.ts";
import * as store from "../store/input-sets.ts";
import { keptText, type PipelineText } from "../text.ts";
import { readSet, referencePath, ROOTS, type SetDocument } from "./document.ts";
import type { InputSetDeps, OfPipeline } from "./of-pipeline.ts";
import { shownSet, type Checked, type InputSetWithYaml, type Kind } from "./input-set.ts";

/**
 * Saves an input set or an overlay. The values are checked against the newest version of the pipeline: each must be
 * that of a runtime input; none has to be there. Throws `pipeline.not_found`, `input_set.duplicate`,
 * `pipeline.bad_inputs` and the problems of documents, each fault with line and column.
 */
export type CreateInputSet = (
  actor: Actor,
  within: OfPipeline,
  kind: Kind,
  sent: PipelineText,
) => Promise<Checked<InputSetWithYaml>>;

export const makeCreateInputSet =
  (deps: InputSetDeps): CreateInputSet =>
  async (actor, within, kind, sent) => {
    const { pipeline, document } = await read(deps, actor, within, kind, sent);
    const at = deps.clock.now();
    const set: InputSetWithYaml = {
      ...fieldsOf(document, sent),
      author: authorOf(actor),
      id: deps.newId(),
      projectId: pipeline.projectId,
      pipelineId: pipeline.id,
      version: 1,
      createdBy: actorId(actor),
      createdAt: at,
      updatedAt: at,
    };
    await deps.db.transaction(async (tx) => {
      await requireReferences(tx, actor, pipeline, document);
      if (!(await store.insertInputSet(tx, actor.accountId, set)))
        throw problem("input_set.duplicate", [set.identifier, pipeline.identifier]);
      await deps.audit.record(tx, actor, {
        ...changeOf("input_set.create", set.identifier, within),
        after: shownSet(set),
      });
    });
    return checkedOne(deps, actor, pipeline, within, set);
  };

/** Replaces one of its kind. Throws what creating throws, `input_set.not_found`, `core.stale_version`. */
export type UpdateInputSet = (
  actor: Actor,
  within: OfPipeline,
  which: Pick<InputSetWithYaml, "kind" | "identifier">,
  sent: PipelineText,
  version: number | undefined,
) => Promise<Checked<InputSetWithYaml>>;

export const makeUpdateInputSet =
  (deps: InputSetDeps): UpdateInputSet =>
  async (actor, within, { kind, identifier }, sent, version) => {
    const { pipeline, document } = await read(deps, actor, within, kind, sent);
    if (document.identifier !== identifier) {
      const path = [ROOTS[kind], "identifier"];
      const fault = faultOf(document.doc, path, `'${document.identifier}' is not '${identifier}'`);
      throw problem("pipeline.other_identifier", [document.identifier, identifier], { faults: [fault] });
    }
    const key = { pipelineId: pipeline.id, identifier };
    const to = { ...fieldsOf(document, sent), author: authorOf(actor), updatedAt: deps.clock.now() };
    const saved = await deps.db.transaction(async (tx) => {
      await requireReferences(tx, actor, pipeline, document);
      const before = await store.findInputSet(tx, actor.accountId, key, undefined, "hold");
      const replaced = await store.replaceInputSet(tx, actor.accountId, key, to, version);
      if (!replaced) throw await refusal(tx, actor, pipeline, { identifier, kind, version });
      await deps.audit.record(tx, actor, {
        ...changeOf("input_set.update", identifier, within),
        before: before && shownSet(before),
        after: shownSet(replaced),
      });
      return replaced;
    });
    return checkedOne(deps, actor, pipeline, within, saved);
  };

/** Deletes one of either kind. Throws `input_set.not_found`, `core.stale_version`, and `core.referenced` while an overlay lists it. */
export type DeleteInputSet = (
  actor: Actor,
  within: OfPipeline,
  identifier: string,
  version: number | undefined,
) => Promise<void>;

export const makeDeleteInputSet =
  (deps: InputSetDeps): DeleteInputSet =>
  async (actor, within, identifier, version) => {
    deps.authorize(actor, "core_inputset_delete", { accountId: actor.accountId, ...placeOf(within) }, identifier);
    const pipeline = await requirePipeline(deps, actor, within, within.pipelineIdentifier);
    const key = { pipelineId: pipeline.id, identifier };
    await deps.db.transaction(async (tx) => {
      // First the row: an overlay that is being saved holds it, and is there to be found once it lets go.
      const before = await store.findInputSet(tx, actor.accountId, key, undefined, "hold");
      if (!(await store.deleteInputSet(tx, actor.accountId, key, version)))
        throw await refusal(tx, actor, pipeline, { identifier, kind: undefined, version });
      const overlay = await store.findOverlayOf(tx, actor.accountId, key);
      if (overlay !== undefined)
        throw commonProblem("core.referenced", ["Input set", identifier, `the overlay [${overlay}]`]);
      // The name means every input set of the project that is called so.
      const stays = await store.isNameOfAnother(tx, actor.accountId, { ...key, projectId: pipeline.projectId });
      const names = { INPUT_SET: stays ? [] : identifier };
      const gone = await deps.dereference(tx, actor.accountId, placeOf(within), names);
      await deps.audit.record(tx, actor, {
        ...changeOf("input_set.delete", identifier, within),
        before: before && { ...shownRemovals(gone), ...shownSet(before) },
      });
    });
  };

type Read = { readonly pipeline: SavedPipeline; readonly document: SetDocument };

async function read(
  deps: InputSetDeps,
  actor: Actor,
  within: OfPipeline,
  kind: Kind,
  { text, format }: PipelineText,
): Promise<Read> {
  deps.authorize(actor, "core_inputset_edit", { accountId: actor.accountId, ...placeOf(within) });
  const pipeline = await requirePipeline(deps, actor, within, within.pipelineIdentifier);
  const document = readSet(kind, text, format, within);
  if (kind === "OVERLAY_INPUT_SET") return { pipeline, document };
  const asked = { pipelineYaml: pipeline.yaml, scope: placeOf(within), text, format };
  const { secrets } = await deps.runJob(actor.accountId, "usesOfSet", asked);
  // A large pipeline may take seconds.
  const current = await deps.revalidateActor(actor);
  deps.authorize(current, "core_inputset_edit", { accountId: actor.accountId, ...placeOf(within) });
  await requireSecrets(deps.checkSecretUses, current, within, secrets);
  return { pipeline, document };
}

const fieldsOf = ({ doc: _, ...fields }: SetDocument, sent: PipelineText) => ({ ...fields, yaml: keptText(sent) });

/** What an overlay lists has to be there, and stays until the overlay is saved. */
async function requireReferences(tx: Tx, actor: Actor, pipeline: SavedPipeline, document: SetDocument): Promise<void> {
  const { references, doc } = document;
  if (references.length === 0) return;
  const there = await store.lockInputSets(tx, actor.accountId, pipeline.id, references);
  const faults = references.flatMap((identifier, index) =>
    there.has(identifier)
      ? []
      : [
          faultOf(
            doc,
            referencePath(index),
            `The pipeline has no input set '${identifier}' (overlays cannot be listed)`,
          ),
        ],
  );
  if (faults.length === 0) return;
  const missing = references.filter((identifier) => !there.has(identifier));
  throw problem("input_set.unknown", [pipeline.identifier, missing.join(", ")], { faults });
}

async function checkedOne(
  deps: InputSetDeps,
  actor: Actor,
  pipeline: SavedPipeline,
  within: OfPipeline,
  set: InputSetWithYaml,
): Promise<Checked<InputSetWithYaml>> {
  const [checked] = await deps.check(actor.accountId, pipeline, within, [set]);
  return checked ?? { ...set, faults: [] };
}

const changeOf = (operation: string, identifier: string, within: OfPipeline) => ({
  operation,
  resourceType: "INPUT_SET",
  resourceId: `${within.pipelineIdentifier}/${identifier}`,
  scope: placeOf(within),
});

const NOUNS = { INPUT_SET: "Input set", OVERLAY_INPUT_SET: "Overlay" } as const;

export const notFound = (kind: Kind | undefined, identifier: string, pipeline: string): Error =>
  problem("input_set.not_found", [NOUNS[kind ?? "INPUT_SET"], identifier, pipeline]);

type Asked = {
  readonly identifier: string;
  readonly kind: Kind | undefined;
  readonly version: number | undefined;
};

/** Why a statement that names the version has touched nothing. */
async function refusal(tx: Tx, actor: Actor, pipeline: SavedPipeline, asked: Asked): Promise<Error> {
  const { identifier, kind, version } = asked;
  const there = await store.findInputSet(tx, actor.accountId, { pipelineId: pipeline.id, identifier }, kind);
  if (!there) return notFound(kind, identifier, pipeline.identifier);
  return commonProblem("core.stale_version", [NOUNS[there.kind], identifier, `${there.version}`, `${version}`]);
}
