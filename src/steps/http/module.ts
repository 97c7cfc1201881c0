import { stepModule } from "../step-module.ts";
import { plan } from "./plan.ts";
import { run } from "./run.ts";
import { http as schema, type HttpSpec } from "./schema.ts";
import { shown, valueFields } from "./value-fields.ts";

/** Sends an HTTP request from a delegate. */
export const http = stepModule<HttpSpec>({
  type: "Http",
  description: "Sends an HTTP request from a delegate and checks the response.",
  snippet: {
    name: "Call an API",
    spec: { url: "https://api.example.com/health", method: "GET", assertion: "<+httpResponseCode> == 200" },
  },
  schema,
  valueFields,
  shown,
  delegateSelectors: (spec) => spec.delegateSelectors,
  plan,
  run,
});
