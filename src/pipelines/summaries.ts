import { listed } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import type { Page } from "../core/page.ts";
import type { PipelineDeps } from "./create.ts";
import type { GetPipeline } from "./get.ts";
import type { InProject, PipelineVersion, RunBrief, SummarizedPipeline } from "./pipeline.ts";
import { problem } from "./problems.ts";
import type { UpdatePipeline } from "./update.ts";
import type { CompleteShown } from "./shown.ts";
import * as lists from "./store/lists.ts";

/** The newest runs of each of these pipelines, newest first; the executions know them. */
export type RecentRuns = (
  accountId: Uuid,
  pipelineIds: readonly Uuid[],
) => Promise<ReadonlyMap<Uuid, readonly RunBrief[]>>;

/** How many triggers each of these pipelines has; the triggers know them. */
export type CountTriggers = (accountId: Uuid, pipelineIds: readonly Uuid[]) => Promise<ReadonlyMap<Uuid, number>>;

type Paging = { readonly limit: number; readonly offset: number; readonly order: lists.SummaryOrder };

/** Throws `project.not_found`. */
export type ListSummaries = (
  actor: Actor,
  scope: InProject,
  filter: lists.SummaryFilter,
  page: Paging,
) => Promise<Page<SummarizedPipeline>>;

type Deps = PipelineDeps & {
  readonly recentRuns: RecentRuns;
  readonly countTriggers: CountTriggers;
  readonly completeShown: CompleteShown;
};

export const makeListSummaries =
  (deps: Deps): ListSummaries =>
  async (actor, scope, given, page) => {
    const { accountId } = actor;
    const shown = listed(actor, "core_pipeline_view", { accountId, ...scope });
    const identifiers = shown ? (given.identifiers?.filter((one) => shown.includes(one)) ?? shown) : given.identifiers;
    const filter = { ...given, identifiers };
    const project = await deps.getProject(actor, scope.orgIdentifier, scope.projectIdentifier);
    const rows = await lists.listSummaries(deps.db, accountId, project.id, filter, page);
    const ids = rows.map(({ id }) => id);
    const runs = await deps.recentRuns(accountId, ids);
    const triggers = await deps.countTriggers(accountId, ids);
    const items: SummarizedPipeline[] = [];
    for (const row of rows) {
      const { stageNames } = row.stageNames
        ? { stageNames: row.stageNames }
        : await deps.completeShown(accountId, row.id);
      items.push({ ...row, stageNames, recentRuns: runs.get(row.id) ?? [], triggerCount: triggers.get(row.id) ?? 0 });
    }
    return {
      items,
      limit: page.limit,
      offset: page.offset,
      total: () => lists.countSummaries(deps.db, accountId, project.id, filter),
    };
  };

/** Throws `pipeline.not_found`. */
export type GetSummary = (actor: Actor, scope: InProject, identifier: string) => Promise<SummarizedPipeline>;

export const makeGetSummary =
  (deps: { list: ListSummaries }): GetSummary =>
  async (actor, scope, identifier) => {
    const page = { limit: 1, offset: 0, order: "name,ASC" } as const;
    const { items } = await deps.list(actor, scope, { identifiers: [identifier] }, page);
    if (items[0]) return items[0];
    throw problem("pipeline.not_found", [identifier, scope.projectIdentifier]);
  };

/** The versions of a pipeline, newest first. Throws `pipeline.not_found`. */
export type ListVersions = (
  actor: Actor,
  scope: InProject,
  identifier: string,
  page: { readonly limit: number; readonly offset: number },
) => Promise<Page<PipelineVersion>>;

export const makeListVersions =
  (deps: PipelineDeps & { readonly get: GetPipeline }): ListVersions =>
  async (actor, scope, identifier, page) => {
    const { id, version } = await deps.get(actor, scope, identifier);
    // Versions are numbered without a gap, so the newest number is how many there are.
    return {
      items: await lists.listVersions(deps.db, actor.accountId, id, page),
      ...page,
      total: async () => version,
    };
  };

/**
 * Saves the text of an earlier version as the next one; `expected` is the version that the caller has read. Answers its
 * number. Throws what reading the version and what saving throw: what was saved once may be refused by now.
 */
export type RestoreVersion = (
  actor: Actor,
  scope: InProject,
  identifier: string,
  versions: { readonly restored: number; readonly expected: number | undefined },
) => Promise<number>;

export const makeRestoreVersion =
  (
    deps: Pick<PipelineDeps, "authorize"> & { readonly getVersion: GetVersion; readonly update: UpdatePipeline },
  ): RestoreVersion =>
  async (actor, scope, identifier, { restored, expected }) => {
    // Before the version is read: without this permission the caller does not learn whether it exists.
    deps.authorize(actor, "core_pipeline_edit", { accountId: actor.accountId, ...scope }, identifier);
    const { yaml } = await deps.getVersion(actor, scope, identifier, restored);
    return deps.update(actor, scope, identifier, { text: yaml, format: "yaml", restored }, expected);
  };

/** Throws `pipeline.not_found`, `pipeline.no_version`. */
export type GetVersion = (
  actor: Actor,
  scope: InProject,
  identifier: string,
  version: number,
) => Promise<PipelineVersion & { readonly yaml: string }>;

export const makeGetVersion =
  (deps: PipelineDeps & { readonly get: GetPipeline }): GetVersion =>
  async (actor, scope, identifier, version) => {
    const { id } = await deps.get(actor, scope, identifier);
    const found = await lists.findVersion(deps.db, actor.accountId, id, version);
    if (!found) throw problem("pipeline.no_version", [identifier, String(version)]);
    return found;
  };
