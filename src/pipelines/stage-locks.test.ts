import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDocument } from "../platform/document/document.ts";
import { validate } from "../platform/document/validate.ts";
import { pipelineSchema } from "./document/schema.ts";
import { lockOf } from "./stage-locks.ts";

const schema = pipelineSchema("merged");
const SCOPE = { orgIdentifier: "default", projectIdentifier: "shop" };

/** The lock of a stage that deploys `service` to `environment`. */
function lockWith(infrastructure: string, service = "web", environment = "prod"): string | undefined {
  const execution = "{steps: [{step: {type: Wait, name: a, identifier: a, spec: {duration: 10m}}}]}";
  const spec = `{serviceConfig: {serviceRef: ${service}}, infrastructure: {environmentRef: ${environment}${infrastructure}}, execution: ${execution}}`;
  const text = `{pipeline: {name: P, identifier: p, stages: [{stage: {name: S, identifier: s, type: Deployment, spec: ${spec}}}]}}`;
  const [item] = validate(schema, parseDocument(text), { root: "pipeline" }).stages;
  return item?.stage && lockOf(item.stage, SCOPE).lock;
}

const cluster = (connector: string, more = ""): string =>
  `, infrastructureDefinition: {type: KubernetesDirect, spec: {connectorRef: ${connector}, namespace: web, releaseName: r}}${more}`;

test("deployments to an infrastructure are locked by its key, unless they are allowed at the same time", () => {
  assert.equal(lockWith(cluster("c")), "project default/shop <+INFRA_KEY>");
  assert.equal(lockWith(cluster("c", ", allowSimultaneousDeployments: false")), "project default/shop <+INFRA_KEY>");
  assert.equal(lockWith(cluster("c", ", allowSimultaneousDeployments: null")), "project default/shop <+INFRA_KEY>");
  assert.equal(lockWith(cluster("c", ", allowSimultaneousDeployments: true")), undefined);
});

test("an environment alone is locked for its service if the stage says so", () => {
  assert.equal(lockWith(", allowSimultaneousDeployments: false"), "project default/shop web prod");
  assert.equal(lockWith(", allowSimultaneousDeployments: true"), undefined);
  assert.equal(lockWith(""), undefined);
});

test("the lock is of the narrowest scope of what the stage names", () => {
  const ofConnector = (connector: string): string | undefined =>
    lockWith(cluster(connector), "account.web", "account.prod");
  assert.equal(ofConnector("account.c"), "account <+INFRA_KEY>");
  assert.equal(ofConnector("org.c"), "org default <+INFRA_KEY>");
  assert.equal(ofConnector("c"), "project default/shop <+INFRA_KEY>");
  assert.equal(lockWith(cluster("org.c"), "account.web", "prod"), "project default/shop <+INFRA_KEY>");
});
