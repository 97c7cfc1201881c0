import type { Actor } from "../../core/actor.ts";
import { Problem } from "../../core/problem.ts";
import { authorOf } from "../../identity/index.ts";
import { shownAuthor, type AdoptInputSet, type Adoption, type AdoptPipeline } from "../../pipelines/index.ts";
import { bodyOf, inputOf } from "../document.ts";
import { problem } from "../problems.ts";
import { changeOf, type OfPipeline, type TriggerDeps } from "../saved.ts";
import { findTrigger } from "../store.ts";
import { setTriggerAuthor, type OwnedRow } from "../store/ownership.ts";

/** `identifier` names the trigger or the input set; of a pipeline it is not looked at. */
export type Adopted = OfPipeline & Pick<OwnedRow, "type" | "identifier">;

/**
 * Makes the actor the owner of triggers and the author of newest versions of pipelines and of input sets: of all that are
 * named, or of none. It asks for what saving each of them unchanged asks for. Throws `pipeline.not_found`,
 * `trigger.not_found`, `input_set.not_found`, `trigger.changed_meanwhile`, and the problems of what may not be used, each with
 * the name of the document.
 */
export type Adopt = (actor: Actor, all: readonly Adopted[]) => Promise<void>;

export type AdoptDeps = TriggerDeps & { readonly adoptPipeline: AdoptPipeline; readonly adoptInputSet: AdoptInputSet };

/** Triggers are locked before what they run, as their deletion does. */
const ORDER: readonly OwnedRow["type"][] = ["TRIGGER", "PIPELINE", "INPUT_SET"];

export const makeAdopt =
  (deps: AdoptDeps): Adopt =>
  async (actor, all) => {
    const titled = all.map((one) => ({ ...one, title: titleOf(one) }));
    const adoptions: Adoption[] = [];
    for (const one of titled.toSorted((a, b) => ORDER.indexOf(a.type) - ORDER.indexOf(b.type) || compare(a, b)))
      adoptions.push(await naming(one.title, prepare(deps, actor, one)));
    await deps.db.transaction(async (tx) => {
      for (const adopt of adoptions) await adopt(tx);
    });
  };

const compare = (a: { readonly title: string }, b: { readonly title: string }): number =>
  a.title < b.title ? -1 : a.title > b.title ? 1 : 0;

function titleOf({ type, orgIdentifier, projectIdentifier, pipelineIdentifier, identifier }: Adopted): string {
  const place = `${orgIdentifier}/${projectIdentifier}/${pipelineIdentifier}`;
  if (type === "PIPELINE") return `Pipeline [${place}]`;
  return `${type === "TRIGGER" ? "Trigger" : "Input set"} [${place}/${identifier}]`;
}

/** Of many documents the message says which one is refused. */
async function naming<T>(title: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    const { code, status, wire, faults } = error;
    throw new Problem(code, status, wire, `${title} cannot be adopted: ${error.message}`, { faults, cause: error });
  }
}

function prepare(deps: AdoptDeps, actor: Actor, { type, identifier, ...of }: Adopted): Promise<Adoption> {
  const { orgIdentifier, projectIdentifier, pipelineIdentifier } = of;
  const within = { orgIdentifier, projectIdentifier, pipelineIdentifier };
  if (type === "PIPELINE") return deps.adoptPipeline(actor, within);
  if (type === "INPUT_SET") return deps.adoptInputSet(actor, within, identifier);
  return adoptTrigger(deps, actor, within, identifier);
}

async function adoptTrigger(deps: AdoptDeps, actor: Actor, within: OfPipeline, identifier: string): Promise<Adoption> {
  const { accountId } = actor;
  const { pipelineIdentifier, ...scope } = within;
  for (const permission of ["core_pipeline_edit", "core_pipeline_execute"] as const)
    deps.authorize(actor, permission, { accountId, ...scope }, pipelineIdentifier);
  const pipeline = await deps.getPipeline(actor, scope, pipelineIdentifier);
  const trigger = await findTrigger(deps.db, accountId, pipeline.id, identifier);
  if (!trigger) throw problem("trigger.not_found", [identifier, pipelineIdentifier]);
  const body = bodyOf(trigger);
  const input = await deps.mergeInputSets(actor, scope, pipelineIdentifier, body.inputSetRefs ?? [], inputOf(body));
  await deps.tryInputs(actor, scope, pipelineIdentifier, input);
  const runAs = body.runAs ? await deps.requireRunAs(actor, scope, body.runAs) : null;
  const author = authorOf(actor);
  return async (tx) => {
    const version = await setTriggerAuthor(tx, accountId, trigger, { author, runAs, at: deps.clock.now() });
    if (version === undefined) throw problem("trigger.changed_meanwhile", [identifier]);
    await deps.audit.record(tx, actor, {
      ...changeOf("trigger.adopt", identifier, within),
      before: { version: trigger.version, ...shownAuthor(trigger.author) },
      after: { version, ...shownAuthor(author) },
    });
  };
}
