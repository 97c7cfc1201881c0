import type { Actor } from "../core/actor.ts";
import { fromWire, type Uuid } from "../core/ids.ts";
import type { Page } from "../core/page.ts";
import { authorizeSomewhere, listed, permits, reach } from "../access/index.ts";
import type { GetProject } from "../projects/index.ts";
import { inputTemplateOf, type GetPipeline, type InProject, type MaybeInProject } from "../pipelines/index.ts";
import type { Db } from "../platform/db/db.ts";
import {
  legible,
  type Execution,
  type ExecutionDetail,
  type ExecutionMore,
  type ExecutionOutline,
} from "./execution.ts";
import { problem } from "./problems.ts";
import type { ExecutionFilter } from "./store/conditions.ts";
import {
  countExecutions,
  findExecution,
  findInputs,
  listDetails,
  listExecutions,
  listMore,
  listOutlines,
  type Window,
} from "./store/lists.ts";

type Deps = { readonly db: Db };

/**
 * Newest first, by the start, and until then by the creation. `total` counts only when it is asked for; the
 * notes, tags, failure and starter of each are read for whoever wants `more`.
 */
export type ListExecutions = (
  actor: Actor,
  filter: ExecutionFilter,
  window: Window,
  more: boolean,
) => Promise<Page<Execution & Partial<ExecutionMore>>>;

export const makeListExecutions =
  (deps: Deps): ListExecutions =>
  async (actor, given, window, more) => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_pipeline_view");
    const filter = [...given, ...seenBy(actor)];
    const items = await (more ? listMore : listExecutions)(deps.db, accountId, filter, window);
    return { items, ...window, total: () => countExecutions(deps.db, accountId, filter) };
  };

/** The condition of a reader who may not see everything. */
export function seenBy(actor: Actor): ExecutionFilter {
  const places = reach(actor, "core_pipeline_view");
  return places === "all" ? [] : [{ is: "seenBy", value: JSON.stringify(places) }];
}

/** A page of one project's executions with their plans and states. Throws `project.not_found`. */
export type ListProjectExecutions = (
  actor: Actor,
  scope: InProject,
  filter: ExecutionFilter,
  window: Window,
) => Promise<Page<ExecutionDetail>>;

export const makeListProjectExecutions =
  (deps: Deps & { getProject: GetProject }): ListProjectExecutions =>
  async (actor, scope, filter, window) => {
    const { accountId } = actor;
    listed(actor, "core_pipeline_view", { accountId, ...scope });
    const project = await deps.getProject(actor, scope.orgIdentifier, scope.projectIdentifier);
    const within: ExecutionFilter = [...filter, ...seenBy(actor), { is: "projectIs", value: project.id }];
    const items = await listDetails(deps.db, accountId, within, window);
    return { items: items.map(legible), ...window, total: () => countExecutions(deps.db, accountId, within) };
  };

/** A light page that goes on after `beyond`, the last execution of the page before. Throws `project.not_found`. */
export type ListOutlines = (
  actor: Actor,
  scope: InProject,
  filter: ExecutionFilter,
  page: { readonly size: number; readonly beyond: Cursor | undefined },
) => Promise<readonly ExecutionOutline[]>;

export type Cursor = Pick<ExecutionOutline, "begunAt" | "id">;

export const makeListOutlines =
  (deps: Deps & { getProject: GetProject }): ListOutlines =>
  async (actor, scope, filter, { size, beyond }) => {
    const { accountId } = actor;
    listed(actor, "core_pipeline_view", { accountId, ...scope });
    const project = await deps.getProject(actor, scope.orgIdentifier, scope.projectIdentifier);
    const within: ExecutionFilter = [
      ...filter,
      ...seenBy(actor),
      { is: "projectIs", value: project.id },
      ...(beyond ? [{ is: "beyond" as const, value: [String(beyond.begunAt), beyond.id] }] : []),
    ];
    return listOutlines(deps.db, accountId, within, { limit: size, offset: 0 });
  };

/** What a run was given: the inputs as they were sent, and the runtime inputs that its pipeline had and has now. */
export type GetInputs = (
  actor: Actor,
  id: string,
  scope: MaybeInProject,
) => Promise<{ inputYaml: string | null; template: string | null; latestTemplate: string | null }>;

export const makeGetInputs =
  (deps: { db: Db; get: GetExecution; getPipeline: GetPipeline }): GetInputs =>
  async (actor, id, scope) => {
    const execution = await deps.get(actor, id, scope);
    const { orgIdentifier, projectIdentifier, pipelineIdentifier } = execution;
    const within = { orgIdentifier, projectIdentifier };
    const given = await findInputs(deps.db, actor.accountId, execution.id);
    const latest = await deps.getPipeline(actor, within, pipelineIdentifier);
    return {
      inputYaml: given?.inputYaml ?? null,
      template: given ? inputTemplateOf(given.pipelineYaml, within) : null,
      latestTemplate: inputTemplateOf(latest.yaml, within),
    };
  };

/**
 * One execution, by its id on the wire. With a scope it has to be of that
 * project. Throws `execution.not_found`, also for what is no id at all.
 */
export type GetExecution = (actor: Actor, id: string, scope?: MaybeInProject) => Promise<ExecutionDetail>;

export const makeGetExecution =
  (deps: Deps): GetExecution =>
  async (actor, wireId, scope = {}) => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_pipeline_view");
    const id: Uuid | undefined = fromWire(wireId);
    const found = id && (await findExecution(deps.db, actor.accountId, id));
    const visible = ({ orgIdentifier, projectIdentifier, pipelineIdentifier }: ExecutionDetail): boolean =>
      permits(actor, "core_pipeline_view", { accountId, orgIdentifier, projectIdentifier }, pipelineIdentifier);
    const inScope = (given: string | undefined, own: string): boolean => given === undefined || given === own;
    if (
      !found ||
      !visible(found) ||
      !inScope(scope.orgIdentifier, found.orgIdentifier) ||
      !inScope(scope.projectIdentifier, found.projectIdentifier)
    ) {
      throw problem("execution.not_found", [wireId]);
    }
    return legible(found);
  };
