import type { Attempt, Failure, Json, NodeState, State } from "./model.ts";

/** UTF-8 bytes of what expressions can read of an attempt. */
export const outputBytesOf = ({ outputs = [], output }: Partial<Pick<Attempt, "outputs" | "output">>): number =>
  outputs.reduce((sum, { value }) => sum + Buffer.byteLength(value), 0) +
  (output ? Buffer.byteLength(JSON.stringify(output)) : 0);

/** UTF-8 bytes of what was submitted for a node. */
export const inputBytesOf = (values: NodeState["inputs"]): number =>
  Object.values(values ?? {}).reduce((sum, value) => sum + Buffer.byteLength(value), 0);

/** What every step may keep between two signals without being counted. */
const FREE_BYTES = 1024;

/** UTF-8 bytes of what an attempt keeps until its end: it is stored and read with its node. */
export const progressBytesOf = (progress: Json | undefined): number =>
  progress === undefined || progress === null
    ? 0
    : Math.max(0, Buffer.byteLength(JSON.stringify(progress)) - FREE_BYTES);

/** UTF-8 bytes of the outputs of one execution: expressions read them at any time. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

/** Why a node cannot put out so much more. `subject` names it, as in `Step 'x'`. */
export function outputsFault(before: Pick<State, "outputBytes">, subject: string, added: number): Failure | undefined {
  const bytes = before.outputBytes + added;
  if (added <= 0 || bytes <= MAX_OUTPUT_BYTES) return undefined;
  return { message: `${subject} failed: ${LIMIT}, and with its own they have ${bytes}`, types: ["ApplicationError"] };
}

const LIMIT = `The outputs of one execution, and what its open steps keep, have at most ${MAX_OUTPUT_BYTES} bytes together`;

/** Why values cannot be submitted; undefined if there is room for them. */
export function inputsFault(before: Pick<State, "outputBytes">, values: NodeState["inputs"]): string | undefined {
  const added = inputBytesOf(values);
  if (!outputsFault(before, "", added)) return undefined;
  return `${LIMIT}, and with these inputs they would have ${before.outputBytes + added}`;
}
