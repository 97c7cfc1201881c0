/** The pipelines that the stages of a run's pipeline run, and the stages of those. */
import { authorize, refusalOf } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import { problem } from "../document/problems.ts";
import type { PipelineDocument } from "../document/index.ts";
import { nodesIn, visitPipeline } from "../document/visit.ts";
import type { Filled } from "../fill.ts";
import type { FindReferences } from "../find-references.ts";
import type { FillPipeline } from "../jobs/keep-filled.ts";
import type { RunJob } from "../jobs/run-job.ts";
import type { InputsOfSets } from "../input-sets/index.ts";
import type { InProject, SavedPipeline } from "../pipeline.ts";
import type { Principal } from "../principal.ts";
import type { ChainedRun, RequirePrincipals, Run } from "../principals.ts";
import { placeIn, type WrittenAt } from "../places.ts";
import { type EarlyFacts, requireReferences, resolveReferences } from "../references.ts";
import { type ChainedPart, placeOf } from "../run-part.ts";
import { connectorsOf, usesOf } from "../run-uses.ts";
import { requireSecrets } from "../secrets.ts";
import type { CheckSecretUses } from "../../secrets/index.ts";
import { givenInputs, type GivenInputs } from "./given.ts";
import { requireNamed } from "./named.ts";
import { type Chain, chainsIn, placedAt } from "./place.ts";

/** Pipelines around one another below that of the execution. */
const MAX_DEPTH = 3;
/** Stages of one execution that run a pipeline, and the characters of the documents of these pipelines. */
const MAX_CHAINED = 50;
const MAX_CHARACTERS = 4 * 1024 * 1024;

export type LoadDeps = {
  readonly findPipeline: (accountId: Uuid, scope: InProject, identifier: string) => Promise<SavedPipeline | undefined>;
  readonly fill: FillPipeline;
  readonly runJob: RunJob;
  readonly inputsOfSets: InputsOfSets;
  readonly checkSecretUses: CheckSecretUses;
  readonly findReferences: FindReferences;
  readonly requirePrincipals: RequirePrincipals;
};

/** A run that chained pipelines are loaded for. */
export type Loading = {
  readonly actor: Actor;
  /** Whether the run also acts for others than the actor: for the owner of a trigger, and authors. */
  readonly actsForAuthors: boolean;
  /** The pipeline of the execution, and those for whom it acts. */
  readonly run: Run;
};

/** A pipeline whose stages are looked at. */
export type Around = {
  readonly document: PipelineDocument;
  readonly facts: EarlyFacts;
  readonly at: WrittenAt;
  /** The pipelines around its nodes, itself included. */
  readonly ids: readonly Uuid[];
};

export type Loaded = {
  readonly parts: readonly ChainedPart[];
  /** Those for whom the run also acts: authors of the pipelines and of their input sets. */
  readonly principals: readonly Principal[];
  readonly chained: readonly ChainedRun[];
};

type State = Loading & {
  readonly deps: LoadDeps;
  readonly principals: Principal[];
  readonly chained: ChainedRun[];
  count: number;
  characters: number;
};

/**
 * Throws `pipeline.bad_references` for one that does not exist, `pipeline.chain_refused` for one that would run in itself
 * or exceeds a limit, and the problems of a run; each with the place of its stage.
 */
export async function loadChained(deps: LoadDeps, loading: Loading, around: Around): Promise<Loaded> {
  const state: State = { ...loading, deps, principals: [], chained: [], count: 0, characters: 0 };
  const parts = await partsOf(state, around);
  return { parts, principals: state.principals, chained: state.chained };
}

async function partsOf(state: State, around: Around): Promise<readonly ChainedPart[]> {
  const parts: ChainedPart[] = [];
  // One after the other: each counts.
  for (const chain of chainsIn(around.document)) {
    try {
      parts.push(await partOf(state, around, chain));
    } catch (error) {
      throw placedAt(chain, around.at, error);
    }
  }
  return parts;
}

async function partOf(state: State, around: Around, chain: Chain): Promise<ChainedPart> {
  const { deps, actor } = state;
  const { org: orgIdentifier, project: projectIdentifier, pipeline: identifier } = chain.spec;
  const scope = { orgIdentifier, projectIdentifier };
  const depth = around.ids.length;
  requireDepth(state, depth);
  const own: ChainedRun = { scope, pipelineIdentifier: identifier, depth, uses: [] };
  await permitExecution(state, own);
  const pipeline = await deps.findPipeline(actor.accountId, scope, identifier);
  if (!pipeline) throw problem("pipeline.bad_references", [noPipeline(identifier, scope)]);
  if (around.ids.includes(pipeline.id)) throw problem("pipeline.chain_refused", ["it would run in itself"]);
  requireSize(state, pipeline);
  const given = await givenInputs(chain, around, async () => {
    const { document } = await deps.runJob(actor.accountId, "read", { text: pipeline.yaml, format: "yaml", scope });
    return document;
  });
  const filled = await fillWith(state, { chain, scope, pipeline, given });
  requireNoBarriers(chain, filled.document);
  const place = placeOf({ scope, projectName: pipeline.projectName, inputs: given.late });
  const facts = { ...around.facts, ...place };
  const at = placeIn(filled.places);
  const document = resolveReferences(filled.document, facts, at);
  const { author, version } = pipeline;
  state.principals.push({ author, authored: { type: "pipeline", identifier, version, chained: depth } });
  const found = await findUses(state, own, { document, filled });
  const parts = await partsOf(state, {
    ...{ document, facts, at },
    ids: [...around.ids, pipeline.id],
  });
  return {
    filled: { document, authored: filled.authored, asks: filled.asks, connectors: connectorsOf(found) },
    references: found,
    chained: parts,
    ...{ id: pipeline.id, scope, projectName: pipeline.projectName, stage: chain.stage.names },
    inputs: given.late,
    outputs: (chain.spec.outputs ?? []).map(({ name, value }) => ({ name, value })),
    placed: (error) => placedAt(chain, around.at, error),
  };
}

function requireDepth(state: State, depth: number): void {
  if (depth > MAX_DEPTH)
    throw problem("pipeline.chain_refused", [`pipelines are chained ${MAX_DEPTH} deep at most (limit chainDepth)`]);
  state.count += 1;
  if (state.count > MAX_CHAINED)
    throw problem("pipeline.chain_refused", [
      `an execution has at most ${MAX_CHAINED} stages that run a pipeline (limit chainedPipelines)`,
    ]);
}

function requireSize(state: State, { yaml }: SavedPipeline): void {
  state.characters += yaml.length;
  if (state.characters > MAX_CHARACTERS)
    throw problem("pipeline.chain_refused", [
      `the chained pipelines of an execution have at most ${MAX_CHARACTERS} characters (limit chainedCharacters)`,
    ]);
}

/** Before anything is read: the answer must not tell of pipelines that may not be seen. */
async function permitExecution(
  { deps, actor, actsForAuthors, run, principals }: State,
  own: ChainedRun,
): Promise<void> {
  if (actsForAuthors)
    await deps.requirePrincipals({ ...run, principals: [...run.principals, ...principals], uses: [], chained: [own] });
  if (actor.kind === "trigger") return;
  const { scope, pipelineIdentifier: identifier } = own;
  const place = { accountId: actor.accountId, ...scope };
  const hidden = refusalOf(actor, "core_pipeline_view", place, identifier);
  const refusal = hidden && refusalOf(actor, "core_pipeline_execute", place, identifier);
  if (refusal) throw problem("pipeline.bad_references", [noPipeline(identifier, scope)], { refusal });
  authorize(actor, "core_pipeline_execute", place, identifier);
}

const noPipeline = (identifier: string, { orgIdentifier, projectIdentifier }: InProject): string =>
  `No pipeline '${identifier}' exists in project '${projectIdentifier}' of organization '${orgIdentifier}'`;

type Filling = {
  readonly chain: Chain;
  readonly scope: InProject;
  readonly pipeline: SavedPipeline;
  readonly given: GivenInputs;
};

async function fillWith(state: State, { chain, scope, pipeline, given }: Filling): Promise<Filled> {
  const { deps, actor, principals } = state;
  const sets = chain.spec.inputSetReferences ?? [];
  const last = { text: JSON.stringify({ pipeline: given.known }), format: "json" as const };
  const input = await deps.inputsOfSets(askerOf(state), scope, pipeline.identifier, sets, last);
  principals.push(...(input && "principals" in input ? (input.principals ?? []) : []));
  const late = given.late.map(({ name }) => name);
  const filled = await deps.fill(actor.accountId, pipeline, { scope, input, late });
  requireNamed(chain, filled);
  return filled;
}

/** Its steps would arrive several times. */
function requireNoBarriers({ stage }: Chain, document: PipelineDocument): void {
  if (!stage.document.strategy) return;
  const hasBarrier = nodesIn(visitPipeline(document)).some(
    (node) => node.kind === "step" && node.document.type === "Barrier",
  );
  if (hasBarrier) throw problem("pipeline.chain_refused", ["it has Barrier steps, and the stage has a strategy"]);
}

const askerOf = ({ actor }: State): Actor =>
  actor.kind === "trigger" ? { kind: "system", accountId: actor.accountId } : actor;

type Uses = { readonly document: PipelineDocument; readonly filled: Filled };

/** What the pipeline names, all of it there, and for the actor and the principals to use. */
async function findUses(state: State, own: ChainedRun, { document, filled }: Uses) {
  const { deps, run } = state;
  const { accountId } = state.actor;
  const { scope } = own;
  const uses = usesOf(document, filled.secrets);
  const chained = { ...own, uses };
  state.chained.push(chained);
  const principals = [...run.principals, ...state.principals];
  if (state.actsForAuthors) await deps.requirePrincipals({ ...run, principals, uses: [], chained: [chained] });
  const asker = askerOf(state);
  await requireSecrets(deps.checkSecretUses, asker, scope, filled.secrets);
  const references = await deps.findReferences(accountId, scope, uses);
  requireReferences(asker, { home: scope, document, at: placeIn(filled.places), references });
  return references;
}
