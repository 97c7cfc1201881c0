/** What requests that start executions have in common. */
import { z } from "zod";
import { formatOf, textOf } from "../platform/http/request/bodies.ts";
import type { Body, Call } from "../platform/http/routes.ts";
import { idempotencyOf, type Idempotency } from "./idempotency.ts";
import type { RunInput } from "./start.ts";

export const inputOf = (body: Body): RunInput | undefined => {
  const text = textOf(body);
  return text === undefined || text.trim() === "" ? undefined : { text, format: formatOf(body) };
};

/** All that a request to start an execution asks for. */
export const onceOf = ({ headers, params, query, body }: Call, operation: string): Idempotency | undefined =>
  idempotencyOf(headers["idempotency-key"], operation, [
    params,
    query,
    body.contentType,
    body.bytes.toString("base64"),
  ]);

export const inputsDoc = {
  schema: z.object({ pipeline: z.looseObject({ identifier: z.string() }) }),
  required: false,
  strict: true,
  example: { pipeline: { identifier: "deploy" } },
} as const;
