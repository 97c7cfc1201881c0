import { listed } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Page } from "../../core/page.ts";
import { requirePipeline } from "../get.ts";
import { countInputSets, findInputSet, listInputSets, type SetFilter } from "../store/input-sets.ts";
import type { Checked, InputSet, InputSetWithYaml, Kind } from "./input-set.ts";
import { placeOf } from "../pipeline.ts";
import type { InputSetDeps, OfPipeline } from "./of-pipeline.ts";
import { notFound } from "./write.ts";

/** One of its kind, with what the pipeline has against it by now. Throws `pipeline.not_found`, `input_set.not_found`. */
export type GetInputSet = (
  actor: Actor,
  within: OfPipeline,
  kind: Kind,
  identifier: string,
) => Promise<Checked<InputSetWithYaml>>;

export const makeGetInputSet =
  (deps: InputSetDeps): GetInputSet =>
  async (actor, within, kind, identifier) => {
    const { accountId } = actor;
    deps.authorize(actor, "core_inputset_view", { accountId, ...placeOf(within) }, identifier);
    const pipeline = await requirePipeline(deps, actor, within, within.pipelineIdentifier);
    const set = await findInputSet(deps.db, accountId, { pipelineId: pipeline.id, identifier }, kind);
    const [checked] = set ? await deps.check(accountId, pipeline, within, [set]) : [];
    if (!checked) throw notFound(kind, identifier, pipeline.identifier);
    return checked;
  };

/** The sets of a pipeline by identifier. Throws `pipeline.not_found`. */
export type ListInputSets = (
  actor: Actor,
  within: OfPipeline,
  filter: SetFilter,
  page: { readonly limit: number; readonly offset: number },
) => Promise<Page<Checked>>;

export const makeListInputSets =
  (deps: InputSetDeps): ListInputSets =>
  async (actor, within, given, page) => {
    const { accountId } = actor;
    const filter = { ...given, shown: listed(actor, "core_inputset_view", { accountId, ...placeOf(within) }) };
    const pipeline = await requirePipeline(deps, actor, within, within.pipelineIdentifier);
    const rows: InputSet[] = await listInputSets(deps.db, accountId, pipeline.id, filter, page);
    return {
      items: await deps.check(accountId, pipeline, within, rows),
      ...page,
      total: () => countInputSets(deps.db, accountId, pipeline.id, filter),
    };
  };

/** The runtime inputs of the newest version as YAML, null when it has none. Throws `pipeline.not_found`. */
export type GetInputTemplate = (
  actor: Actor,
  within: OfPipeline,
) => Promise<{ readonly yaml: string | null; readonly hasInputSets: boolean }>;

export const makeGetInputTemplate =
  (deps: InputSetDeps): GetInputTemplate =>
  async (actor, within) => {
    const { accountId } = actor;
    deps.authorize(actor, "core_pipeline_view", { accountId, ...placeOf(within) }, within.pipelineIdentifier);
    const pipeline = await requirePipeline(deps, actor, within, within.pipelineIdentifier);
    const yaml = await deps.runJob(accountId, "template", { yaml: pipeline.yaml, scope: placeOf(within) });
    const sets = await listInputSets(deps.db, accountId, pipeline.id, {}, { limit: 1, offset: 0 });
    return { yaml, hasInputSets: sets.length > 0 };
  };
