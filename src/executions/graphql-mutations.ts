import { toWire } from "../core/ids.ts";
import { payloadOf, payloadType, type Builder, type InterfaceNodeRef } from "../platform/graphql/builder.ts";
import { INTERRUPTS } from "../engine/index.ts";
import type { StageSelection } from "../pipelines/index.ts";
import type { GetExecution } from "./get.ts";
import { idempotencyOf } from "./idempotency.ts";
import { addInputMutation } from "./inputs/graphql.ts";
import type { SubmitInputs } from "./inputs/submit.ts";
import type { InterruptExecution } from "./interrupt.ts";
import { problem } from "./problems.ts";
import type { RetryExecution } from "./retry/retry.ts";
import type { StartPipelineById } from "./start-by-id.ts";
import { executionNode, type ExecutionNode } from "./wire/graphql.ts";

type Verbs = {
  readonly startById: StartPipelineById;
  readonly interrupt: InterruptExecution;
  readonly retry: RetryExecution;
  readonly submitInputs: SubmitInputs;
  readonly get: GetExecution;
};

type Result = { readonly execution: ExecutionNode };

/** `startExecution`, `retryExecution`, `abortExecution`, `interruptExecution` and `submitExecutionInputs`. */
export function addExecutionMutations(
  builder: Builder,
  Execution: InterfaceNodeRef<ExecutionNode>,
  { startById, interrupt, retry, submitInputs, get }: Verbs,
): void {
  addInputMutation(builder, Execution, { submitInputs, get });
  const inputs = inputTypes(builder);
  const StartPayload = payloadType<Result>(builder, "StartExecutionPayload", (t) => ({
    warningMessage: t.string({ resolve: () => null, description: "Null: what is wrong is refused, not warned of." }),
    execution: t.field({ type: Execution, resolve: ({ execution }) => execution }),
  }));
  const AbortPayload = payloadType<Result>(builder, "AbortExecutionPayload", (t) => ({
    execution: t.field({ type: Execution, resolve: ({ execution }) => execution }),
  }));
  const InterruptPayload = payloadType<Result>(builder, "InterruptExecutionPayload", (t) => ({
    execution: t.field({ type: Execution, resolve: ({ execution }) => execution }),
  }));
  const RetryPayload = payloadType<Result>(builder, "RetryExecutionPayload", (t) => ({
    execution: t.field({ type: Execution, resolve: ({ execution }) => execution }),
  }));
  builder.mutationFields((t) => ({
    startExecution: t.field({
      type: StartPayload,
      args: { input: t.arg({ type: inputs.Start, required: true }) },
      extensions: { permission: "core_pipeline_execute" },
      resolve: async (_root, { input }, { actor, idempotencyKey }, info) => {
        const { applicationId, entityId: pipelineId, notes = null } = input;
        const variables = () => variablesOf(input);
        // A document may start several: each by the name that the answer has for it.
        const operation = `startExecution ${info.path.key}`;
        const idempotency = idempotencyOf(idempotencyKey, operation, [{ ...input, clientMutationId: null }]);
        const { id } = await startById(actor, {
          applicationId,
          pipelineId,
          variables,
          notes,
          selection: selectionIn(input),
          idempotency,
        });
        return payloadOf(input, { execution: executionNode(await get(actor, toWire(id))) });
      },
    }),
    retryExecution: t.field({
      type: RetryPayload,
      description: "Runs an execution again from a stage or step that failed, with the results of what passed before.",
      args: { input: t.arg({ type: inputs.Retry, required: true }) },
      extensions: { permission: "core_pipeline_execute" },
      resolve: async (_root, { input }, { actor, idempotencyKey }, info) => {
        const { executionId, stageIdentifiers, stepIdentifier, onlyFailedStages } = input;
        const operation = `retryExecution ${info.path.key}`;
        const idempotency = idempotencyOf(idempotencyKey, operation, [{ ...input, clientMutationId: null }]);
        const start = {
          stages: (stageIdentifiers ?? []).flatMap((stage) => stage ?? []),
          ...{ failedOnly: onlyFailedStages ?? false, step: stepIdentifier ?? undefined },
        };
        const { id } = await retry(actor, { executionId, of: {}, start, idempotency }, undefined);
        return payloadOf(input, { execution: executionNode(await get(actor, toWire(id))) });
      },
    }),
    abortExecution: t.field({
      type: AbortPayload,
      args: { input: t.arg({ type: inputs.Abort, required: true }) },
      extensions: { permission: "core_pipeline_abort" },
      resolve: async (_root, { input }, { actor }) => {
        await interrupt(actor, { executionId: input.executionId }, {}, "AbortAll");
        return payloadOf(input, { execution: executionNode(await get(actor, input.executionId)) });
      },
    }),
    interruptExecution: t.field({
      type: InterruptPayload,
      description: "Pauses, resumes or ends an execution, or ends a node or decides what follows for one that waits.",
      args: { input: t.arg({ type: inputs.Interrupt, required: true }) },
      extensions: { permission: "core_pipeline_abort" },
      resolve: async (_root, { input }, { actor }) => {
        const { executionId, nodeExecutionId } = input;
        await interrupt(actor, { executionId, nodeId: nodeExecutionId ?? undefined }, {}, input.interrupt);
        return payloadOf(input, { execution: executionNode(await get(actor, executionId)) });
      },
    }),
  }));
}

type Maybe<T> = T | null | undefined;
type StartInput = {
  readonly executionType: "PIPELINE" | "WORKFLOW";
  readonly variableInputs?: Maybe<
    readonly Maybe<{
      readonly name: string;
      readonly variableValue: { readonly type: "EXPRESSION" | "ID" | "NAME"; readonly value: string };
    }>[]
  >;
  readonly serviceInputs?: Maybe<readonly unknown[]>;
  readonly specificHosts?: Maybe<readonly unknown[]>;
  readonly stageIdentifiers?: Maybe<readonly Maybe<string>[]>;
  readonly expressionValues?: Maybe<readonly Maybe<{ readonly expression: string; readonly value: string }>[]>;
} & { readonly [name in (typeof SWITCHES)[number]]?: Maybe<boolean> };

/** Switches of clients on things that are not here: false asks for nothing. */
const SWITCHES = ["continueWithDefaultValues", "excludeHostsWithSameArtifact", "targetToSpecificHosts"] as const;

/** The values of variables; throws `execution.unsupported` for whatever else is asked for. */
function variablesOf(input: StartInput): readonly { readonly name: string; readonly value: string }[] {
  if (input.executionType !== "PIPELINE")
    throw problem("execution.unsupported", [`executionType ${input.executionType}`]);
  for (const name of SWITCHES) if (input[name]) throw problem("execution.unsupported", [name]);
  for (const name of ["serviceInputs", "specificHosts"] as const)
    if ((input[name] ?? []).length > 0) throw problem("execution.unsupported", [name]);
  return (input.variableInputs ?? []).flatMap((given) => {
    if (!given) return [];
    const { type, value } = given.variableValue;
    if (type === "ID") throw problem("execution.unsupported", ["A variableValue of the type ID"]);
    return [{ name: given.name, value }];
  });
}

/** Undefined for a run of all stages. Throws `execution.bad_start`. */
function selectionIn({ stageIdentifiers, expressionValues }: StartInput): StageSelection | undefined {
  const stages = stageIdentifiers?.flatMap((stage) => stage ?? []);
  const values = (expressionValues ?? []).flatMap((one) => (one ? [[one.expression, one.value] as const] : []));
  if (stages) return { stages, expressionValues: Object.fromEntries(values) };
  if (values.length > 0) throw problem("execution.bad_start", ["expressionValues need stageIdentifiers"]);
  return undefined;
}

function inputTypes(builder: Builder) {
  const ExecutionType = builder.enumType("ExecutionType", { values: ["PIPELINE", "WORKFLOW"] as const });
  const ValueType = builder.enumType("VariableValueType", { values: ["EXPRESSION", "ID", "NAME"] as const });
  const VariableValue = builder.inputType("VariableValue", {
    fields: (t) => ({ type: t.field({ type: ValueType, required: true }), value: t.string({ required: true }) }),
  });
  const VariableInput = builder.inputType("VariableInput", {
    fields: (t) => ({
      name: t.string({ required: true }),
      variableValue: t.field({ type: VariableValue, required: true }),
    }),
  });
  const ExpressionValue = builder.inputType("ExpressionValueInput", {
    fields: (t) => ({ expression: t.string({ required: true }), value: t.string({ required: true }) }),
  });
  const ServiceInput = builder.inputType("ServiceInput", { fields: (t) => ({ name: t.string({ required: true }) }) });
  const Start = builder.inputType("StartExecutionInput", {
    fields: (t) => ({
      clientMutationId: t.string(),
      applicationId: t.string({ required: true }),
      entityId: t.string({ required: true, description: "The pipeline." }),
      executionType: t.field({ type: ExecutionType, required: true }),
      notes: t.string(),
      variableInputs: t.field({ type: [VariableInput], required: { list: false, items: false } }),
      serviceInputs: t.field({ type: [ServiceInput], required: { list: false, items: false } }),
      continueWithDefaultValues: t.boolean(),
      excludeHostsWithSameArtifact: t.boolean(),
      targetToSpecificHosts: t.boolean(),
      specificHosts: t.stringList({ required: { list: false, items: false } }),
      stageIdentifiers: t.stringList({
        required: { list: false, items: false },
        description: "Runs these stages alone. The pipeline has to have allowStageExecutions: true.",
      }),
      expressionValues: t.field({
        type: [ExpressionValue],
        required: { list: false, items: false },
        description: "What the stages read of those that are left out.",
      }),
    }),
  });
  const Abort = builder.inputType("AbortExecutionInput", {
    fields: (t) => ({ clientMutationId: t.string(), executionId: t.string({ required: true }) }),
  });
  const Retry = builder.inputType("RetryExecutionInput", {
    fields: (t) => ({
      clientMutationId: t.string(),
      executionId: t.string({ required: true }),
      stageIdentifiers: t.stringList({
        required: { list: false, items: false },
        description: "One stage, or stages that run at the same time; without them the first that failed.",
      }),
      stepIdentifier: t.string({ description: "A step or step group of the stage." }),
      onlyFailedStages: t.boolean({ description: "Of stages that run at the same time only those that failed." }),
    }),
  });
  const Kind = builder.enumType("ExecutionInterrupt", { values: INTERRUPTS });
  const Interrupt = builder.inputType("InterruptExecutionInput", {
    fields: (t) => ({
      clientMutationId: t.string(),
      executionId: t.string({ required: true }),
      nodeExecutionId: t.string({ description: "The node; none for AbortAll, ExpireAll, Pause and Resume." }),
      interrupt: t.field({ type: Kind, required: true }),
    }),
  });
  return { Start, Retry, Abort, Interrupt };
}
