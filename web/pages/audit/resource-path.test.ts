import assert from "node:assert/strict";
import { test } from "node:test";
import { pathOf } from "./resource-path.ts";

const pathOfResource = (type: string, identifier: string, org: string | null, project: string | null) =>
  pathOf({
    resource: { type, identifier },
    resourceScope: { orgIdentifier: org, projectIdentifier: project },
  });

test("a resource that has a page leads to it", () => {
  for (const [type, identifier, path] of [
    ["PROJECT", "shop", "/projects/default/shop"],
    ["PIPELINE", "deploy", "/projects/default/shop/pipelines/deploy"],
    ["PIPELINE", "deploy/on_push", "/projects/default/shop/triggers/deploy/on_push"],
    ["PIPELINE_EXECUTION", "x1", "/projects/default/shop/executions/x1"],
  ] as const)
    assert.deepEqual(pathOfResource(type, identifier, "default", "shop"), { path });
  assert.deepEqual(pathOfResource("SECRET", "key", null, null), { path: "/account/secrets", search: { q: "key" } });
});

test("others have no link: of an organization, and of types without pages", () => {
  assert.equal(pathOfResource("SECRET", "key", "default", null), undefined);
  assert.equal(pathOfResource("SESSION", "x", null, null), undefined);
});

test("an identifier cannot lead out of its place in the path", () => {
  assert.deepEqual(pathOfResource("PIPELINE", "a?b#c", "default", "shop"), {
    path: "/projects/default/shop/pipelines/a%3Fb%23c",
  });
});
