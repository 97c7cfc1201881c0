import { authorizeSomewhere, reach } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import { fromWire, toWire, type Uuid } from "../core/ids.ts";
import type { Page } from "../core/page.ts";
import type { Problem } from "../core/problem.ts";
import type { PipelineDeps } from "./create.ts";
import type { ListVariables } from "./list-variables.ts";
import { viewRefusal } from "./seen.ts";
import { problem } from "./problems.ts";
import * as store from "./store/nodes.ts";

type Deps = Pick<PipelineDeps, "db">;

type NodePage = { readonly limit: number; readonly offset: number };

/** Pipelines of the account, by name. */
export type ListNodes = (
  actor: Actor,
  conditions: readonly store.NodeCondition[],
  page: NodePage,
) => Promise<Page<store.GraphPipeline>>;

export const makeListNodes =
  (deps: Deps): ListNodes =>
  async (actor, given, page) => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_pipeline_view");
    const conditions = [...given, ...visibleTo(actor)];
    return {
      items: await store.listNodes(deps.db, accountId, conditions, page),
      limit: page.limit,
      offset: page.offset,
      total: () => store.countNodes(deps.db, accountId, conditions),
    };
  };

/** A page of the pipelines of each project, in the order of the projects, by name. Runs one statement, and a second one for totals. */
export type ListNodesOfProjects = (
  actor: Actor,
  projects: readonly Uuid[],
  page: NodePage,
) => Promise<readonly Page<store.GraphPipeline>[]>;

export const makeListNodesOfProjects =
  (deps: Deps): ListNodesOfProjects =>
  async (actor, projects, page) => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_pipeline_view");
    const conditions = visibleTo(actor);
    const rows = await store.listNodesOfProjects(deps.db, accountId, projects, conditions, page);
    const found = Map.groupBy(rows, ({ projectId }) => projectId);
    let counted: Promise<ReadonlyMap<Uuid, number>> | undefined;
    const totals = () => (counted ??= store.countNodesOfProjects(deps.db, accountId, projects, conditions));
    return projects.map((id) => ({
      items: found.get(id) ?? [],
      limit: page.limit,
      offset: page.offset,
      total: async () => (await totals()).get(id) ?? 0,
    }));
  };

/** The condition for pipelines that the actor may view; none for an actor who may view all. */
function visibleTo(actor: Actor): readonly store.NodeCondition[] {
  const places = reach(actor, "core_pipeline_view");
  return places === "all" ? [] : [{ is: "seenBy", value: JSON.stringify(places) }];
}

/** Of an id that a client sends. Throws `pipeline.no_such_id`. */
export type GetNode = (actor: Actor, id: string) => Promise<store.Placed>;

export const makeGetNode =
  (deps: Deps): GetNode =>
  async (actor, id) => {
    authorizeSomewhere(actor, "core_pipeline_view");
    const uuid = fromWire(id);
    const [node] = uuid ? await store.findNodes(deps.db, actor.accountId, [uuid]) : [];
    const refusal = node && viewRefusal(actor, node);
    if (!node || refusal || node.deleted) throw problem("pipeline.no_such_id", [id], { refusal });
    return node;
  };

/** Pipelines that existing rows name, deleted ones included, in the order of the ids; `pipeline.no_such_id` for others. */
export type GetNodes = (actor: Actor, ids: readonly Uuid[]) => Promise<readonly (store.Placed | Problem)[]>;

export const makeGetNodes =
  (deps: Deps): GetNodes =>
  async (actor, ids) => {
    authorizeSomewhere(actor, "core_pipeline_view");
    const nodes = await store.findNodes(deps.db, actor.accountId, ids);
    const byId = new Map(nodes.map((node) => [node.id, node]));
    return ids.map((id) => {
      const node = byId.get(id);
      const refusal = node && viewRefusal(actor, node);
      return !node || refusal ? problem("pipeline.no_such_id", [toWire(id)], { refusal }) : node;
    });
  };

/** Throws `pipeline.no_such_name`, also for an application that does not exist. */
export type GetNodeByName = (actor: Actor, applicationId: string, name: string) => Promise<store.GraphPipeline>;

export const makeGetNodeByName =
  (deps: Deps): GetNodeByName =>
  async (actor, applicationId, name) => {
    authorizeSomewhere(actor, "core_pipeline_view");
    const project = fromWire(applicationId);
    const node = project && (await store.findNodeByName(deps.db, actor.accountId, project, name));
    const refusal = node && viewRefusal(actor, node);
    if (!node || refusal) throw problem("pipeline.no_such_name", [name, applicationId], { refusal });
    return node;
  };

export type PipelineNodeVerbs = {
  readonly listNodes: ListNodes;
  readonly listNodesOfProjects: ListNodesOfProjects;
  readonly getNode: GetNode;
  readonly getNodes: GetNodes;
  readonly getNodeByName: GetNodeByName;
  readonly listVariables: ListVariables;
};
