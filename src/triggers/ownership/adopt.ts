import { setImmediate } from "node:timers/promises";
import type { Actor } from "../../core/actor.ts";
import { Problem } from "../../core/problem.ts";
import { authorOf, type RevalidateActor } from "../../identity/index.ts";
import {
  shownAuthor,
  type AdoptInputSet,
  type Adoption,
  type AdoptionReads,
  type AdoptPipeline,
  type MakeAdoptionReads,
} from "../../pipelines/index.ts";
import { bodyOf, inputOf } from "../document.ts";
import { problem } from "../problems.ts";
import { auditEntry, type PipelineKey, type TriggerDeps } from "../read-document.ts";
import { selectTrigger } from "../store/triggers.ts";
import { setTriggerAuthor, type OwnedRow } from "../store/ownership.ts";

/** `identifier` names the trigger or the input set; it is ignored for a pipeline. */
export type ResourceToAdopt = PipelineKey & Pick<OwnedRow, "type" | "identifier">;
export type AdoptDeps = TriggerDeps & {
  readonly adoptPipeline: AdoptPipeline;
  readonly adoptInputSet: AdoptInputSet;
  readonly adoptionReads: MakeAdoptionReads;
  readonly revalidateActor: RevalidateActor;
};

/** The order of locks: triggers before pipelines, as in their deletion. */
const ORDER: readonly OwnedRow["type"][] = ["TRIGGER", "PIPELINE", "INPUT_SET"];

/**
 * Makes the actor the owner of the named triggers, and the author of the newest versions of the named pipelines and
 * input sets: of all or of none. Requires what saving each of them unchanged requires, and checks account, credential
 * and edit permissions again at the end. Throws `ownership.duplicate`, `pipeline.adoption_too_large`,
 * `pipeline.not_found`, `http.no_credential`, `trigger.not_found`, `input_set.not_found`, `trigger.changed_meanwhile`,
 * and the problems of resources that the actor may not use, each with the name of the document.
 */
export const adopt =
  (deps: AdoptDeps) =>
  async (actor: Actor, all: readonly ResourceToAdopt[]): Promise<void> => {
    const titled = all.map((one) => ({ ...one, title: titleOf(one) }));
    requireDistinct(titled.map(({ title }) => title));
    const reads = deps.adoptionReads();
    const adoptions: Adoption[] = [];
    for (const one of titled.toSorted((a, b) => ORDER.indexOf(a.type) - ORDER.indexOf(b.type) || compare(a, b))) {
      // Other requests are answered between long documents.
      await setImmediate();
      adoptions.push(await withTitle(one.title, prepare(deps, actor, one, reads)));
    }
    // The checks take time. Meanwhile the actor may have lost account, credential or permissions.
    const now = await deps.revalidateActor(actor);
    await deps.db.transaction(async (tx) => {
      for (const adoption of adoptions) await adoption(tx, now);
    });
  };

export type Adopt = ReturnType<typeof adopt>;

function requireDistinct(titles: readonly string[]): void {
  const faults = titles.flatMap((title, nth) =>
    titles.indexOf(title) < nth ? [{ path: `resources[${nth}]`, message: `${title} is named before` }] : [],
  );
  const again = titles.find((title, nth) => titles.indexOf(title) < nth);
  if (again !== undefined) throw problem("ownership.duplicate", [again], { faults });
}

const compare = (a: { readonly title: string }, b: { readonly title: string }): number =>
  a.title < b.title ? -1 : a.title > b.title ? 1 : 0;

function titleOf({ type, orgIdentifier, projectIdentifier, pipelineIdentifier, identifier }: ResourceToAdopt): string {
  const place = `${orgIdentifier}/${projectIdentifier}/${pipelineIdentifier}`;
  if (type === "PIPELINE") return `Pipeline [${place}]`;
  return `${type === "TRIGGER" ? "Trigger" : "Input set"} [${place}/${identifier}]`;
}

/** Adds the name of the rejected document to the message. */
async function withTitle<T>(title: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    const { code, status, wire, faults, refusal } = error;
    const message = `${title} cannot be adopted: ${error.message}`;
    throw new Problem(code, status, wire, message, { faults, refusal, cause: error });
  }
}

function prepare(
  deps: AdoptDeps,
  actor: Actor,
  { type, identifier, ...of }: ResourceToAdopt,
  reads: AdoptionReads,
): Promise<Adoption> {
  const { orgIdentifier, projectIdentifier, pipelineIdentifier } = of;
  const within = { orgIdentifier, projectIdentifier, pipelineIdentifier };
  if (type === "PIPELINE") return deps.adoptPipeline(actor, within, reads);
  if (type === "INPUT_SET") return deps.adoptInputSet(actor, within, identifier, reads);
  return adoptTrigger(deps, actor, { within, identifier, reads });
}

type TriggerAdoption = { readonly within: PipelineKey; readonly identifier: string; readonly reads: AdoptionReads };

async function adoptTrigger(
  deps: AdoptDeps,
  caller: Actor,
  { within, identifier, reads }: TriggerAdoption,
): Promise<Adoption> {
  const { accountId } = caller;
  const { pipelineIdentifier, ...scope } = within;
  const authorize = (actor: Actor): void => {
    for (const permission of ["core_pipeline_edit", "core_pipeline_execute"] as const)
      deps.authorize(actor, permission, { accountId, ...scope }, pipelineIdentifier);
  };
  authorize(caller);
  const pipeline = await deps.getPipeline(caller, scope, pipelineIdentifier);
  const trigger = await selectTrigger(deps.db, { accountId, pipelineId: pipeline.id, identifier });
  if (!trigger) throw problem("trigger.not_found", [identifier, pipelineIdentifier]);
  reads.count(trigger.yaml);
  // The pipeline is read for each trigger, with other inputs.
  reads.count(pipeline.yaml);
  const body = bodyOf(trigger);
  const sets = body.inputSetRefs ?? [];
  await reads.countSets(accountId, pipeline.id, sets);
  const input = await deps.mergeInputSets(caller, scope, pipelineIdentifier, sets, inputOf(body));
  await deps.tryInputs(caller, scope, pipelineIdentifier, input);
  const runAs = body.runAs ? await deps.requireRunAs(caller, scope, body.runAs) : null;
  return async (tx, actor) => {
    authorize(actor);
    const author = authorOf(actor);
    const version = await setTriggerAuthor(tx, trigger, { author, runAs, at: deps.clock.now() });
    if (version === undefined) throw problem("trigger.changed_meanwhile", [identifier]);
    await deps.audit.record(tx, actor, {
      ...auditEntry("trigger.adopt", identifier, within),
      before: { version: trigger.version, ...shownAuthor(trigger.author) },
      after: { version, ...shownAuthor(author) },
    });
  };
}
