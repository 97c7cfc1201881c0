import assert from "node:assert/strict";
import { test } from "node:test";
import { pathText } from "../../platform/document/position/path.ts";
import type { PipelineDocument } from "./schema.ts";
import { ancestorsOf, type DocumentNode, namedChildren, nodesIn, stageOf, stepsIn, visitPipeline } from "./visit.ts";

const step = (identifier: string) => ({ step: { identifier } });
const group = (identifier: string, steps: readonly unknown[], rollbackSteps: readonly unknown[] = []) => ({
  stepGroup: { identifier, steps, rollbackSteps },
});
const stage = (identifier: string, steps: readonly unknown[], rollbackSteps: readonly unknown[] = []) => ({
  stage: { identifier, spec: { execution: { steps, rollbackSteps } } },
});

/** Only what the visitor reads, in all forms that nodes nest. */
const PIPELINE = {
  identifier: "release",
  stages: [
    stage("build", [step("compile"), { parallel: [step("unit"), group("slow", [step("browser")])] }]),
    {
      parallel: [
        stage("east", [group("rollout", [group("canary", [step("shift")])], [step("shift")])], [step("undo")]),
        { stage: { identifier: "notify", spec: {} } },
      ],
    },
  ],
} as unknown as PipelineDocument;

const described = (node: DocumentNode): string => {
  const list = node.kind === "pipeline" ? "" : ` in ${node.list}`;
  return `${node.kind} ${pathText(node.path)} as ${node.names.join(".")}${list}`;
};

const BUILD = "pipeline.stages.build.spec.execution";
const EAST = "pipeline.stages.east.spec.execution";
const FIRST = "pipeline.stages[0].stage";
const SECOND = "pipeline.stages[1].parallel";
const ROLLOUT = `${SECOND}[0].stage.spec.execution.steps[0].stepGroup`;

test("each node has its place in the document, its names for expressions and its list", () => {
  assert.deepEqual(nodesIn(visitPipeline(PIPELINE)).map(described), [
    "pipeline pipeline as pipeline",
    `stage ${FIRST} as pipeline.stages.build in stages`,
    `step ${FIRST}.spec.execution.steps[0].step as ${BUILD}.steps.compile in steps`,
    `parallel ${FIRST}.spec.execution.steps[1].parallel as pipeline.stages.build in steps`,
    `step ${FIRST}.spec.execution.steps[1].parallel[0].step as ${BUILD}.steps.unit in steps`,
    `group ${FIRST}.spec.execution.steps[1].parallel[1].stepGroup as ${BUILD}.steps.slow in steps`,
    `step ${FIRST}.spec.execution.steps[1].parallel[1].stepGroup.steps[0].step as ${BUILD}.steps.slow.steps.browser in steps`,
    `parallel ${SECOND} as pipeline in stages`,
    `stage ${SECOND}[0].stage as pipeline.stages.east in stages`,
    `group ${ROLLOUT} as ${EAST}.steps.rollout in steps`,
    `group ${ROLLOUT}.steps[0].stepGroup as ${EAST}.steps.rollout.steps.canary in steps`,
    `step ${ROLLOUT}.steps[0].stepGroup.steps[0].step as ${EAST}.steps.rollout.steps.canary.steps.shift in steps`,
    `step ${ROLLOUT}.rollbackSteps[0].step as ${EAST}.steps.rollout.rollbackSteps.shift in rollbackSteps`,
    `step ${SECOND}[0].stage.spec.execution.rollbackSteps[0].step as ${EAST}.rollbackSteps.undo in rollbackSteps`,
    `stage ${SECOND}[1].stage as pipeline.stages.notify in stages`,
  ]);
});

test("a step knows what it stands in, innermost first", () => {
  const shift = stepsIn(PIPELINE).find(({ names }) => names.includes("canary"));
  assert.ok(shift);
  assert.deepEqual(
    ancestorsOf(shift).map(({ kind, names }) => `${kind} ${names.at(-1)}`),
    ["group canary", "group rollout", "stage east", "parallel pipeline", "pipeline pipeline"],
  );
  assert.equal(stageOf(shift)?.document.identifier, "east");
});

test("expressions find parallel nodes among the others of their list", () => {
  const names = (node: DocumentNode, list: "stages" | "steps" | "rollbackSteps") =>
    namedChildren(node, list).map(({ document }) => document.identifier);
  const root = visitPipeline(PIPELINE);
  assert.deepEqual(names(root, "stages"), ["build", "east", "notify"]);
  const [build, east] = namedChildren(root, "stages");
  assert.ok(build && east);
  assert.deepEqual(names(build, "steps"), ["compile", "unit", "slow"]);
  assert.deepEqual([names(east, "steps"), names(east, "rollbackSteps")], [["rollout"], ["undo"]]);
});

test("a document is visited once, so that its nodes can be compared", () => {
  assert.equal(visitPipeline(PIPELINE), visitPipeline(PIPELINE));
});
