import assert from "node:assert/strict";
import { Problem } from "../../core/problem.ts";
import { readPipeline } from "./read.ts";

/** For tests: the pipeline of the public contract with every field it names, one thing on each line. */
export const SAMPLE = `pipeline:
  name: Sample deployment
  identifier: sample_deployment
  projectIdentifier: shop
  orgIdentifier: default
  tags: {}
  stages:
    - stage:
        name: Deploy
        identifier: deploy
        description: ""
        type: Deployment
        spec:
          serviceConfig:
            serviceRef: web
            serviceDefinition:
              type: Kubernetes
              spec:
                variables: []
          infrastructure:
            environmentRef: staging
            infrastructureDefinition:
              type: KubernetesDirect
              spec:
                connectorRef: cluster
                namespace: web
                releaseName: web-release
            allowSimultaneousDeployments: false
          execution:
            steps:
              - step:
                  type: ShellScript
                  name: Greet
                  identifier: greet
                  spec:
                    shell: Bash
                    onDelegate: true
                    source:
                      type: Inline
                      spec:
                        script: |
                          echo "hello"
                          greeting=hello
                    environmentVariables: []
                    outputVariables: []
                    executionTarget: {}
                  timeout: 10m
            rollbackSteps: []
        tags: {}
        failureStrategies:
          - onFailure:
              errors:
                - AllErrors
              action:
                type: StageRollback
`;

export const SCOPE = { orgIdentifier: "default", projectIdentifier: "shop" };

/** The sample with pieces of its text replaced; each piece must be there. */
export function changed(piece: string, replacement: string, text: string = SAMPLE): string {
  assert.ok(text.includes(piece), `the sample has no ${piece}`);
  return text.replace(piece, () => replacement);
}

export type Outcome = readonly { readonly at: string; readonly path: string; readonly message: string }[];

const STEP = SAMPLE.slice(SAMPLE.indexOf("type: ShellScript"), SAMPLE.indexOf("                  timeout: 10m"));
const INDENT = " ".repeat(18);

/** The sample with a step of this type; `spec` has a line for each field. */
export const withStep = (type: string, spec: readonly string[]): string =>
  changed(
    STEP,
    [`type: ${type}`, "name: Ask", "identifier: ask", "spec:", ...spec.map((line) => `  ${line}`)]
      .join(`\n${INDENT}`)
      .concat("\n"),
  );

/** The path of the `spec` of that step. */
export const STEP_SPEC = "pipeline.stages[0].stage.spec.execution.steps[0].step.spec";

/** The faults that saving answers with, places as `line:column`; none when the text is taken. */
export function faultsOf(text: string): Outcome {
  try {
    readPipeline(text, SCOPE);
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    assert.deepEqual([error.code, error.status, error.wire], ["document.invalid", 400, "SCHEMA_VALIDATION_FAILED"]);
    return error.faults.map(({ line, column, path, message }) => ({ at: `${line}:${column}`, path, message }));
  }
  return [];
}
