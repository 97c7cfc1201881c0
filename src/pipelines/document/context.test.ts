import assert from "node:assert/strict";
import { test } from "node:test";
import { checkTemplate, type Json } from "../../engine/index.ts";
import { contextOf } from "./context.ts";
import { readPipeline } from "./read.ts";
import { SAMPLE, SCOPE } from "./sample.ts";

const FACTS = {
  account: { identifier: "acme", name: "Acme" },
  org: { identifier: "default" },
  project: { identifier: "shop", name: "Shop" },
  execution: {
    id: "e1",
    sequenceId: 1,
    startTs: 1,
    triggerType: "WEBHOOK",
    triggeredBy: { name: "Ada", email: "ada@example.com" },
  },
  trigger: { type: "Webhook", payload: { ref: "main", "a-b": [1] }, header: { "X-Event": "push" } },
};

function pathsOf(value: Json, path: string): readonly string[] {
  if (typeof value !== "object" || value === null) return [path];
  const below = Object.entries(value).map(([key, part]) =>
    pathsOf(part, Array.isArray(value) ? `${path}[${key}]` : `${path}["${key}"]`),
  );
  return [path, ...below.flat()];
}

test("saving accepts each path that a context has", () => {
  const { value } = contextOf(readPipeline(SAMPLE, SCOPE).pipeline, FACTS);
  const paths = Object.entries(value).flatMap(([root, part]) => pathsOf(part, root));
  assert.ok(paths.length > 60, String(paths.length));
  for (const path of paths) {
    assert.deepEqual(
      checkTemplate(`<+${path}>`).map(({ message }) => message),
      [],
    );
  }
});
