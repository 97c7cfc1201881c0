import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDocument } from "../../platform/document/document.ts";
import { merge } from "./merge.ts";
import { GIVEN, OPENED, refusal } from "./sample-inputs.ts";

type Row = readonly [name: string, piece: string, replacement: string, at: string, message: RegExp, code?: string];

const REFUSED: readonly Row[] = [
  [
    "a value that is not allowed",
    "        spec:\n          execution",
    "        spec:\n          infrastructure: {environmentRef: test}\n          execution",
    "12:44",
    /'test' is not one of the allowed values: staging, production/,
  ],
  [
    "a value that the pipeline fixes",
    "  variables:\n",
    "  name: Other\n  variables:\n",
    "3:9",
    /fixed by the pipeline/,
  ],
  [
    "another identifier of the pipeline",
    "identifier: sample_deployment",
    "identifier: other",
    "2:15",
    /fixed by the pipeline/,
  ],
  ["another type", "type: ShellScript", "type: Http", "16:25", /fixed by the pipeline/],
  [
    "a fixed variable",
    "    - name: version\n",
    "    - name: fixed\n      value: other\n    - name: version\n",
    "5:14",
    /fixed by the pipeline/,
  ],
  [
    "an unknown variable",
    "    - name: version\n",
    "    - name: colour\n    - name: version\n",
    "4:7",
    /has no 'colour'/,
  ],
  ["an unknown stage", "identifier: deploy\n", "identifier: other\n", "8:7", /has no 'other'/],
  ["an unknown step", "identifier: greet\n", "identifier: other\n", "14:17", /has no 'other'/],
  ["a step without identifier", "                  identifier: greet\n", "", "14:17", /by its identifier/],
  ["a variable without name", "    - name: version\n      type", "    - type", "4:7", /by its name/],
  ["a variable given twice", "  stages:\n", "    - {name: version, value: x}\n  stages:\n", "7:7", /given twice/],
  [
    "an unknown field",
    "        type: Deployment\n",
    "        type: Deployment\n        colour: red\n",
    "11:9",
    /has no 'colour'/,
  ],
  ["another top key", "pipeline:\n", "extra: 1\npipeline:\n", "1:1", /has no 'extra'/],
  [
    "text for a map",
    '                    source:\n                      type: Inline\n                      spec:\n                        script: echo "$WHO"\n',
    "                    source: text\n",
    "18:29",
    /Expected a map/,
  ],
  [
    "a map for a list",
    "    - name: version\n      type: String\n      value: 1.4.2\n",
    "    version: 1.4.2\n",
    "4:5",
    /Expected a list/,
  ],
  ["a list for text", "value: 1.4.2", "value: [1]", "6:14", /Expected a string, got a list/, "document.invalid"],
  ["a number that would change", "value: 1.4.2", "value: 1.40", "6:14", /'1\.40' in quotes/, "document.invalid"],
  [
    "a timeout that is none",
    "                  type: ShellScript\n",
    "                  type: ShellScript\n                  timeout: soon\n",
    "17:28",
    /A timeout is written like/,
    "document.invalid",
  ],
  [
    "text for selectors",
    "  variables:\n",
    "  delegateSelectors: linux\n  variables:\n",
    "3:22",
    /Expected a list of strings/,
    "document.invalid",
  ],
  [
    "a script that cannot be bound",
    'script: echo "$WHO"',
    "script: eval '<+pipeline.name>'",
    "21:39",
    /./,
    "document.invalid",
  ],
  [
    "an expression that is none",
    "value: <+trigger.payload.who>",
    "value: <+nonsense.who>",
    "25:34",
    /nonsense/,
    "document.invalid",
  ],
  ["a runtime input inside a text", "value: 1.4.2", "value: v<+input>", "6:17", /runtime input/, "document.invalid"],
];

for (const [name, piece, replacement, at, message, code = "pipeline.bad_inputs"] of REFUSED) {
  test(`inputs are refused: ${name}`, () => {
    assert.ok(GIVEN.includes(piece));
    const problem = refusal(
      OPENED,
      GIVEN.replace(piece, () => replacement),
    );
    const fault = problem.faults.find((one) => one.line !== undefined);
    assert.match(fault?.message ?? "", message);
    assert.equal(`${fault?.line}:${fault?.column}`, at);
    if (problem.code !== "pipeline.missing_inputs") assert.equal(problem.code, code);
  });
}

const OF_PARALLEL = {
  stages: [
    { stage: { identifier: "build", description: "<+input>.default(b)" } },
    {
      parallel: [
        { stage: { identifier: "east", description: "<+input>.default(e)" } },
        { stage: { identifier: "west", strategy: { matrix: { os: "<+input>.default(a, b)" } } } },
      ],
    },
  ],
};

test("a parallel list is found by the identifiers in it, and a text for a loop is a list", () => {
  const given = (text: string) => merge(OF_PARALLEL, parseDocument(text)).value;
  const [build, east] = OF_PARALLEL.stages;
  const filled = (os: readonly string[]) => ({
    stages: [
      { stage: { ...build?.stage, description: "b" } },
      {
        parallel: [
          { stage: { ...east?.parallel?.[0]?.stage, description: "e" } },
          { stage: { identifier: "west", strategy: { matrix: { os } } } },
        ],
      },
    ],
  });
  const west = (os: string): string =>
    `pipeline: {stages: [{parallel: [{stage: {identifier: west, strategy: {matrix: {os: ${os}}}}}]}]}`;
  assert.deepEqual(merge(OF_PARALLEL, undefined).value, filled(["a", "b"]));
  assert.deepEqual(given(west('"x, y"')), filled(["x", "y"]));
  assert.deepEqual(given(west("[x]")), filled(["x"]));
});

const CHOICES = {
  variables: [
    { name: "one", value: "<+input>.selectOneFrom(a,b)" },
    { name: "many", value: "<+input>.selectManyFrom(a,b,c).default(a)" },
    { name: "version", value: "<+input>.regex(v[0-9]+).default(v1)" },
  ],
};

const chosen = (variables: string) => merge(CHOICES, parseDocument(`pipeline: {variables: [${variables}]}`));
const valuesOf = (variables: string): readonly unknown[] =>
  (chosen(variables).value as typeof CHOICES).variables.map(({ value }) => value);

test("one value or several are chosen, and a pattern is matched", () => {
  assert.deepEqual(valuesOf("{name: one, value: b}"), ["b", "a", "v1"]);
  assert.deepEqual(valuesOf("{name: one, value: b}, {name: many, value: [a, c]}, {name: version, value: v22}"), [
    "b",
    "a,c",
    "v22",
  ]);
  assert.deepEqual(valuesOf('{name: one, value: a}, {name: many, value: "b, c"}')[1], "b, c");
  const faults = chosen('{name: one, value: "a,b"}, {name: many, value: [a, d]}, {name: version, value: v}').faults;
  assert.deepEqual(
    faults.map(({ message }) => message),
    [
      "'a,b' is not one of the allowed values: a, b",
      "'d' is not one of the allowed values: a, b, c",
      "'v' does not match the pattern v[0-9]+",
    ],
  );
});

test("of what the author says, a choice of several values is no part", () => {
  const given = parseDocument("pipeline: {variables: [{name: one, value: b}, {name: many, value: [a, c]}]}");
  const authored = merge(CHOICES, given, { authored: true }).value as typeof CHOICES;
  assert.deepEqual(
    authored.variables.map(({ value }) => value),
    ["b", "a", "v1"],
  );
});
