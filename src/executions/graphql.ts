import { toWire } from "../core/ids.ts";
import type { PipelineNode } from "../pipelines/index.ts";
import { listOf, listType, window, type Builder, type NodeRef } from "../platform/graphql/builder.ts";
import type { ApplicationNode } from "../projects/index.ts";
import type { Execution } from "./execution.ts";
import type { GetExecution, ListExecutions } from "./get.ts";
import { fromGraphql } from "./wire/filters.ts";
import { GRAPHQL_STATUSES, graphqlStatus } from "./wire/status.ts";

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
        return listOf(await verbs.list(actor, fromGraphql(filters ?? []), limit, offset));
      },
    }),
    execution: t.field({
      type: Execution,
      args: { executionId: t.arg.string({ required: true }) },
      extensions: { permission: "core_pipeline_view" },
      resolve: (_root, { executionId }, { actor }) => verbs.get(actor, executionId),
    }),
  }));
}

function executionType(builder: Builder, { Application, Pipeline }: Types) {
  const Status = builder.enumType("ExecutionStatus", { values: GRAPHQL_STATUSES });
  const Execution = builder.interfaceRef<Execution>("Execution").implement({
    resolveType: () => "PipelineExecution",
    fields: (t) => ({
      id: t.string({ resolve: (e) => toWire(e.id) }),
      application: t.field({ type: Application, resolve: (e) => ({ id: e.applicationId, name: e.applicationName }) }),
      status: t.field({ type: Status, resolve: (e) => graphqlStatus(e.status) }),
      createdAt: t.expose("createdAt", { type: "Long" }),
      startedAt: t.expose("startedAt", { type: "Long" }),
      endedAt: t.expose("endedAt", { type: "Long" }),
    }),
  });
  builder.objectRef<Execution>("PipelineExecution").implement({
    interfaces: [Execution],
    fields: (t) => ({
      pipeline: t.field({ type: Pipeline, resolve: (e) => ({ id: e.pipelineId, name: e.pipelineName }) }),
    }),
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
