import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import { fromWire, type Uuid } from "../core/ids.ts";
import type { Page } from "../core/page.ts";
import type { Refusal } from "../core/refused.ts";
import { authorizeSomewhere, listed, refusalOf } from "../access/index.ts";
import type { GetProject } from "../projects/index.ts";
import type { GetPipeline, InProject, MaybeInProject, ReadInputTemplate } from "../pipelines/index.ts";
import type { Db } from "../platform/db/db.ts";
import {
  detailOf,
  type Execution,
  type ExecutionDetail,
  type Cursor,
  type ExecutionMore,
  type ExecutionOutline,
  type ExecutionPage,
  type ExecutionSummary,
  type ListedExecution,
} from "./execution.ts";
import { problem } from "./problems.ts";
import { withStages, type ReadStages } from "./stages.ts";
import type { ExecutionFilter } from "./store/conditions.ts";
import {
  countExecutions,
  findExecution,
  findInputs,
  findListed,
  listExecutions,
  listListed,
  listMore,
  listOutlines,
  type Window,
} from "./store/lists.ts";
import { resolveNames, type NamedFilter } from "./store/names/resolve.ts";
import { seenBy, seenInProject } from "./visible.ts";

type Deps = { readonly db: Db };

/**
 * Newest first, by the start, and until then by the creation. `total` counts only when it is asked for; the
 * notes, tags, failure and starter of each are read for whoever wants `more`.
 */
export type ListExecutions = (
  actor: Actor,
  filter: NamedFilter,
  window: Window,
  more: boolean,
) => Promise<Page<Execution & Partial<ExecutionMore>>>;

export const makeListExecutions =
  (deps: Deps): ListExecutions =>
  async (actor, given, window, more) => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_pipeline_view");
    const filter = [...(await resolveNames(deps.db, accountId, given)), ...seenBy(actor)];
    const items = await (more ? listMore : listExecutions)(deps.db, accountId, filter, window);
    return { items, ...window, total: () => countExecutions(deps.db, accountId, filter) };
  };

/** A page of one project's executions with their stages. Throws `project.not_found`, `execution.too_many_stages`. */
export type ListProjectExecutions = (
  actor: Actor,
  scope: InProject,
  filter: NamedFilter,
  window: Omit<ExecutionPage, "items" | "total" | "last">,
) => Promise<ExecutionPage>;

export const makeListProjectExecutions =
  (deps: Deps & { getProject: GetProject; readStages: ReadStages; clock: Clock }): ListProjectExecutions =>
  async (actor, scope, filter, window) => {
    const { accountId } = actor;
    listed(actor, "core_pipeline_view", { accountId, ...scope });
    const project = await deps.getProject(actor, scope.orgIdentifier, scope.projectIdentifier);
    const found = await resolveNames(deps.db, accountId, filter);
    const seen = await seenInProject(deps.db, actor, project.id);
    const within: ExecutionFilter = [...found, ...seen, { is: "projectIs", value: project.id }];
    const rows = await listListed(deps.db, accountId, [...within, ...after(window.beyond)], window);
    const items = await withStages(deps, accountId, rows);
    const listedUntil = rows.length === 0 ? 0 : window.offset + rows.length;
    const total = async (): Promise<number> =>
      Math.max(listedUntil, await countExecutions(deps.db, accountId, within, window.countAtMost));
    return { items, ...window, total, last: cursorOf(rows.at(-1)) };
  };

const after = (cursor: Cursor | undefined): ExecutionFilter =>
  cursor ? [{ is: "beyond", value: [String(cursor.begunAt), cursor.id] }] : [];

const cursorOf = (row: ListedExecution | undefined): Cursor | undefined =>
  row && { begunAt: row.startedAt ?? row.createdAt, id: row.id };

/** A light page that goes on after `beyond`, the last execution of the page before. Throws `project.not_found`. */
export type ListOutlines = (
  actor: Actor,
  scope: InProject,
  filter: NamedFilter,
  page: { readonly size: number; readonly beyond: Cursor | undefined },
) => Promise<readonly ExecutionOutline[]>;

export const makeListOutlines =
  (deps: Deps & { getProject: GetProject }): ListOutlines =>
  async (actor, scope, filter, { size, beyond }) => {
    const { accountId } = actor;
    listed(actor, "core_pipeline_view", { accountId, ...scope });
    const project = await deps.getProject(actor, scope.orgIdentifier, scope.projectIdentifier);
    const within: ExecutionFilter = [
      ...(await resolveNames(deps.db, accountId, filter)),
      ...(await seenInProject(deps.db, actor, project.id)),
      { is: "projectIs", value: project.id },
      ...after(beyond),
    ];
    return listOutlines(deps.db, accountId, within, { limit: size, offset: 0 });
  };

/** What a run was given: the inputs as they were sent, and the runtime inputs that its pipeline had and has now. */
export type GetInputs = (
  actor: Actor,
  id: string,
  scope: MaybeInProject,
) => Promise<{
  inputYaml: string | null;
  template: string | null;
  latestTemplate: string | null;
  expressionValues: Readonly<Record<string, string>> | null;
}>;

export const makeGetInputs =
  (deps: { db: Db; get: GetExecution; getPipeline: GetPipeline; readInputTemplate: ReadInputTemplate }): GetInputs =>
  async (actor, id, scope) => {
    const execution = await deps.get(actor, id, scope);
    const { orgIdentifier, projectIdentifier, pipelineIdentifier } = execution;
    const within = { orgIdentifier, projectIdentifier };
    const given = await findInputs(deps.db, actor.accountId, execution.id);
    const latest = await deps.getPipeline(actor, within, pipelineIdentifier);
    return {
      ...{ inputYaml: given?.inputYaml ?? null, expressionValues: given?.expressionValues ?? null },
      template: given ? await deps.readInputTemplate(actor.accountId, given.pipelineYaml, within) : null,
      latestTemplate: await deps.readInputTemplate(actor.accountId, latest.yaml, within),
    };
  };

/**
 * One execution, by its id on the wire. With a scope it has to be of that
 * project. Throws `execution.not_found`, also for what is no id at all.
 */
type Get<T> = (actor: Actor, id: string, scope?: MaybeInProject) => Promise<T>;

/** With its plan, state and nodes. */
export type GetExecution = Get<ExecutionDetail>;
/** Without what is large of it: a request may ask for many. */
export type GetListed = Get<ListedExecution>;
export type GetSummary = Get<ExecutionSummary>;

type Find<T> = (db: Db, accountId: Uuid, id: Uuid) => Promise<T | undefined>;

const makeGet =
  <T extends ListedExecution>({ db }: Deps, find: Find<T>): Get<T> =>
  async (actor, wireId, scope = {}) => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_pipeline_view");
    const id: Uuid | undefined = fromWire(wireId);
    const found = id && (await find(db, accountId, id));
    const refusalOn = ({ orgIdentifier, projectIdentifier, pipelineIdentifier }: T): Refusal | undefined =>
      refusalOf(actor, "core_pipeline_view", { accountId, orgIdentifier, projectIdentifier }, pipelineIdentifier);
    const inScope = (given: string | undefined, own: string): boolean => given === undefined || given === own;
    const refusal = found && refusalOn(found);
    if (
      !found ||
      refusal ||
      !inScope(scope.orgIdentifier, found.orgIdentifier) ||
      !inScope(scope.projectIdentifier, found.projectIdentifier)
    ) {
      throw problem("execution.not_found", [wireId], { refusal });
    }
    return found;
  };

export const makeGetListed = (deps: Deps): GetListed => makeGet(deps, findListed);

export function makeGetExecution(deps: Deps): GetExecution {
  const get = makeGet(deps, findExecution);
  return async (...which) => detailOf(await get(...which));
}

export const makeGetSummary =
  (deps: { readonly getListed: GetListed; readonly readStages: ReadStages; readonly clock: Clock }): GetSummary =>
  async (actor, wireId, scope) => {
    const execution = await deps.getListed(actor, wireId, scope);
    const [summary] = await withStages(deps, actor.accountId, [execution]);
    if (!summary) throw problem("execution.not_found", [wireId]);
    return summary;
  };
