import { toWire, type Uuid } from "../../core/ids.ts";
import { withSubmitted } from "../../pipelines/index.ts";
import { nodeStatus } from "../wire/status.ts";
import type { AskingNode } from "./submit.ts";

export const nodeInputs = ({ execution, node: { id, state }, asks }: AskingNode) => ({
  nodeExecutionId: toWire(id as Uuid),
  planExecutionId: toWire(execution.id),
  status: nodeStatus(state, false),
  inputTemplate: withSubmitted(asks.template, new Map()),
  userInput: state.inputs ? withSubmitted(asks.template, new Map(Object.entries(state.inputs))) : null,
});
