/**
 * Schemas of answers, for the `doc` of a route. api/openapi.json is generated from them, and a test checks every real
 * answer against them. The server does not use them at run time.
 */
import { z } from "zod";

export const epochMs = z.int().describe("Epoch milliseconds.");
/** A UUID as answers contain it (`toWire` in src/core/ids.ts). */
export const wireId = z.string().regex(/^[A-Za-z0-9_-]{22}$/);
export const stringMap = z.record(z.string(), z.string());

/** The envelope `{status, data, metaData, correlationId}`. */
export const enveloped = (data: z.ZodType) =>
  z.strictObject({ status: z.literal("SUCCESS"), data, metaData: z.null(), correlationId: z.uuid() });

/** The envelope `{metaData, resource, responseMessages}` of delegate tags. */
export const resourced = (resource: z.ZodType) =>
  z.strictObject({ metaData: z.strictObject({}), resource, responseMessages: z.array(z.unknown()).max(0) });
