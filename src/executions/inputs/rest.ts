/** Routes of the inputs that nodes of executions ask for. */
import { z } from "zod";
import { formatOf, textOf } from "../../platform/http/request/bodies.ts";
import { maybeProjectQuery } from "../../platform/http/request/queries.ts";
import { ok } from "../../platform/http/response/answers.ts";
import { enveloped, wireId } from "../../platform/http/response/shapes.ts";
import { LARGE_BODY, route, type Route } from "../../platform/http/routes.ts";
import type { GetNodeInputs, SubmitInputs } from "./submit.ts";
import { nodeInputs } from "./wire.ts";

export type InputVerbs = { readonly nodeInputs: GetNodeInputs; readonly submitInputs: SubmitInputs };

const PATH = "/pipeline/api/pipelines/execution/:nodeExecutionId/executionInput";

const inputsShape = z.strictObject({
  nodeExecutionId: wireId,
  planExecutionId: wireId,
  status: z.string().describe("`InputWaiting` while it waits for them."),
  inputTemplate: z.string().describe("YAML; the values are the runtime inputs."),
  userInput: z.string().nullable().describe("The same with the values that were submitted, or taken by default."),
});

const submittedShape = z.strictObject({ nodeExecutionId: wireId, status: z.literal("Success") });

const body = z.looseObject({});

export const inputRoutes = ({ nodeInputs: read, submitInputs }: InputVerbs): readonly Route[] => [
  route({
    method: "GET",
    path: PATH,
    operation: "execution.read-inputs",
    access: { permission: "core_pipeline_view" },
    query: maybeProjectQuery,
    doc: { summary: "Read what a node of an execution asks for", answer: enveloped(inputsShape) },
    handle: async (call) =>
      ok(call, nodeInputs(await read(call.actor, call.params["nodeExecutionId"] ?? "", call.query))),
  }),
  route({
    method: "POST",
    path: PATH,
    operation: "execution.submit-inputs",
    maxBody: LARGE_BODY,
    access: { permission: "core_pipeline_execute" },
    query: maybeProjectQuery,
    doc: {
      summary: "Submit the inputs that a node of an execution waits for",
      description: "YAML or JSON in the form of inputTemplate. What is left out has its default.",
      body: {
        schema: body,
        required: false,
        strict: true,
        example: { step: { identifier: "go", spec: { environmentVariables: [{ name: "VALUE", value: "world" }] } } },
      },
      answer: enveloped(submittedShape),
    },
    handle: async (call) => {
      const { nodeExecutionId: nodeId = "" } = call.params;
      const given = { text: textOf(call.body) ?? "", format: formatOf(call.body) };
      await submitInputs(call.actor, { nodeId }, call.query, given);
      return ok(call, { nodeExecutionId: nodeId, status: "Success" });
    },
  }),
];
