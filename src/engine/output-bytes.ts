import type { Attempt } from "./model.ts";

/** UTF-8 bytes of what expressions can read of an attempt. */
export const outputBytesOf = ({ outputs = [], output }: Partial<Pick<Attempt, "outputs" | "output">>): number =>
  outputs.reduce((sum, { value }) => sum + Buffer.byteLength(value), 0) +
  (output ? Buffer.byteLength(JSON.stringify(output)) : 0);
