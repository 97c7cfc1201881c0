/** For tests: a pipeline with a runtime input in every kind of place, and inputs for it. */
import assert from "node:assert/strict";
import { Problem } from "../../core/problem.ts";
import { mergeInputs } from "../inputs.ts";
import { readPipeline } from "./read.ts";
import { SAMPLE, SCOPE } from "./sample.ts";
import type { PipelineDocument } from "./schema.ts";

/** The sample with a runtime input in every kind of place. */
const OPEN = SAMPLE.replace(
  "  tags: {}\n  stages",
  `  variables:
    - {name: version, type: String, value: <+input>}
    - {name: replicas, type: Number, value: "<+input>.default(3)"}
    - {name: fixed, type: String, value: as it is}
  delegateSelectors: <+input>.default(linux,x64)
  stages`,
)
  .replace("environmentRef: staging", "environmentRef: <+input>.default(staging).allowedValues(staging,production)")
  .replace(/script: \|\n.*\n.*\n/, "script: <+input>\n")
  .replace(
    "environmentVariables: []",
    "environmentVariables:\n                      - {name: WHO, type: String, value: <+input>}",
  )
  .replace("timeout: 10m", "timeout: <+input>.default(10m)");

export const pipelineOf = (text: string): PipelineDocument => readPipeline(text, SCOPE).pipeline;
export const OPENED = pipelineOf(OPEN);

export const GIVEN = `pipeline:
  identifier: sample_deployment
  variables:
    - name: version
      type: String
      value: 1.4.2
  stages:
    - stage:
        identifier: deploy
        type: Deployment
        spec:
          execution:
            steps:
              - step:
                  identifier: greet
                  type: ShellScript
                  spec:
                    source:
                      type: Inline
                      spec:
                        script: echo "$WHO"
                    environmentVariables:
                      - name: WHO
                        type: String
                        value: <+trigger.payload.who>
`;

/** The problem that merging must end in. */
export function refusal(pipeline: PipelineDocument, input: string | undefined): Problem {
  try {
    mergeInputs(pipeline, input);
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    return error;
  }
  assert.fail("the inputs were taken");
}
