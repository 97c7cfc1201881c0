import { authorizeSomewhere, reach } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import { fromWire, type Uuid } from "../core/ids.ts";
import type { Page } from "../core/page.ts";
import type { PipelineDeps } from "./create.ts";
import type { ListVariables } from "./list-variables.ts";
import { isSeen } from "./seen.ts";
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
    const places = reach(actor, "core_pipeline_view");
    const seenBy = { is: "seenBy", value: places === "all" ? null : JSON.stringify(places) } as const;
    const conditions = places === "all" ? given : [...given, seenBy];
    return {
      items: await store.listNodes(deps.db, accountId, conditions, page),
      limit: page.limit,
      offset: page.offset,
      total: () => store.countNodes(deps.db, accountId, conditions),
    };
  };

/** Of an id that a client sends; a deleted one only where something that is still there names it. Throws `pipeline.no_such_id`. */
export type GetNode = (actor: Actor, id: string, options?: { readonly evenDeleted: boolean }) => Promise<store.Placed>;

export const makeGetNode =
  (deps: Deps): GetNode =>
  async (actor, id, { evenDeleted } = { evenDeleted: false }) => {
    authorizeSomewhere(actor, "core_pipeline_view");
    const uuid = fromWire(id);
    const node = uuid && (await store.findNode(deps.db, actor.accountId, uuid));
    if (!node || !isSeen(actor, node) || (node.deleted && !evenDeleted)) throw problem("pipeline.no_such_id", [id]);
    return node;
  };

/** Throws `pipeline.no_such_name`, also for an application that does not exist. */
export type GetNodeByName = (actor: Actor, applicationId: string, name: string) => Promise<store.GraphPipeline>;

export const makeGetNodeByName =
  (deps: Deps): GetNodeByName =>
  async (actor, applicationId, name) => {
    authorizeSomewhere(actor, "core_pipeline_view");
    const project = fromWire(applicationId);
    const node = project && (await store.findNodeByName(deps.db, actor.accountId, project, name));
    if (!node || !isSeen(actor, node)) throw problem("pipeline.no_such_name", [name, applicationId]);
    return node;
  };

export type PipelineNodeVerbs = {
  readonly listNodes: ListNodes;
  readonly getNode: GetNode;
  readonly getNodeByName: GetNodeByName;
  readonly listVariables: ListVariables;
};

/** The pipelines of one application. */
export const ofProject = (id: Uuid): store.NodeCondition => ({ is: "projectIn", value: [id] });
