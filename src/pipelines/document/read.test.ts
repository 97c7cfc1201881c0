import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import { Problem } from "../../core/problem.ts";
import { readPipeline } from "./read.ts";
import { changed, faultsOf, SAMPLE, SCOPE } from "./sample.ts";

test("the pipeline of the contract is taken with all its fields", () => {
  const { pipeline, doc } = readPipeline(SAMPLE, SCOPE);
  assert.deepEqual(JSON.parse(JSON.stringify(pipeline)), parse(SAMPLE).pipeline);
  assert.deepEqual(doc.position(["pipeline", "stages", 0, "stage", "name"]), { line: 9, column: 15 });
});

test("the same pipeline as JSON is taken, and refused as JSON when it is YAML", () => {
  const json = JSON.stringify(parse(SAMPLE));
  assert.equal(readPipeline(json, SCOPE, { format: "json" }).pipeline.identifier, "sample_deployment");
  assert.throws(() => readPipeline(SAMPLE, SCOPE, { format: "json" }), { code: "document.not_json" });
});

const RUNS = SAMPLE.slice(SAMPLE.indexOf("onDelegate: true"), SAMPLE.indexOf("executionTarget: {}") + 19);

const TAKEN: readonly (readonly [name: string, piece: string, replacement: string])[] = [
  [
    "empty tags and descriptions",
    "  tags: {}\n  stages",
    "  tags:\n  description:\n  variables:\n  delegateSelectors:\n  stages",
  ],
  ["an empty execution target", "executionTarget: {}", "executionTarget:"],
  [
    "a step on a remote host",
    RUNS,
    RUNS.replace("true", "false").replace(
      "{}",
      "{host: web1.example.com, connectorRef: account.web, workingDirectory: /srv}",
    ),
  ],
  [
    "a step on a remote host, all of it given later",
    RUNS,
    RUNS.replace("true", "false").replace(
      "{}",
      "{host: <+pipeline.variables.host>, connectorRef: <+input>, workingDirectory: <+input>.default(/srv)}",
    ),
  ],
  [
    "a step on one of the hosts that the pipeline names",
    RUNS,
    RUNS.replace("true", "false").replace("{}", '{host: "<+input>.allowedValues(web1,web2)", connectorRef: web}'),
  ],
  ["a step on an address", RUNS, RUNS.replace("true", "false").replace("{}", "{host: 'fe80::1', connectorRef: web}")],
  ["a delegate that is a host of no name", RUNS, RUNS.replace("{}", "{host:, connectorRef:}")],
  ["lists left out", "                    environmentVariables: []\n                    outputVariables: []\n", ""],
  ["a step without timeout", "                  timeout: 10m\n", ""],
  ["an empty timeout", "timeout: 10m", 'timeout: ""'],
  ["a composite timeout", "timeout: 10m", "timeout: 1h 30m"],
  ["a timeout given at run time", "timeout: 10m", "timeout: <+input>.default(5m)"],
  ["rollback steps left out", "            rollbackSteps: []\n", ""],
  ["failure strategies left out", SAMPLE.slice(SAMPLE.indexOf("        failureStrategies")), ""],
  ["a deployment type", "          serviceConfig:", "          deploymentType: Kubernetes\n          serviceConfig:"],
  ["organization and project of the request left out", "  projectIdentifier: shop\n  orgIdentifier: default\n", ""],
  ["references given at run time", "serviceRef: web", "serviceRef: <+input>"],
  [
    "an environment given at run time",
    "environmentRef: staging",
    "environmentRef: <+input>.allowedValues(staging,production)",
  ],
  ["a release name with an expression we do not run", "releaseName: web-release", "releaseName: release-<+INFRA_KEY>"],
  [
    "a script given at run time",
    'script: |\n                          echo "hello"\n                          greeting=hello',
    "script: <+input>",
  ],
  ["selectors at all levels", "onDelegate: true", "delegateSelectors: [linux, <+input>]"],
  ["selectors given at run time", "  tags: {}\n  stages", "  delegateSelectors: <+input>\n  stages"],
  [
    "variables of both types",
    "  tags: {}\n  stages",
    "  variables:\n    - {name: a, type: String, value: <+input>, required: false, description: x}\n    - {name: b.c, type: Number, value: 5, default: 4}\n    - {name: d, type: Number, value: '5'}\n    - {name: e, type: String, value: <+trigger.payload.e>}\n    - {name: f, type: String, value:}\n    - {name: g, type: String, value: 8080}\n  stages",
  ],
  [
    "environment and output variables",
    "environmentVariables: []",
    "environmentVariables:\n                      - {name: A, type: String, value: <+pipeline.name>}\n                      - {name: B, type: Number, value: 5}",
  ],
];

for (const [name, piece, replacement] of TAKEN) {
  test(`a pipeline is taken with ${name}`, () => assert.deepEqual(faultsOf(changed(piece, replacement)), []));
}

test("a missing field stands at the map that lacks it", () => {
  const faults = faultsOf(changed("                  identifier: greet\n", ""));
  assert.deepEqual(faults, [
    {
      at: "32:19",
      path: "pipeline.stages[0].stage.spec.execution.steps[0].step.identifier",
      message: "Missing: expected a string",
    },
  ]);
});

test("stages with equal identifiers are refused", () => {
  const again = SAMPLE.slice(SAMPLE.indexOf("    - stage:"));
  const line = SAMPLE.split("\n").length + 2;
  assert.deepEqual(faultsOf(SAMPLE + again), [
    {
      at: `${line}:21`,
      path: "pipeline.stages[1].stage.identifier",
      message: "The stage identifier 'deploy' is given twice",
    },
  ]);
});

test("each fault has its own line, in the order of the text", () => {
  const text = changed("name: Greet", "name: 5")
    .replace("shell: Bash", "shell: PowerShell")
    .replace("  tags: {}\n", "  colour: red\n");
  assert.deepEqual(
    faultsOf(text).map(({ at }) => at),
    ["6:3", "33:25", "36:28"],
  );
});

test("a document without the key pipeline is refused", () => {
  assert.deepEqual(
    faultsOf("project: {}\n").map(({ message }) => message),
    ["Missing: expected a map", "Unknown field 'project'. Allowed here: pipeline"],
  );
});

test("a pipeline of another project or organization than the request's is refused", () => {
  assert.throws(
    () => readPipeline(SAMPLE, { orgIdentifier: "default", projectIdentifier: "other" }),
    (error: unknown) => {
      assert.ok(error instanceof Problem);
      assert.deepEqual([error.code, error.status, error.wire], ["pipeline.other_scope", 400, "INVALID_REQUEST"]);
      assert.deepEqual(error.faults, [
        {
          path: "pipeline.projectIdentifier",
          message: "'shop' is not the projectIdentifier of the request, 'other'",
          line: 4,
          column: 22,
        },
      ]);
      return true;
    },
  );
  assert.throws(() => readPipeline(SAMPLE, { orgIdentifier: "x", projectIdentifier: "shop" }), {
    code: "pipeline.other_scope",
  });
});
