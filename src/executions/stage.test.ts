import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json, Plan } from "../engine/index.ts";
import { lastNodeOf, stagesOf } from "./stage.ts";

const stage = (id: string) => ({
  ...{ kind: "stage", id, identifier: id, name: id.toUpperCase(), type: "Deployment" },
  ...{ path: [], steps: "", rollback: "", failureStrategies: [] },
});

/** A plan with these stages, and variables by stage. */
function planOf(variables: Readonly<Record<string, Readonly<Record<string, Json>>>>): Plan {
  const ids = Object.keys(variables);
  const root = { kind: "pipeline", id: "0", identifier: "p", name: "P", path: [], children: ids };
  const stages = Object.fromEntries(ids.map((id) => [id, { variables: variables[id] }]));
  const nodes = Object.fromEntries([["0", root], ...ids.map((id) => [id, stage(id)])]) as Plan["nodes"];
  return { format: 2, root: "0", nodes, context: { pipeline: { stages } as Json } };
}

const valuesOf = (plan: Plan) => stagesOf(plan).map(({ variables }) => variables.map(({ value }) => value));

test("a stage has its identity and its variables as text", () => {
  const plan = planOf({ a: { size: 3, of: "one", on: true }, b: {} });
  assert.deepEqual(stagesOf(plan), [
    {
      ...{ id: "a", identifier: "a", name: "A", type: "Deployment" },
      variables: [
        { name: "size", value: "3" },
        { name: "of", value: "one" },
        { name: "on", value: "true" },
      ],
    },
    { id: "b", identifier: "b", name: "B", type: "Deployment", variables: [] },
  ]);
  assert.equal(lastNodeOf(plan), "b");
});

test("a value of more than 1,024 characters is null", () => {
  assert.deepEqual(valuesOf(planOf({ a: { x: "x".repeat(1_024), y: "y".repeat(1_025), z: "z" } })), [
    ["x".repeat(1_024), null, "z"],
  ]);
});

test("values are null once the variables of the run have 16,384 characters", () => {
  const many = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`v${at % 10}${at}`, "x".repeat(1_000)]));
  const values = valuesOf(planOf({ a: many, b: { left: "x".repeat(300), over: "x".repeat(300) } })).flat();
  assert.deepEqual(
    values.map((value) => value?.length ?? null),
    [...Array.from({ length: 16 }, () => 1_000), 300, null],
  );
});
