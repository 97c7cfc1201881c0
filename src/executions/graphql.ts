import { toWire } from "../core/ids.ts";
import type { EnvironmentTypes } from "../environments/index.ts";
import type { UserNode } from "../identity/index.ts";
import type { PipelineNode, PipelineVariable, Workflow } from "../pipelines/index.ts";
import {
  listOf,
  listType,
  window,
  type Builder,
  type InterfaceNodeRef,
  type NodeRef,
} from "../platform/graphql/builder.ts";
import { createSelectionCheck } from "../platform/graphql/selection.ts";
import type { ApplicationNode } from "../projects/index.ts";
import type { GetListed, ListExecutions } from "./get.ts";
import { addFilterTypes } from "./graphql-filters.ts";
import { addStageTypes } from "./graphql-stages.ts";
import { addWorkflowExecution } from "./graphql-workflows.ts";
import type { ListStages } from "./stages.ts";
import { fromGraphql } from "./wire/graphql-filters.ts";
import { executionNode, type Cause, type ExecutionNode } from "./wire/graphql.ts";
import { GRAPHQL_STATUSES } from "./wire/status.ts";

type Types = EnvironmentTypes & {
  readonly Workflow: NodeRef<Workflow>;
  readonly Application: NodeRef<ApplicationNode>;
  readonly Pipeline: NodeRef<PipelineNode>;
  readonly PipelineVariable: NodeRef<PipelineVariable>;
  readonly User: NodeRef<UserNode>;
};

/** A trigger as an execution tells of it; the slice of triggers knows the rest. */
export type TriggerNode = Extract<Cause, { kind: "ExecutedByTrigger" }>["trigger"];

/** `Execution`, `executions`, `execution`. */
export function addExecutionTypes(
  builder: Builder,
  types: Types,
  verbs: { list: ListExecutions; getListed: GetListed; stages: ListStages },
): { Execution: InterfaceNodeRef<ExecutionNode>; Trigger: NodeRef<TriggerNode> } {
  const { Execution, PipelineExecution, Status, Trigger } = executionType(builder, types);
  const ExecutionList = listType(builder, "ExecutionConnection", Execution);
  const stages = addStageTypes(builder, { ...types, PipelineExecution, Status }, verbs);
  addWorkflowExecution(builder, { ...types, ...stages, Execution });
  builder.objectField(PipelineExecution, "memberExecutions", (t) =>
    t.field({
      type: ExecutionList,
      description: "Always empty: the stages of a run are part of it, and no executions of their own.",
      args: { limit: t.arg.int(), offset: t.arg.int() },
      extensions: { permission: "core_pipeline_view" },
      resolve: (_execution, args) => listOf<ExecutionNode>({ items: [], ...window(args), total: async () => 0 }),
    }),
  );
  const ExecutionFilter = addFilterTypes(builder);
  // What a brief list leaves out; read from the database only for documents that select one of them.
  const wantsMore = createSelectionCheck("notes", "failureDetails", "tags", "cause");
  builder.queryFields((t) => ({
    executions: t.field({
      type: ExecutionList,
      args: {
        filters: t.arg({ type: [ExecutionFilter], required: { list: false, items: false } }),
        limit: t.arg.int(),
        offset: t.arg.int(),
        includeIndirectExecutions: t.arg.boolean({
          description:
            "Executions that others started as their members. There are none, so that both values answer alike.",
        }),
      },
      extensions: { permission: "core_pipeline_view" },
      resolve: async (_root, { filters, ...args }, { actor }, info) => {
        const page = await verbs.list(actor, fromGraphql(filters ?? []), window(args), wantsMore(info));
        return listOf({ ...page, items: page.items.map(executionNode) });
      },
    }),
    execution: t.field({
      type: Execution,
      args: { executionId: t.arg.string({ required: true }) },
      extensions: { permission: "core_pipeline_view" },
      resolve: async (_root, { executionId }, { actor }) => executionNode(await verbs.getListed(actor, executionId)),
    }),
  }));
  return { Execution, Trigger };
}

function executionType(builder: Builder, { Application, Pipeline, User }: Types) {
  const Status = builder.enumType("ExecutionStatus", { values: GRAPHQL_STATUSES });
  const { CauseType, Trigger } = causeType(builder, User);
  const Execution = builder.interfaceRef<ExecutionNode>("Execution").implement({
    resolveType: () => "PipelineExecution",
    fields: (t) => ({
      id: t.exposeString("id"),
      application: t.expose("application", { type: Application }),
      status: t.expose("status", { type: Status }),
      createdAt: t.expose("createdAt", { type: "Long" }),
      startedAt: t.expose("startedAt", { type: "Long" }),
      endedAt: t.expose("endedAt", { type: "Long" }),
      notes: t.exposeString("notes"),
      failureDetails: t.exposeString("failureDetails"),
      tags: t.expose("tags", { type: ["Tag"] }),
      cause: t.expose("cause", { type: CauseType }),
    }),
  });
  const PipelineExecution = builder.objectRef<ExecutionNode>("PipelineExecution").implement({
    interfaces: [Execution],
    fields: (t) => ({ pipeline: t.expose("pipeline", { type: Pipeline }) }),
  });
  return { Execution, PipelineExecution, Status, Trigger };
}

/** Why an execution runs; null when the system itself started it. */
function causeType(builder: Builder, User: NodeRef<UserNode>) {
  type By<K extends Cause["kind"]> = Extract<Cause, { kind: K }>;
  const Trigger = builder.objectRef<TriggerNode>("Trigger").implement({
    fields: (t) => ({ id: t.string({ resolve: ({ id }) => toWire(id) }), name: t.exposeString("name") }),
  });
  const ByUser = builder.objectRef<By<"ExecutedByUser">>("ExecutedByUser").implement({
    fields: (t) => ({ user: t.expose("user", { type: User }) }),
  });
  const ByTrigger = builder.objectRef<By<"ExecutedByTrigger">>("ExecutedByTrigger").implement({
    fields: (t) => ({ trigger: t.expose("trigger", { type: Trigger }) }),
  });
  const types = [ByUser, ByTrigger];
  return { CauseType: builder.unionType("Cause", { types, resolveType: ({ kind }) => kind }), Trigger };
}
