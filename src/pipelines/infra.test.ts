/** `<+infra.…>` and `INFRA_KEY`: the infrastructure of the stage, evaluated where an expression reads it. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { evaluateTemplate, ExpressionError, scopeFor } from "../engine/index.ts";
import { readPipeline } from "./document/read.ts";
import { SAMPLE } from "./document/sample.ts";
import { fillIn } from "./inputs.ts";
import { buildPlan, type Facts } from "./plan.ts";

const FACTS: Facts = {
  account: { identifier: "acc" },
  org: { identifier: "default" },
  project: { identifier: "shop", name: "Shop" },
  execution: {
    id: "run1",
    sequenceId: 7,
    startTs: 1_000,
    triggerType: "MANUAL",
    triggeredBy: { name: "Ada", email: "ada@example.com" },
  },
  trigger: { type: "Custom", payload: { branch: "Feature_1", own: "<+infra.namespace>" }, header: {} },
};

/** Evaluates a text in the step of the sample, with this namespace and release name. */
function evaluate(text: string, { namespace = "web", releaseName = "web-release", definition = true } = {}): string {
  const document = SAMPLE.replace("namespace: web\n", () => `namespace: ${namespace}\n`).replace(
    "releaseName: web-release",
    () => `releaseName: ${releaseName}`,
  );
  const yaml = definition ? document : document.replace(/ {12}infrastructureDefinition:\n(?: {14}.*\n)+/, "");
  const projectIdentifier = /projectIdentifier: (\S+)/.exec(yaml)?.[1] ?? "";
  const { pipeline } = readPipeline(yaml, { orgIdentifier: "default", projectIdentifier });
  const filled = fillIn(pipeline, undefined);
  let made = 0;
  const plan = buildPlan(
    { document: filled.pipeline, authored: filled.authored, asks: filled.asks },
    FACTS,
    () => `n${(made += 1)}`,
  );
  const step = Object.values(plan.nodes).find(({ kind }) => kind === "step");
  return evaluateTemplate(
    text,
    scopeFor(plan, () => undefined, step?.id ?? ""),
  );
}

const KEY = createHash("sha1").update("web-staging-cluster-web").digest("hex");

test("members of infra are the texts of the definition, with their expressions evaluated", () => {
  assert.equal(evaluate("<+infra.connectorRef>/<+infra.namespace>/<+infra.releaseName>"), "cluster/web/web-release");
  const namespace = "<+trigger.payload.branch.toLowerCase().replace('_', '-')>";
  assert.equal(evaluate("<+infra.namespace.toUpperCase()>", { namespace }), "FEATURE-1");
});

test("INFRA_KEY is the SHA-1 of service, environment, connector and namespace", () => {
  assert.equal(evaluate("<+INFRA_KEY> <+INFRA_KEY_SHORT_ID>"), `${KEY} ${KEY.slice(0, 6)}`);
  const releaseName = "release-<+INFRA_KEY_SHORT_ID>";
  assert.equal(evaluate("<+infra.releaseName>", { releaseName }), `release-${KEY.slice(0, 6)}`);
});

test("a value that no cluster takes, and one that refers to itself, are errors", () => {
  for (const [namespace, releaseName, message] of [
    ["<+trigger.payload.branch>", "r", /infra\.namespace has come to 'Feature_1'\. A namespace has lower-case/],
    ["<+trigger.payload.own>", "r", /infra\.namespace has come to '<\+infra\.namespace>'/],
    ["<+infra.releaseName.trim()>", "<+infra.namespace>", /infra\.releaseName refers to itself/],
    ["<+INFRA_KEY_SHORT_ID>", "r", /infra\.namespace refers to itself/],
    ["web", "<+trigger.payload.own>", /infra\.releaseName has come to/],
  ] as const)
    assert.throws(
      () => evaluate("<+infra.releaseName> <+infra.namespace>", { namespace, releaseName }),
      (error: unknown) => error instanceof ExpressionError && message.test(error.message),
      namespace,
    );
});

test("a stage without an infrastructure definition has no infra, and its steps have no variables for it", () => {
  assert.throws(() => evaluate("<+infra.namespace>", { definition: false }), ExpressionError);
  assert.throws(() => evaluate("<+INFRA_KEY>", { definition: false }), ExpressionError);
});
