import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { stringify } from "yaml";
import { Problem } from "../core/problem.ts";
import { parseDocument } from "../platform/document/document.ts";
import { GIVEN, OPENED, pipelineOf, refusal } from "./document/sample-inputs.ts";
import { referencesIn } from "./document/references.ts";
import { SAMPLE } from "./document/sample.ts";
import type { ShellScriptSpec } from "../steps/shell-script/schema.ts";
import { readPipeline } from "./document/index.ts";
import type { PipelineDocument } from "./document/schema.ts";
import { stepsIn } from "./document/visit.ts";
import { givenInputs, inputTemplate, mergeInputs, runtimeInputs } from "./inputs.ts";

const stepOf = (pipeline: PipelineDocument) => stepsIn(pipeline)[0]?.document;
const specOf = (pipeline: PipelineDocument) => stepOf(pipeline)?.spec as ShellScriptSpec | undefined;

test("runtime inputs are found with what they allow", () => {
  const step = "pipeline.stages[0].stage.spec.execution.steps[0].step";
  assert.deepEqual(
    runtimeInputs(OPENED).toSorted((a, b) => a.path.localeCompare(b.path)),
    [
      { path: "pipeline.delegateSelectors", default: "linux,x64" },
      { path: `${step}.spec.environmentVariables[0].value` },
      { path: `${step}.spec.source.spec.script` },
      { path: `${step}.timeout`, default: "10m" },
      {
        path: "pipeline.stages[0].stage.spec.infrastructure.environmentRef",
        default: "staging",
        allowed: ["staging", "production"],
      },
      { path: "pipeline.variables[0].value" },
      { path: "pipeline.variables[1].value", default: "3" },
    ],
  );
});

test("given values and defaults take the places of the runtime inputs", () => {
  const merged = mergeInputs(OPENED, GIVEN);
  assert.deepEqual(runtimeInputs(merged), []);
  assert.deepEqual(
    merged.variables?.map(({ value }) => value),
    ["1.4.2", "3", "as it is"],
  );
  assert.deepEqual(merged.delegateSelectors, ["linux", "x64"]);
  assert.equal(referencesIn(merged).find(({ kind }) => kind === "environment")?.value, "staging");
  assert.equal(specOf(merged)?.source.spec.script, 'echo "$WHO"');
  assert.equal(specOf(merged)?.environmentVariables?.[0]?.value, "<+trigger.payload.who>");
  assert.equal(stepOf(merged)?.timeout, "10m");
});

test("inputs come as YAML, as JSON, or read already", () => {
  const doc = parseDocument(GIVEN);
  assert.deepEqual(mergeInputs(OPENED, doc), mergeInputs(OPENED, GIVEN));
  assert.deepEqual(mergeInputs(OPENED, JSON.stringify(doc.value), { format: "json" }), mergeInputs(OPENED, GIVEN));
});

test("a pipeline without runtime inputs needs no input", () => {
  const fixed = pipelineOf(SAMPLE);
  for (const input of [undefined, "", " \n", "pipeline:\n", "pipeline: {identifier: sample_deployment}\n", "{}\n"]) {
    assert.deepEqual(mergeInputs(fixed, input), fixed);
  }
  assert.equal(inputTemplate(fixed), undefined);
});

const STEP = "pipeline.stages[0].stage.spec.execution.steps[0].step";
const MISSING = [
  "pipeline.variables[0].value",
  `${STEP}.spec.source.spec.script`,
  `${STEP}.spec.environmentVariables[0].value`,
];

test("each path without a value is named, in one problem", () => {
  for (const input of [undefined, "pipeline:\n  variables:\n    - {name: version, value: }\n", inputTemplate(OPENED)]) {
    const problem = refusal(OPENED, input);
    assert.deepEqual([problem.code, problem.status, problem.wire], ["pipeline.missing_inputs", 400, "INVALID_REQUEST"]);
    assert.deepEqual(problem.faults.map(({ path }) => path).toSorted(), MISSING.toSorted());
    for (const path of MISSING) assert.ok(problem.message.includes(path), problem.message);
    assert.match(problem.message, /pipeline\.variables\[0\]\.value \(version\)/);
  }
});

test("a variable's own default and `required: false` speak when nothing is given", () => {
  const variable = (text: string) =>
    pipelineOf(SAMPLE.replace("  tags: {}\n", `  variables:\n    - {name: v, type: String, ${text}}\n`));
  const valueOf = (text: string, input?: string) => mergeInputs(variable(text), input).variables?.[0]?.value;
  assert.equal(valueOf("value: <+input>, default: x"), "x");
  assert.equal(valueOf("value: <+input>.default(y), default: x"), "y");
  assert.equal(valueOf("value: <+input>, required: false"), "");
  assert.equal(valueOf("value: <+input>", "pipeline: {variables: [{name: v, value: ''}]}"), "");
  assert.equal(refusal(variable("value: <+input>, required: true"), undefined).code, "pipeline.missing_inputs");
  assert.equal(
    refusal(variable("value: <+input>, required: true"), "pipeline: {variables: [{name: v, value: ''}]}").code,
    "pipeline.bad_inputs",
  );
});

test("inputs that are no document are refused as such", () => {
  assert.equal(refusal(OPENED, "pipeline: {").code, "document.not_yaml");
  assert.equal(refusal(OPENED, "[".repeat(1_000)).code, "document.too_complex");
});

test("the template has the runtime inputs and what says where they belong", () => {
  assert.equal(
    inputTemplate(pipelineOf(SAMPLE.replace("environmentRef: staging", "environmentRef: <+input>"))),
    `pipeline:
  identifier: sample_deployment
  stages:
    - stage:
        identifier: deploy
        type: Deployment
        spec:
          infrastructure:
            environmentRef: <+input>
`,
  );
});

test("property: a filled-in template gives each input its value, whatever the text", () => {
  const text = fc.string({ unit: fc.constantFrom(..."aB1 :#-'\"|>{}[],&*!%@`\\$\n".split("")), maxLength: 30 });
  const property = fc.property(text, text, (version, who) => {
    const template = parseDocument(inputTemplate(OPENED) ?? "").value as {
      pipeline: {
        variables: { name: string; value: unknown }[];
        stages: {
          stage: {
            spec: {
              execution: {
                steps: {
                  step: { spec: { source: { spec: { script: string } }; environmentVariables: { value: string }[] } };
                }[];
              };
            };
          };
        }[];
      };
    };
    const { pipeline } = template;
    const [variable] = pipeline.variables;
    const step = pipeline.stages[0]?.stage.spec.execution.steps[0]?.step;
    assert.ok(variable && step?.spec.environmentVariables[0]);
    variable.value = version;
    step.spec.environmentVariables[0].value = who;
    step.spec.source.spec.script = "true";
    // Quoted: a block scalar of white space alone is written by the library so that it reads back as another.
    const merged = mergeInputs(OPENED, stringify(template, { defaultStringType: "QUOTE_DOUBLE" }));
    assert.deepEqual([merged.variables?.[0]?.value, specOf(merged)?.environmentVariables?.[0]?.value], [version, who]);
    assert.deepEqual(runtimeInputs(merged), []);
  });
  fc.assert(property, { numRuns: 150 });
});

test("property: nothing but a Problem is thrown, whatever is given", () => {
  const key = fc.constantFrom(
    "pipeline",
    "stages",
    "stage",
    "variables",
    "name",
    "value",
    "identifier",
    "spec",
    "__proto__x",
    "delegateSelectors",
  );
  const leaf = fc.constantFrom<unknown>("version", "deploy", "<+input>", "x", 1, true, null);
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5 },
      leaf,
      fc.array(tie("tree"), { maxLength: 3 }),
      fc.dictionary(key, tie("tree"), { maxKeys: 4 }),
    ),
  }));
  const property = fc.property(tree, (value) => {
    try {
      mergeInputs(OPENED, stringify({ pipeline: value }, { aliasDuplicateObjects: false }));
    } catch (error) {
      assert.ok(error instanceof Problem, String(error));
    }
  });
  fc.assert(property, { numRuns: 300 });
});

test("values written into the template are the values that a run reads from it", () => {
  const script = fc.string({ unit: "binary" }).map((text) => text.replace(/^<\+|\0/g, "").toWellFormed());
  const selectors = fc.array(fc.constantFrom("linux", "x64", "1", "true", "~"), { maxLength: 4 });
  fc.assert(
    fc.property(script, selectors, fc.constantFrom("1.10", "true", "", " a ", "- b", "é\n"), (who, tags, version) => {
      const doc = parseDocument(
        JSON.stringify({
          pipeline: {
            delegateSelectors: tags,
            variables: [
              { name: "version", value: version },
              { name: "replicas", value: 7 },
            ],
          },
        }),
      );
      const step = parseDocument(
        GIVEN.replace('script: echo "$WHO"', "script: echo").replace("<+trigger.payload.who>", "w"),
      );
      const values = new Map([...givenInputs(OPENED, step), ...givenInputs(OPENED, doc)]);
      const path = [...values.keys()].find((key) => key.endsWith("environmentVariables[0].value")) ?? "";
      const merged = mergeInputs(OPENED, inputTemplate(OPENED, values.set(path, who)));
      assert.equal(specOf(merged)?.environmentVariables?.[0]?.value, who);
      assert.deepEqual(merged.delegateSelectors, tags);
      assert.deepEqual(
        merged.variables?.map(({ value }) => value),
        [version, 7, "as it is"],
      );
    }),
  );
});

test("inputs that leave some open: what is given has to fit, what is not given is not missed", () => {
  const values = givenInputs(OPENED, parseDocument("pipeline: {variables: [{name: version, value: v}]}"));
  assert.deepEqual([...values], [["pipeline.variables[0].value", "v"]]);
  assert.deepEqual([...givenInputs(OPENED, parseDocument(inputTemplate(OPENED) ?? ""))], []);
  for (const text of ["{stages: []}", "{variables: []}", "{}"])
    assert.equal(givenInputs(OPENED, parseDocument(`pipeline: ${text}`)).size, 0, text);
  const bad = (text: string): string => {
    try {
      givenInputs(OPENED, parseDocument(`pipeline: ${text}`));
    } catch (error) {
      return error instanceof Problem ? error.code : String(error);
    }
    return "taken";
  };
  assert.equal(bad("{variables: [{name: fixed, value: x}]}"), "pipeline.bad_inputs");
  assert.equal(bad("{variables: [{name: replicas, value: x}]}"), "document.invalid");
  assert.equal(bad("{variables: [{name: version, value: 1.10}]}"), "document.invalid");
  assert.equal(bad("{delegateSelectors: linux}"), "document.invalid");
});

/** One stage whose pipeline declares a variable of the type Secret, and takes a free text and a script. */
const ASKING = `pipeline:
  name: asking
  identifier: asking
  orgIdentifier: default
  projectIdentifier: shop
  variables:
    - { name: token, type: Secret, value: <+input> }
    - { name: text, type: String, value: <+input>.default(none) }
  stages:
    - stage:
        name: Build
        identifier: build
        type: Deployment
        spec:
          serviceConfig: { serviceRef: web }
          infrastructure: { environmentRef: staging }
          execution:
            steps:
              - step:
                  type: ShellScript
                  name: Go
                  identifier: go
                  spec:
                    shell: Bash
                    source: { type: Inline, spec: { script: <+input>.default(echo <+secrets.getValue("own")>) } }
                    environmentVariables:
                      - { name: WHO, type: String, value: <+input>.default(<+secrets.getValue("own")>) }
                      - { name: KEY, type: Secret, value: <+input> }
        failureStrategies: []
`;

test("a free-text input asks for no secret, by name or by a variable; the pipeline's own text and inputs of the type Secret do", () => {
  const { pipeline } = readPipeline(ASKING, { orgIdentifier: "default", projectIdentifier: "shop" });
  const given = (step: string): string => `pipeline:
  identifier: asking
  variables: [{ name: token, type: Secret, value: account.token }]
  stages:
    - stage:
        identifier: build
        spec:
          execution:
            steps:
              - step:
                  identifier: go
                  spec:
                    environmentVariables: [{ name: KEY, value: key }${step}
`;
  const merged = mergeInputs(pipeline, given("]"));
  assert.equal(specOf(merged)?.environmentVariables?.[0]?.value, '<+secrets.getValue("own")>', "the author's");
  const who = "pipeline.stages[0].stage.spec.execution.steps[0].step.spec.environmentVariables[0].value";
  const script = "pipeline.stages[0].stage.spec.execution.steps[0].step.spec.source.spec.script";
  const inWho = (text: string): string => given(`, { name: WHO, value: '${text}' }]`);
  const inScript = (text: string): string => given(`]\n                    source: { spec: { script: '${text}' } }`);
  for (const [input, path] of [
    [inWho('<+secrets.getValue("own")>'), who],
    [inWho('x <+secrets.getAsFile( "account.other" )> y'), who],
    [inWho("<+pipeline.variables.token>"), who],
    [inScript('curl <+secrets.getValue("account.other")>'), script],
    [inScript("curl <+pipeline.variables.token>"), script],
  ] as const)
    for (const merge of [() => mergeInputs(pipeline, input), () => givenInputs(pipeline, parseDocument(input))])
      assert.throws(merge, ({ code, status, faults, message }: Problem) => {
        assert.deepEqual([code, status, faults.map((fault) => fault.path)], ["pipeline.secret_in_input", 400, [path]]);
        assert.match(message, new RegExp(`only where the pipeline declares the type Secret: ${RegExp.escape(path)}`));
        assert.ok(faults[0]?.line, "with its place in the input");
        return true;
      });
  // Names that are computed, or that stand in another expression, are no way in either.
  for (const text of [
    '<+secrets.getValue("o" + "wn")>',
    "<+secrets.getValue(<+pipeline.name>)>",
    '<+secrets.getValue("own").length()>',
    '<+true ? secrets.getValue("own") : "x">',
    "<+pipeline.variables.token.length()>",
  ])
    for (const input of [inWho(text), inScript(text)]) assert.throws(() => mergeInputs(pipeline, input), Problem, text);
});
