/** Where expressions may read an output variable of the type Secret. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf } from "./sample.ts";

const PRODUCER = `{step: {type: ShellScript, name: login, identifier: login, spec: {shell: Bash, source: {type: Inline, spec: {script: 'token=x'}}, outputVariables: [{name: token, type: Secret, value: token}, {name: user, type: String, value: user}], outputAlias: {key: auth, scope: Pipeline}}}}`;

const TOKEN = "<+steps.login.output.outputVariables.token>";

type Reader = { readonly script?: string; readonly env?: string; readonly type?: string; readonly more?: string };

/** A pipeline whose second step reads the outputs of the first. */
const reader = ({ script = "true", env = "x", type = "String", more = "" }: Reader): string => `pipeline:
  name: P
  identifier: p
  stages:
    - stage:
        name: s
        identifier: s
        type: Custom
        spec:
          execution:
            steps:
              - ${PRODUCER}
              - step:
                  type: ShellScript
                  name: reader
                  identifier: reader
${more}                  spec:
                    shell: Bash
                    source: {type: Inline, spec: {script: '${script}'}}
                    environmentVariables: [{name: T, type: ${type}, value: '${env}'}]
`;

const TAKEN: readonly Reader[] = [
  { env: TOKEN },
  { env: `Bearer ${TOKEN}` },
  { script: `curl -H "authorization: ${TOKEN}"` },
  { env: "<+execution.steps.login.output.outputVariables.token>" },
  { env: "<+stage.spec.execution.steps.login.output.outputVariables.token>" },
  { env: '<+pipeline.stages.s.spec.execution.steps.login.output.outputVariables["token"]>' },
  { env: '<+exportedVariables.getValue("pipeline.auth.token")>' },
  { env: "<+steps.login.output.outputVariables.user.trim()>" },
  {
    more: `                  when: {stageStatus: Success, condition: '<+steps.login.output.outputVariables.user> == "x"'}\n`,
  },
];

for (const one of TAKEN)
  test(`taken: ${JSON.stringify(one).slice(0, 120)}`, () => assert.deepEqual(faultsOf(reader(one)), []));

const condition = (text: string): string => `                  when: {stageStatus: Success, condition: '${text}'}\n`;

const REFUSED: readonly (readonly [Reader, RegExp])[] = [
  [{ env: "<+steps.login.output.outputVariables.token.trim()>" }, /is a secret: it stands alone/],
  [{ env: `<+steps.login.output.outputVariables.token + "x">` }, /is a secret: it stands alone/],
  [{ env: `<+steps.login_0.output.outputVariables.token + "x">` }, /is a secret: it stands alone/],
  [{ env: `<+stage.spec.execution.steps.login.output.outputVariables.token + "x">` }, /is a secret: it stands alone/],
  [{ env: `<+exportedVariables.getValue("pipeline.auth.token").length()>` }, /is a secret: it stands alone/],
  [{ env: TOKEN, type: "Number" }, /Number takes no secret/],
  [{ script: `echo $(( ${TOKEN} + 1 ))` }, /secret/],
  [{ script: `echo "<+steps.login.output.outputVariables.token.trim()>"` }, /is a secret: it stands alone/],
  [{ more: condition(`${TOKEN} == "x"`) }, /is a secret, and what stands here is stored/],
  [{ more: condition(`<+exportedVariables.getValue("pipeline.auth.token")> != null`) }, /is a secret, and what/],
  [
    { more: `                  strategy: {repeat: {items: '${TOKEN}'}}\n` },
    /is a secret, and what stands here is stored/,
  ],
];

for (const [one, message] of REFUSED)
  test(`refused: ${JSON.stringify(one).slice(0, 120)}`, () => {
    const [fault] = faultsOf(reader(one));
    assert.match(fault?.message ?? "nothing is refused", message);
  });
