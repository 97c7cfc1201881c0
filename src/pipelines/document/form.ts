import type { z } from "zod";
import { later, type Phase } from "../../steps/schema/fields.ts";

/** Parts of the language that are switched on once the engine runs them; until then they are refused by their name. */
export const FEATURES = [
  ...(["parallel", "stepGroup", "when", "strategy", "failureStrategies", "timeout"] as const),
  ...(["Custom", "Approval", "Pipeline", "flowControl"] as const),
] as const;
export type Feature = (typeof FEATURES)[number];

/** What a schema is for: a document as saved or as run, and the parts of the language that it takes. */
export type Form = { readonly phase: Phase; readonly features: ReadonlySet<Feature> };

export const RELEASED: ReadonlySet<Feature> = new Set<Feature>([
  ...(["parallel", "stepGroup", "when", "strategy", "failureStrategies", "timeout"] as const),
  ...(["Custom", "Approval", "Pipeline", "flowControl"] as const),
]);

/** The field where the form has this part of the language; otherwise it is refused by its name. */
export const since = <T extends z.ZodType>({ features }: Form, feature: Feature, field: T): T | typeof later =>
  features.has(feature) ? field : later;
