import { fromWire, toWire, type Uuid } from "../core/ids.ts";
import type { PipelineVariable } from "../pipelines/index.ts";
import { createBatch } from "../platform/graphql/request/batch.ts";
import { createEventLoopTurns } from "../platform/graphql/request/turns.ts";
import { PLAIN_LIST } from "../platform/graphql/list-limits.ts";
import type { Builder, EnumNodeRef, GraphqlContext, InterfaceNodeRef, NodeRef } from "../platform/graphql/builder.ts";
import type { Stage, StageState, StageVariable } from "./stage.ts";
import type { ListStages } from "./stages.ts";
import type { ExecutionNode } from "./wire/graphql.ts";
import { graphqlStatus, type GraphqlStatus } from "./wire/status.ts";

type Types = {
  readonly PipelineExecution: NodeRef<ExecutionNode>;
  readonly PipelineVariable: NodeRef<PipelineVariable>;
  readonly Status: EnumNodeRef<GraphqlStatus>;
};

export type InputVariable = StageVariable;

/** Without a state: the run has not reached it. */
type StageNode = Stage & { readonly state: StageState | undefined };

/** `pipelineStageExecutions` on PipelineExecution. */
export function addStageTypes(
  builder: Builder,
  types: Types,
  verbs: { readonly stages: ListStages },
): { InputVariable: NodeRef<InputVariable> } {
  const InputVariable = builder.objectRef<InputVariable>("InputVariable").implement({
    fields: (t) => ({ name: t.exposeString("name"), value: t.exposeString("value") }),
  });
  const Stage = stageType(builder, types, InputVariable);
  const stagesOf = createBatch(({ actor }: GraphqlContext, executions: readonly Uuid[]) =>
    verbs.stages(actor, executions),
  );
  const turn = createEventLoopTurns();
  builder.objectField(types.PipelineExecution, "pipelineStageExecutions", (t) =>
    t.field({
      type: [Stage],
      description: "The stages of the run in their order, also those that it has not reached.",
      extensions: { permission: "core_pipeline_view" },
      resolve: async (execution, _args, context) => {
        const { stages, stageStates } = await stagesOf(context, fromWire(execution.id) as Uuid, "");
        // The cost of the query does not count more. Other requests are answered between such runs.
        if (stages.length > PLAIN_LIST) await turn(context);
        return stages.map((stage): StageNode => ({ ...stage, state: stageStates.nodes[stage.id] }));
      },
    }),
  );
  return { InputVariable };
}

function stageType(
  builder: Builder,
  { PipelineVariable, Status }: Types,
  Input: NodeRef<InputVariable>,
): InterfaceNodeRef<StageNode> {
  const Stage = builder.interfaceRef<StageNode>("PipelineStageExecution").implement({
    resolveType: ({ type }) => (type === "Approval" ? "ApprovalStageExecution" : "WorkflowStageExecution"),
    fields: (t) => ({
      pipelineStageElementId: t.string({ resolve: ({ id }) => toWire(id) }),
      pipelineStageName: t.exposeString("name"),
      pipelineStepName: t.exposeString("name", {
        description: "The name of the stage again: a stage is one element of its pipeline.",
      }),
    }),
  });
  builder.objectRef<StageNode>("WorkflowStageExecution").implement({
    interfaces: [Stage],
    fields: (t) => ({
      status: t.field({
        type: Status,
        description: "QUEUED for a stage that was not reached.",
        resolve: statusOf,
      }),
      workflowExecutionId: t.string({
        description: "Always null: a stage is part of its pipeline's execution and has none of its own.",
        resolve: () => null,
      }),
      inputVariables: t.field({
        type: [Input],
        description:
          "The stage's variables as the run has them, without those of the type Secret. A value of more than 1,024 " +
          "characters is null, and so are those after the first 16,384 characters of a run's variables.",
        resolve: ({ variables }) => [...variables],
      }),
      runtimeInputVariables: t.field({
        type: [PipelineVariable],
        description: "Always empty: a run has all its inputs before it starts.",
        resolve: () => [],
      }),
    }),
  });
  builder.objectRef<StageNode>("ApprovalStageExecution").implement({
    description: "A stage of the type Approval.",
    interfaces: [Stage],
    fields: (t) => ({
      approvalStepType: t.string({
        description: "Always null: the stage may have several approval steps.",
        resolve: () => null,
      }),
      status: t.field({ type: Status, description: "QUEUED for a stage that was not reached.", resolve: statusOf }),
    }),
  });
  return Stage;
}

const statusOf = ({ state }: StageNode): GraphqlStatus => (state ? graphqlStatus(state.status) : "QUEUED");
