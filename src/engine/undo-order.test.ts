import assert from "node:assert/strict";
import { test } from "node:test";
import { on } from "./testing/by-path.ts";
import { ended, exited, give, initial, planOf, type StageSketch, started } from "./testing/plans.ts";

test("stages that ended at the same time are undone in the order of the pipeline, however their nodes were read", () => {
  const stage = (id: string): StageSketch => {
    const broken = {
      id: `${id}a`,
      env: [["A", "<+pipeline.no>"]] as const,
      strategies: [on("AllErrors", { type: "Ignore" })],
    };
    return { id, steps: [broken], rollback: [{ id: `${id}u` }] };
  };
  const times = { strategy: { type: "times", times: 11 }, onFailure: "RunAll", maxConcurrency: 1 } as const;
  const last = { id: "t", steps: [{ id: "b" }], strategies: [on("AllErrors", { type: "PipelineRollback" })] };
  const plan = planOf([stage("s"), { ...stage("r"), loop: times }, last]);
  const { state, nodes } = give(plan, initial(plan), started(5));
  const read = [...nodes];
  const undone = [read, read.toReversed(), read.toSorted(([a], [b]) => (a < b ? -1 : 1))].map((order) => {
    const after = give(plan, { state, nodes: new Map(order) }, ended(6, "b", exited(1)));
    return after.nodes.get("pipeline")?.progress?.undo?.map((id) => after.nodes.get(id)?.path);
  });
  const loops = Array.from({ length: 11 }, (_, nth) => `p/r/r[${10 - nth}]`);
  for (const paths of undone) assert.deepEqual(paths, ["p/t", ...loops, "p/s"]);
});
