import { toWire } from "../core/ids.ts";
import type { PipelineNode } from "../pipelines/index.ts";
import { listOf, listType, window, type Builder, type NodeRef } from "../platform/graphql/builder.ts";
import type { ApplicationNode } from "../projects/index.ts";
import type { Execution } from "./execution.ts";
import type { GetExecution, ListExecutions } from "./get.ts";
import { fromGraphql } from "./wire/filters.ts";
import { GRAPHQL_STATUSES, graphqlStatus, type GraphqlStatus } from "./wire/status.ts";

type Types = { readonly Application: NodeRef<ApplicationNode>; readonly Pipeline: NodeRef<PipelineNode> };

/** `Execution`, `executions`, `execution` (spec.md, "GraphQL operations"). */
export function addExecutionTypes(
  builder: Builder,
  types: Types,
  verbs: { list: ListExecutions; get: GetExecution },
): void {
  const Execution = executionType(builder, types);
  const ExecutionList = listType(builder, "ExecutionConnection", Execution);
  const ExecutionFilter = filterType(builder);
  builder.queryFields((t) => ({
    executions: t.field({
      type: ExecutionList,
      args: {
        filters: t.arg({ type: [ExecutionFilter], required: { list: false, items: false } }),
        limit: t.arg.int(),
        offset: t.arg.int(),
      },
      extensions: { permission: "core_pipeline_view" },
      resolve: async (_root, { filters, ...args }, { actor }) => {
        const { limit, offset } = window(args);
        const page = await verbs.list(actor, fromGraphql(filters ?? []), limit, offset);
        return listOf({ ...page, items: page.items.map(executionNode) });
      },
    }),
    execution: t.field({
      type: Execution,
      args: { executionId: t.arg.string({ required: true }) },
      extensions: { permission: "core_pipeline_view" },
      resolve: async (_root, { executionId }, { actor }) => executionNode(await verbs.get(actor, executionId)),
    }),
  }));
}

/**
 * An execution with its fields in the words of the schema, made once a row. A compiled query reads a property
 * in place, but makes three functions for every call of a resolver: a hundred rows took half as long again.
 */
type ExecutionNode = Pick<Execution, "createdAt" | "startedAt" | "endedAt"> & {
  readonly id: string;
  readonly status: GraphqlStatus;
  readonly application: ApplicationNode;
  readonly pipeline: PipelineNode;
};

const executionNode = (e: Execution): ExecutionNode => ({
  id: toWire(e.id),
  status: graphqlStatus(e.status),
  createdAt: e.createdAt,
  startedAt: e.startedAt,
  endedAt: e.endedAt,
  application: { id: e.applicationId, name: e.applicationName },
  pipeline: { id: e.pipelineId, name: e.pipelineName },
});

function executionType(builder: Builder, { Application, Pipeline }: Types) {
  const Status = builder.enumType("ExecutionStatus", { values: GRAPHQL_STATUSES });
  const Execution = builder.interfaceRef<ExecutionNode>("Execution").implement({
    resolveType: () => "PipelineExecution",
    fields: (t) => ({
      id: t.exposeString("id"),
      application: t.expose("application", { type: Application }),
      status: t.expose("status", { type: Status }),
      createdAt: t.expose("createdAt", { type: "Long" }),
      startedAt: t.expose("startedAt", { type: "Long" }),
      endedAt: t.expose("endedAt", { type: "Long" }),
    }),
  });
  builder.objectRef<ExecutionNode>("PipelineExecution").implement({
    interfaces: [Execution],
    fields: (t) => ({ pipeline: t.expose("pipeline", { type: Pipeline }) }),
  });
  return Execution;
}

function filterType(builder: Builder) {
  const IdOperator = builder.enumType("IdOperator", { values: ["EQUALS", "IN", "NOT_IN"] as const });
  const TimeOperator = builder.enumType("TimeOperator", { values: ["EQUALS", "BEFORE", "AFTER"] as const });
  const IdFilter = builder.inputType("IdFilter", {
    fields: (t) => ({
      operator: t.field({ type: IdOperator, required: true }),
      values: t.stringList({ required: { list: false, items: false } }),
    }),
  });
  const TimeFilter = builder.inputType("TimeFilter", {
    fields: (t) => ({
      operator: t.field({ type: TimeOperator, required: true }),
      value: t.field({ type: "Long", required: true }),
    }),
  });
  return builder.inputType("ExecutionFilter", {
    fields: (t) => ({
      pipeline: t.field({ type: IdFilter }),
      startTime: t.field({ type: TimeFilter }),
      endTime: t.field({ type: TimeFilter }),
    }),
  });
}
