/** Work of kind `connection`: a test of a connector. */
import { z } from "zod";

/** A connection test: it runs no script, writes nothing and can be repeated. */
export const connectionTask = z.strictObject({
  kind: z.literal("connection"),
  version: z.literal(1),
  /** A type of connector and its spec, both as the server stores them. */
  type: z.string().max(64),
  spec: z.json(),
  /** Values of the secrets that the spec references. Both sides keep them in memory only. */
  secrets: z.array(z.strictObject({ reference: z.string().max(256), value: z.string() })).max(16),
  /** Milliseconds until the delegate aborts the test. */
  timeoutMs: z.int().min(1),
});
/** A test of a connector's connection. It carries its secrets itself, without `secret` messages. */
export type ConnectionTask = z.infer<typeof connectionTask>;
