/**
 * Shapes of answers as schemas, for the `doc` of a route: api/openapi.json is made of them, and a test
 * holds every real answer to them. They check nothing while the server runs.
 */
import { z } from "zod";

export const epochMs = z.int().describe("Epoch milliseconds.");
export const wireId = z.string().regex(/^[A-Za-z0-9_-]{22}$/);
export const stringMap = z.record(z.string(), z.string());

/** The envelope `{status, data, metaData, correlationId}`. */
export const enveloped = (data: z.ZodType) =>
  z.strictObject({ status: z.literal("SUCCESS"), data, metaData: z.null(), correlationId: z.uuid() });

/** The envelope `{metaData, resource, responseMessages}` of delegate tags. */
export const resourced = (resource: z.ZodType) =>
  z.strictObject({ metaData: z.strictObject({}), resource, responseMessages: z.array(z.unknown()).max(0) });
