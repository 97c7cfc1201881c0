import { stepModule } from "../step-module.ts";
import { plan } from "./plan.ts";
import { run } from "./run.ts";
import { http as schema, type HttpSpec } from "./schema.ts";
import { shown, valueFields } from "./value-fields.ts";

/** Sends an HTTP request from a delegate. */
export const http = stepModule<HttpSpec>({
  type: "Http",
  schema,
  valueFields,
  shown,
  delegateSelectors: (spec) => spec.delegateSelectors,
  plan,
  run,
});
