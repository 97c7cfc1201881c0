/**
 * Shapes of answers as schemas, for the `doc` of a route: api/openapi.json is made of them, and a test
 * holds every real answer to them. They check nothing while the server runs.
 */
import { z } from "zod";

export const epochMs = z.int().describe("Epoch milliseconds.");
export const wireId = z.string().regex(/^[A-Za-z0-9_-]{22}$/);
export const stringMap = z.record(z.string(), z.string());

/** `{status, data, metaData, correlationId}` of spec.md. */
export const enveloped = (data: z.ZodType) =>
  z.strictObject({ status: z.literal("SUCCESS"), data, metaData: z.null(), correlationId: z.uuid() });

/** `{metaData, resource, responseMessages}`: the envelope of delegate tags in spec.md. */
export const resourced = (resource: z.ZodType) =>
  z.strictObject({ metaData: z.strictObject({}), resource, responseMessages: z.array(z.unknown()).max(0) });
