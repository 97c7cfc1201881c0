/** The run that the examples of the documentation are evaluated in. */
import type { Json } from "../../model.ts";
import { jsonPlace, own, type Scope } from "../place.ts";

const STEPS: Json = { build: { status: "SUCCEEDED", output: { outputVariables: { version: "1.4.2" } } } };

const SAMPLE: Json = {
  pipeline: { name: "Release", identifier: "release", variables: { env: "prod" } },
  stage: { name: "Deploy", identifier: "deploy" },
  step: { name: "Roll out", identifier: "roll_out" },
  steps: STEPS,
  execution: { steps: STEPS },
  stepGroup: { identifier: "checks" },
  matrix: { os: "linux" },
  repeat: { item: "blue" },
  strategy: { iteration: 1 },
  service: { identifier: "web_shop", name: "Web shop", description: "", tags: {} },
  env: { identifier: "production", name: "Production", description: "", tags: {}, type: "Production" },
  infra: { connectorRef: "account.cluster", namespace: "web", releaseName: "web-0a1b2c" },
  INFRA_KEY: "0a1b2c0000000000000000000000000000000000",
  INFRA_KEY_SHORT_ID: "0a1b2c",
  approval: { approvalActivities: [{ user: { name: "Ada", email: "ada@example.com" } }], approverInputs: {} },
  exportedVariables: { "stage.build.version": "1.4.2" },
  trigger: { type: "Webhook", payload: { ref: "refs/heads/main" } },
  account: { identifier: "acme" },
  org: { identifier: "retail" },
  project: { identifier: "shop", name: "Shop" },
  spec: { inputVariables: { team: "shop" } },
  output: { outputVariables: { state: "ready" } },
  httpResponseCode: 200,
  httpResponseBody: '{"state": "ready"}',
  httpResponseHeaders: { "content-type": "application/json" },
  httpMethod: "GET",
  httpUrl: "https://api.example.com/shop",
};

/** The scope of a JSON value whose members are the roots. */
export const scopeOf = (context: Json): Scope => ({
  root(name) {
    const value = own(context, name);
    return value === undefined ? undefined : jsonPlace(value);
  },
});

export const sampleScope: Scope = { ...scopeOf(SAMPLE), now: Date.UTC(2026, 10, 23, 16, 9, 53) };
