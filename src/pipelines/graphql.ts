import { Kind, type GraphQLResolveInfo, type SelectionSetNode } from "graphql";
import { toWire, type Uuid } from "../core/ids.ts";
import type { UserNode } from "../identity/index.ts";
import { createBatch } from "../platform/graphql/request/batch.ts";
import {
  listOf,
  listType,
  tagsOf,
  windowToVariant,
  window,
  variantToWindow,
  type Builder,
  type GraphqlContext,
  type NodeRef,
} from "../platform/graphql/builder.ts";
import { commonFilters } from "../platform/graphql/filters.ts";
import { createEventLoopTurns } from "../platform/graphql/request/turns.ts";
import type { ApplicationNode } from "../projects/index.ts";
import { addWorkflowTypes, type Workflow } from "./graphql-workflows.ts";
import type { ReadBytes } from "./list-variables.ts";
import { conditionsOf, type PipelineFilter } from "./node-filters.ts";
import type { PipelineNodeVerbs } from "./nodes.ts";
import type { GraphPipeline } from "./store/nodes.ts";
import type { PipelineVariable } from "./variables.ts";

/** A pipeline, or as much of it as another list brought along; what is missing is read when it is asked for. */
export type PipelineNode = Pick<GraphPipeline, "id" | "name"> & Partial<GraphPipeline>;

type Types = { readonly Application: NodeRef<ApplicationNode>; readonly User: NodeRef<UserNode> };

/** `Pipeline` with its queries, and `pipelines` and `workflows` on Application. */
export function addPipelineTypes(
  builder: Builder,
  { Application, User }: Types,
  verbs: PipelineNodeVerbs,
): {
  Pipeline: NodeRef<PipelineNode>;
  PipelineVariable: NodeRef<PipelineVariable>;
  Workflow: NodeRef<Workflow>;
} {
  const PipelineVariable = variableType(builder);
  const Pipeline = pipelineType(builder, { User, PipelineVariable }, verbs);
  addQueries(builder, { Application, Pipeline }, verbs);
  return { Pipeline, PipelineVariable, Workflow: addWorkflowTypes(builder, Application) };
}

function pipelineType(
  builder: Builder,
  { User, PipelineVariable }: { User: NodeRef<UserNode>; PipelineVariable: NodeRef<PipelineVariable> },
  verbs: PipelineNodeVerbs,
): NodeRef<PipelineNode> {
  const read = createBatch(({ actor }: GraphqlContext, ids: readonly Uuid[]) => verbs.getNodes(actor, ids));
  const whole = async (node: PipelineNode, context: GraphqlContext): Promise<GraphPipeline> =>
    isWhole(node) ? node : read(context, node.id, "");
  const variables = makeVariables(verbs);
  return builder.objectRef<PipelineNode>("Pipeline").implement({
    fields: (t) => ({
      id: t.string({ resolve: (pipeline) => toWire(pipeline.id) }),
      name: t.exposeString("name"),
      description: t.string({ resolve: async (node, _args, context) => (await whole(node, context)).description }),
      createdAt: t.field({
        type: "Long",
        resolve: async (node, _args, context) => (await whole(node, context)).createdAt,
      }),
      createdBy: t.field({
        type: User,
        resolve: async (node, _args, context) => (await whole(node, context)).createdBy,
      }),
      tags: t.field({
        type: ["Tag"],
        resolve: async (node, _args, context) => tagsOf((await whole(node, context)).tags),
      }),
      pipelineVariables: t.field({
        type: [PipelineVariable],
        resolve: (node, _args, context, info) => variables(context, node.id, leavesOf(info)),
      }),
    }),
  });
}

/** Of all nodes of a list by two statements, bounded for the request; the values of each node are made in a turn of their own. */
function makeVariables({ listVariables }: Pick<PipelineNodeVerbs, "listVariables">) {
  const read = new WeakMap<GraphqlContext, ReadBytes>();
  const turn = createEventLoopTurns();
  const batch = createBatch<GraphqlContext, Uuid, string>((context, ids) => {
    const bytes = read.get(context) ?? { bytes: 0, times: 1 };
    read.set(context, bytes);
    return listVariables(context.actor, ids, bytes);
  });
  return async (context: GraphqlContext, id: Uuid, leaves: number): Promise<readonly PipelineVariable[]> => {
    const bytes = read.get(context) ?? { bytes: 0, times: 1 };
    bytes.times = Math.max(bytes.times, leaves / LEAVES);
    read.set(context, bytes);
    const text = await batch(context, id, "");
    await turn(context);
    return JSON.parse(text) as readonly PipelineVariable[];
  };
}

/** Fields of a variable. A query that names more of them, by aliases, counts the variables as often. */
const LEAVES = 8;

/** Fields that are asked of each variable, those of fragments included. */
function leavesOf({ fieldNodes, fragments }: GraphQLResolveInfo): number {
  const count = (set: SelectionSetNode | undefined): number =>
    (set?.selections ?? []).reduce((sum, node) => {
      if (node.kind === Kind.FIELD) return sum + 1;
      const inner = node.kind === Kind.INLINE_FRAGMENT ? node : fragments[node.name.value];
      return sum + count(inner?.selectionSet);
    }, 0);
  return fieldNodes.reduce((sum, node) => sum + count(node.selectionSet), 0);
}

const isWhole = (node: PipelineNode): node is GraphPipeline => node.updatedAt !== undefined;

const variableType = (builder: Builder): NodeRef<PipelineVariable> =>
  builder.objectRef<PipelineVariable>("PipelineVariable").implement({
    fields: (t) => ({
      name: t.exposeString("name"),
      type: t.exposeString("type"),
      required: t.exposeBoolean("required"),
      defaultValue: t.exposeString("defaultValue", { nullable: true }),
      allowedValues: t.exposeStringList("allowedValues", { nullable: true }),
      allowMultipleValues: t.boolean({ description: "Always false: a variable has one value.", resolve: () => false }),
      fixed: t.exposeBoolean("fixed"),
    }),
  });

function addQueries(
  builder: Builder,
  { Application, Pipeline }: { Application: NodeRef<ApplicationNode>; Pipeline: NodeRef<PipelineNode> },
  verbs: PipelineNodeVerbs,
): void {
  const PipelineList = listType(builder, "PipelineConnection", Pipeline);
  const Filter = filterType(builder);
  const pageOf = createBatch(({ actor }: GraphqlContext, projects: readonly Uuid[], variant) =>
    verbs.listNodesOfProjects(actor, projects, variantToWindow(variant)),
  );
  builder.objectField(Application, "pipelines", (t) =>
    t.field({
      type: PipelineList,
      args: { limit: t.arg.int(), offset: t.arg.int() },
      extensions: { permission: "core_pipeline_view" },
      resolve: async ({ id }, args, context) =>
        listOf<PipelineNode>(await pageOf(context, id, windowToVariant(window(args)))),
    }),
  );
  builder.queryFields((t) => ({
    pipelines: t.field({
      type: PipelineList,
      args: {
        limit: t.arg.int(),
        offset: t.arg.int(),
        filters: t.arg({ type: [Filter], required: { list: false, items: false } }),
      },
      extensions: { permission: "core_pipeline_view" },
      resolve: async (_root, { filters, ...args }, { actor }) =>
        listOf<PipelineNode>(await verbs.listNodes(actor, conditionsOf(filters ?? []), window(args))),
    }),
    pipeline: t.field({
      type: Pipeline,
      args: { pipelineId: t.arg.string({ required: true }) },
      extensions: { permission: "core_pipeline_view" },
      resolve: (_root, { pipelineId }, { actor }) => verbs.getNode(actor, pipelineId),
    }),
    pipelineByName: t.field({
      type: Pipeline,
      args: {
        applicationId: t.arg.string({ required: true }),
        pipelineName: t.arg.string({ required: true }),
      },
      extensions: { permission: "core_pipeline_view" },
      resolve: (_root, { applicationId, pipelineName }, { actor }) =>
        verbs.getNodeByName(actor, applicationId, pipelineName),
    }),
  }));
}

function filterType(builder: Builder) {
  const { IdFilter, TagInput } = commonFilters(builder);
  const TagType = builder.enumType("PipelineTagType", { values: ["PIPELINE"] as const });
  const TagFilter = builder.inputType("PipelineTagFilter", {
    fields: (t) => ({
      entityType: t.field({ type: TagType }),
      tags: t.field({ type: [TagInput], required: { list: false, items: false } }),
    }),
  });
  return builder.inputRef<PipelineFilter>("PipelineFilter").implement({
    fields: (t) => ({
      application: t.field({ type: IdFilter }),
      pipeline: t.field({ type: IdFilter }),
      tag: t.field({ type: TagFilter }),
    }),
  });
}
