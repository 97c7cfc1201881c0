import { payloadOf, payloadType, type Builder, type InterfaceNodeRef } from "../../platform/graphql/builder.ts";
import { toWire } from "../../core/ids.ts";
import type { GetExecution } from "../get.ts";
import { executionNode, type ExecutionNode } from "../wire/graphql.ts";
import type { SubmitInputs } from "./submit.ts";

/** `submitExecutionInputs`. */
export function addInputMutation(
  builder: Builder,
  Execution: InterfaceNodeRef<ExecutionNode>,
  { submitInputs, get }: { readonly submitInputs: SubmitInputs; readonly get: GetExecution },
): void {
  const Input = builder.inputType("SubmitExecutionInputsInput", {
    fields: (t) => ({
      clientMutationId: t.string(),
      executionId: t.string({ required: true }),
      nodeExecutionId: t.string({ required: true, description: "The node that waits for inputs." }),
      inputYaml: t.string({ required: true, description: "In the form of the template of the node." }),
    }),
  });
  const Payload = payloadType<{ readonly execution: ExecutionNode }>(builder, "SubmitExecutionInputsPayload", (t) => ({
    execution: t.field({ type: Execution, resolve: ({ execution }) => execution }),
  }));
  builder.mutationField("submitExecutionInputs", (t) =>
    t.field({
      type: Payload,
      description: "Submits the inputs that a node of an execution waits for.",
      args: { input: t.arg({ type: Input, required: true }) },
      extensions: { permission: "core_pipeline_execute" },
      resolve: async (_root, { input }, { actor }) => {
        const { executionId, nodeExecutionId: nodeId, inputYaml: text } = input;
        const { id } = await submitInputs(actor, { nodeId, executionId }, {}, { text, format: "yaml" });
        return payloadOf(input, { execution: executionNode(await get(actor, toWire(id))) });
      },
    }),
  );
}
