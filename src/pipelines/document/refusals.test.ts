import assert from "node:assert/strict";
import { test } from "node:test";
import { changed, faultsOf, SAMPLE } from "./sample.ts";

/** `¦` in a replacement stands where the fault is expected; it is taken out before reading. */
function placeOf(text: string): { readonly at: string; readonly clean: string } {
  const offset = text.indexOf("¦");
  assert.ok(offset >= 0);
  const before = text.slice(0, offset).split("\n");
  return { at: `${before.length}:${(before.at(-1) ?? "").length + 1}`, clean: text.replace("¦", "") };
}

const STAGE = "        type: Deployment\n";
const STEP = "                  type: ShellScript\n";
const SPEC = "                    shell: Bash\n";
const SCRIPT = '                          echo "hello"\n';
const ENVIRONMENT = "environmentVariables: []";
const OUTPUTS = "outputVariables: []";

const env = (entry: string): string => `environmentVariables:\n                      - ${entry}`;
const out = (entry: string): string => `outputVariables:\n                      - ${entry}`;
const script = (line: string): string => `                          ${line}\n${SCRIPT}`;

type Row = readonly [piece: string, replacement: string, message: string | RegExp];

/** Fields that the wider language has: each named in its own fault, which is the only one. */
const fields = (piece: string, indent: number, ...names: readonly string[]): readonly Row[] =>
  names.map((name) => [piece, `${piece}${" ".repeat(indent)}¦${name}: {x: 1}\n`, `'${name}' is not supported yet`]);

const TARGETED = "executionTarget: {}";
const RUNS = SAMPLE.slice(SAMPLE.indexOf("onDelegate: true"), SAMPLE.indexOf(TARGETED) + TARGETED.length);
const HOST_RULE = /^A host is a name or an address/;
const FREE_RULE =
  /^The author of a pipeline chooses the host that gets the login, not the person who runs it: add \.allowedValues\(…\)/;
const LOGIN_RULE = /^The connectorRef of an executionTarget is the reference of an SSH credential/;

/** The step runs on a host. */
const remotely = (target: string, message: Row[2], more: (runs: string) => string = (runs) => runs): readonly Row[] => [
  [
    RUNS,
    more(RUNS.replace("onDelegate: true", "onDelegate: false").replace(TARGETED, `executionTarget: ${target}`)),
    message,
  ],
];

const TARGET = SAMPLE.slice(SAMPLE.indexOf("          serviceConfig:"), SAMPLE.indexOf("          execution:\n"));

/** The stage has no service and no infrastructure. */
const withoutTarget = (type: string, line: string, message: Row[2]): readonly Row[] => [
  [
    SAMPLE.slice(SAMPLE.indexOf(STAGE), SAMPLE.indexOf(SCRIPT) + SCRIPT.length),
    SAMPLE.slice(SAMPLE.indexOf(STAGE), SAMPLE.indexOf(SCRIPT))
      .replace("type: Deployment", `type: ${type}`)
      .replace(TARGET, "") + script(line).replace(SCRIPT, ""),
    message,
  ],
];

/** The stage runs another pipeline. */
const chained = (spec: string, message: Row[2]): readonly Row[] => [
  [
    SAMPLE.slice(SAMPLE.indexOf(STAGE), SAMPLE.indexOf("        tags: {}\n        failureStrategies")),
    `        type: Pipeline\n        spec:\n          org: default\n          project: shop\n          ${spec}\n`,
    message,
  ],
];

const NAMESPACE_RULE = /^A namespace has lower-case letters, digits and -/;

const INFRASTRUCTURE: readonly Row[] = [
  ["namespace: web", "namespace: ¦Web", NAMESPACE_RULE],
  ["namespace: web", "namespace: ¦web-", NAMESPACE_RULE],
  ["namespace: web", `namespace: ¦${"a".repeat(64)}`, NAMESPACE_RULE],
  ["releaseName: web-release", "releaseName: ¦a b", /^A release name has letters/],
  ["namespace: web", "namespace: <+¦infra.namespace>", "'infra.namespace' refers to itself"],
  ["namespace: web", "namespace: <+infra.¦name>", /this version has no value for 'infra\.name'/],
  ["namespace: web", "namespace: <+¦nonsense.x>", /nonsense/],
  [
    "namespace: web",
    "namespace: w-<+¦execution.steps.greet.status>",
    /^An infrastructure cannot read 'execution\.steps/,
  ],
  ["namespace: web", "namespace: <+¦secrets.getValue('account.x')>", /./],
];

const LATER: readonly Row[] = [
  ...fields("  tags: {}\n", 2, "properties", "notificationRules", "fixedInputsOnRerun", "template"),
  ["    - stage:\n", "    - ¦insert: {}\n    - stage:\n", "'insert' is not supported yet"],
  ...fields(STAGE, 8, "runMode", "skipInstances", "template"),
  ...fields(
    "        spec:\n",
    10,
    "service",
    "services",
    "environment",
    "environments",
    "environmentGroup",
    "gitOpsEnabled",
  ),
  [
    "          serviceConfig:\n            serviceRef: web",
    "          ¦service:\n            serviceRef: web",
    "'service' is not supported yet",
  ],
  ...fields("                variables: []\n", 16, "artifacts", "manifests", "configFiles"),
  ...fields("            serviceRef: web\n", 12, "useFromStage", "stageOverrides"),
  ...fields("            environmentRef: staging\n", 12, "infrastructureKey", "environment"),
  ["              - step:\n", "              - ¦insert: {}\n              - step:\n", "'insert' is not supported yet"],
  ...fields(STEP, 18, "enforce", "template"),
  [
    `${STEP}                  name: Greet\n`,
    "                  ¦template: {templateRef: x}\n                  name: Greet\n",
    "'template' is not supported yet",
  ],
  ...fields(SPEC, 20, "includeInfraSelectors"),
  [
    "onDelegate: true",
    "onDelegate: ¦false",
    "A step with onDelegate: false needs executionTarget.host and executionTarget.connectorRef",
  ],
  ...remotely(
    "{host: web1, connectorRef: ssh}",
    /^secrets\.getAsFile gives the path of a file on the delegate/,
    (runs) => runs.replace('echo "hello"', 'cat "¦<+secrets.getAsFile("account.key")>"'),
  ),
  ...remotely("{host: web1, connectorRef: ssh}", /^secrets\.getAsFile/, (runs) =>
    runs.replace(ENVIRONMENT, env('{name: A, type: String, value: ¦<+secrets.getAsFile("account.key")>}')),
  ),
  ["executionTarget: {}", "executionTarget: {host: ¦web1}", "'host' is for steps with onDelegate: false"],
  [
    "executionTarget: {}",
    "executionTarget: {connectorRef: ¦ssh}",
    "'connectorRef' is for steps with onDelegate: false",
  ],
  [
    "executionTarget: {}",
    "executionTarget: {workingDirectory: ¦/srv}",
    "'workingDirectory' is for steps with onDelegate: false",
  ],
  ...remotely("{host: ¦-oProxyCommand=id, connectorRef: ssh}", HOST_RULE),
  ...remotely("{host: ¦root@web1, connectorRef: ssh}", HOST_RULE),
  ...remotely("{host: '¦web1:22', connectorRef: ssh}", HOST_RULE),
  ...remotely("{host: '¦web1 -v', connectorRef: ssh}", HOST_RULE),
  ...remotely("{host: ¦.web1, connectorRef: ssh}", HOST_RULE),
  ...remotely("{host: web1, connectorRef: ¦<+pipeline.variables.login>}", LOGIN_RULE),
  ...remotely("{host: web1, connectorRef: ¦a/b}", LOGIN_RULE),
  ...remotely(
    "{host: <+¦trigger.payload.host>, connectorRef: ssh}",
    /^Callers of a webhook say what the trigger holds, and the author of a pipeline chooses the host/,
  ),
  ...remotely(
    "{host: <+¦execution.steps.greet.output.outputVariables.host>, connectorRef: ssh}",
    /^A step says what it puts out/,
  ),
  ...remotely("{host: ¦<+input>, connectorRef: ssh}", FREE_RULE),
  ...remotely("{host: ¦<+input>.default(web1), connectorRef: ssh}", FREE_RULE),
  ...remotely('{host: "¦<+input>.allowedValues(web1,-oProxyCommand=id)", connectorRef: ssh}', HOST_RULE),
  ...remotely(
    '{host: "¦<+input>.allowedValues(web1,<+trigger.payload.host>)", connectorRef: ssh}',
    /^Callers of a webhook/,
  ),
  ...remotely(
    '{host: web1, connectorRef: ssh, workingDirectory: "¦/srv\\n"}',
    "A working directory has 1 to 4096 characters, none of them a control character",
  ),
  ["shell: Bash", "shell: ¦PowerShell", "Shell 'PowerShell' is not supported yet"],
  ["type: ShellScript", "type: ¦Policy", "Step type 'Policy' is not supported yet"],
  ["type: ShellScript", "type: ¦JiraApproval", "Step type 'JiraApproval' is not supported yet"],
  ["type: ShellScript", "type: ¦K8sRollingDeploy", "Step type 'K8sRollingDeploy' is not supported yet"],
  ...withoutTarget(
    "Approval",
    'echo "<+¦infra.namespace>"',
    /^'infra.namespace' has no value here: a stage of type Approval/,
  ),
  ...withoutTarget(
    "Custom",
    'echo "a <+¦INFRA_KEY>"',
    /^'INFRA_KEY' has no value here: a stage of type Custom has no infra/,
  ),
  ...withoutTarget(
    "Custom",
    'echo "<+pipeline.name + ¦INFRA_KEY_SHORT_ID>"',
    /^'INFRA_KEY_SHORT_ID' has no value here/,
  ),
  ...withoutTarget(
    "Custom",
    'echo "<+¦env.name>"',
    "'env.name' has no value here: a stage of type Custom has no environment",
  ),
  ...withoutTarget(
    "Custom",
    'echo "<+¦service.name>"',
    "'service.name' has no value here: a stage of type Custom has no service",
  ),
  ["type: Deployment", "type: ¦CI", "Stage type 'CI' is not supported yet"],
  ...chained("pipeline: child\n          ¦pipelineInputs: {}", "'pipelineInputs' is not supported yet"),
  ...chained("pipeline: child\n          ¦execution: {}", "'execution' is not supported yet"),
  ...chained("pipeline: ¦<+input>", "A runtime input is not allowed here"),
  ...chained("pipeline: ¦a b", /^An identifier has letters/),
  ...chained(
    "pipeline: child\n          inputs: {stages: [{stage: {identifier: s, when: {condition: ¦<+pipeline.name>}}}]}",
    /^An expression may only be the value of a variable of the chained pipeline/,
  ),
  ...[
    "{variables: [{name: a, type: Secret, value: ¦x}]}",
    "{variables: [{name: a, type: Secret, value: ¦<+input>}]}",
    "{stages: [{stage: {identifier: t, type: Custom, spec: {executionTarget: {connectorRef: ¦x}}}}]}",
  ].flatMap((inputs) =>
    chained(
      `pipeline: child\n          inputs: {stages: [{stage: {identifier: s, type: Pipeline, spec: {inputs: ${inputs}}}}]}`,
      /^A secret or credential for a pipeline that the chained pipeline runs/,
    ),
  ),
  ...chained(
    "pipeline: child\n          inputs: {variables: [{name: a, type: String, value: <+pipeline.¦nmae>}]}",
    /pipeline has no 'nmae'/,
  ),
  ...chained(
    "pipeline: child\n          inputs: {variables: [{name: a, type: String, value: ¦<+input>.regex(}]}",
    /is not closed/,
  ),
  ...chained(
    "pipeline: child\n          inputs: {variables: [{name: a, type: String, value: <+¦secrets.getValue('account.x')>}]}",
    /a secret stands alone/,
  ),
  ...chained(
    "pipeline: child\n          inputs: {variables: [{name: a, type: String, value: <+¦infra.namespace>}]}",
    /^'infra.namespace' has no value here: a stage of type Pipeline/,
  ),
  ...chained(
    "pipeline: child\n          outputs: [{name: a, value: <+¦steps.greet.status>}]",
    /^An output cannot read 'steps.greet.status': it sees the chained pipeline/,
  ),
  ...chained(
    "pipeline: child\n          outputs: [{name: a, value: <+¦matrix.x>}]",
    /^An output cannot read 'matrix.x'/,
  ),
  ...chained("pipeline: child\n          outputs: [{name: a, value: <+¦nonsense>}]", /there is no 'nonsense'/),
  ...chained(
    "pipeline: child\n          outputs: [{name: a, value: x}, {name: ¦a, value: y}]",
    "The variable name 'a' is given twice",
  ),
  ["type: Kubernetes\n", "type: ¦Ssh\n", "Service type 'Ssh' is not supported yet"],
  ["type: KubernetesDirect", "type: ¦KubernetesGcp", "Infrastructure type 'KubernetesGcp' is not supported yet"],
  [
    "          serviceConfig:",
    "          deploymentType: ¦ECS\n          serviceConfig:",
    "Deployment type 'ECS' is not supported yet",
  ],
  ["- AllErrors", "- ¦PluginImageFailure", "Failure error 'PluginImageFailure' is not supported yet"],
  [
    "- AllErrors\n              action:\n                type: StageRollback",
    "- InputTimeoutError\n              action:\n                type: ¦ProceedWithDefaultValues",
    "ProceedWithDefaultValues needs an input with .executionInput() and a default",
  ],
  ["type: StageRollback", "type: StageRollback\n                ¦spec: {}", "'spec' is not supported yet"],
  [
    "  tags: {}\n",
    "  variables: [{name: a, type: Secret, value: ¦a b}]\n",
    "A value of the type Secret is the reference of a secret, as in account.name, org.name or name",
  ],
  [
    "  tags: {}\n",
    "  delegateSelectors: [¦<+pipeline.name>]\n",
    "Expressions in delegateSelectors are not supported yet",
  ],
  ["timeout: 10m", "timeout: <+¦nonsense.t>", /there is no 'nonsense'/],
  ["timeout: 10m", 'timeout: <+¦secrets.getValue("account.x")>', /a secret stands alone/],
  [
    "serviceRef: web",
    "serviceRef: ¦<+input>.selectManyFrom(a,b).default(c)",
    "The default 'c' is not one of the allowed values: a, b",
  ],
  [
    "namespace: web",
    "namespace: ¦<+input>.selectOneFrom(a,b).default(c)",
    "The default 'c' is not one of the allowed values: a, b",
  ],
];

const WRONG: readonly Row[] = [
  ['        description: ""', "        description: ¦<+input>.default(a", /^'.default\(' is not closed/],
  ["  tags: {}\n", "  ¦colour: red\n", /^Unknown field 'colour'\. Allowed here: name, identifier, orgIdentifier/],
  [
    STAGE,
    `${STAGE}        ¦parrallel: 1\n`,
    /^Unknown field 'parrallel'\. Allowed here: type, name, identifier, description/,
  ],
  [
    STEP,
    `${STEP}                  ¦scrpt: 1\n`,
    /^Unknown field 'scrpt'\. Allowed here: type, name, identifier, description, when, strategy, failureStrategies, timeout, spec$/,
  ],
  [SPEC, `${SPEC}                    ¦env: 1\n`, /^Unknown field 'env'/],
  ["type: ShellScript", "type: ¦Sleep", /^Unknown step type 'Sleep'\. Allowed: ShellScript, /],
  ["type: Deployment", "type: ¦<+input>", "A runtime input is not allowed here"],
  ["shell: Bash", "shell: ¦zsh", "Unknown shell 'zsh'. Allowed: Bash"],
  ["name: Greet", "name: ¦5", "Expected a string, got 5; write it in quotes"],
  ["name: Greet", "name: ¦true", "Expected a string, got true; write it in quotes"],
  ["name: Greet", "name: ¦<+input>", "A runtime input is not allowed here"],
  ["name: Greet", "name: ¦'sh; rm'", /^A name has letters/],
  ["identifier: greet", "identifier: ¦<+input>", "A runtime input is not allowed here"],
  ["identifier: greet", "identifier: ¦my-step", /^An identifier has letters/],
  ["identifier: greet", `identifier: ¦${"a".repeat(129)}`, /^An identifier has letters/],
  ["identifier: greet", "identifier: ¦status", "'status' is a reserved word and cannot be an identifier"],
  ["identifier: greet", "identifier: ¦stepGroup", /reserved word/],
  ["identifier: greet", "identifier: ¦__proto__", /reserved word/],
  ["identifier: deploy", "identifier: ¦constructor", /reserved word/],
  ["identifier: greet", "identifier: ¦", "Expected a string, got nothing"],
  ["timeout: 10m", "timeout: ¦9s", "A timeout is at least 10s, not '9s'"],
  ["timeout: 10m", "timeout: ¦500ms", "Milliseconds are not allowed in a timeout: '500ms'"],
  ["timeout: 10m", "timeout: ¦soon", /^A timeout is written like 10m/],
  ["timeout: 10m", "timeout: ¦60", /^A timeout is written like 10m/],
  ["  tags: {}\n", "  tags: {a: ¦1}\n", "Expected a string, got 1; write it in quotes"],
  ["  tags: {}\n", "  delegateSelectors: ¦linux\n", "Expected a list of strings, got text"],
  ["  tags: {}\n", "  delegateSelectors: [¦'']\n", "At least 1 character needed"],
  ["  tags: {}\n", "  variables: [{name: ¦a b, type: String, value: x}]\n", /^A variable name has letters/],
  ["  tags: {}\n", "  variables: [{name: a, type: Number, value: ¦many}]\n", /^Expected a number: its type is Number/],
  ["  tags: {}\n", "  variables: [{name: a, type: Number, value: ¦true}]\n", /^Expected a number: its type is Number/],
  [
    "  tags: {}\n",
    "  variables: [{name: a, type: Number, value: ¦'007'}]\n",
    /has a leading zero, which Bash reads as octal$/,
  ],
  ["  tags: {}\n", "  variables: [{name: a, type: Number, value: ¦'0x1F'}]\n", /^Expected a number/],
  ["  tags: {}\n", "  variables: [{name: a, type: Number, value: ¦' 5'}]\n", /^Expected a number/],
  [
    "  tags: {}\n",
    "  variables: [{name: a, type: Number, value: ¦'<+input>.allowedValues(1,x)'}]\n",
    /^Expected a number/,
  ],
  ["  tags: {}\n", "  variables: [{name: a, type: Number, value: ¦<+input>.default(x)}]\n", /^Expected a number/],
  ["  tags: {}\n", "  variables: [{name: a, type: Number, value: <+input>, default: ¦x}]\n", /^Expected a number/],
  [
    "  tags: {}\n",
    "  variables: [{name: a, type: String, value: '<+input>.allowedValues(dev,qa)', default: ¦prod}]\n",
    "The default 'prod' is not one of the allowed values: dev, qa",
  ],
  [
    ENVIRONMENT,
    env("{name: A, type: Number, value: ¦<+secrets.getValue('account.x')>}"),
    /^The type Number takes no secret/,
  ],
  ["  tags: {}\n", "  variables: [{name: a, type: String, value: ¦[x]}]\n", "Expected a string, got a list"],
  [
    "  tags: {}\n",
    "  variables: [{name: a, type: String, value: ¦1.10}]\n",
    "Write '1.10' in quotes: unquoted, it is read as 1.1",
  ],
  [
    "  tags: {}\n",
    "  variables: [{name: a, type: String, value: ¦TRUE}]\n",
    "Write 'TRUE' in quotes: unquoted, it is read as true",
  ],
  [ENVIRONMENT, env("{name: ¦A-B, type: String, value: x}"), /^A name for Bash/],
  [ENVIRONMENT, env("{name: ¦RAILHEAD_EXPR_1, type: String, value: x}"), /kept for the platform/],
  [OUTPUTS, out("{name: a, type: String, value: ¦a b}"), /^A name for Bash/],
  [
    "allowSimultaneousDeployments: false",
    "allowSimultaneousDeployments: ¦never",
    "Expected true or false, got 'never'",
  ],
  [
    SAMPLE.slice(SAMPLE.indexOf("            steps:"), SAMPLE.indexOf("            rollbackSteps:")),
    "            steps: ¦[]\n",
    "At least 1 item needed",
  ],
  [SAMPLE.slice(SAMPLE.indexOf("    - stage:")), "    ¦[]\n", "At least 1 item needed"],
  [
    "type: StageRollback\n",
    "type: StageRollback\n          - onFailure: {errors: [¦AllErrors], action: {type: StageRollback}}\n",
    "The failure error 'AllErrors' is given twice",
  ],
  [
    "      rollbackSteps: []",
    `      rollbackSteps:
              - step: {type: ShellScript, name: x, identifier: ¦greet, spec: {shell: Bash, source: {type: Inline, spec: {script: x}}}}`,
    "The step identifier 'greet' is given twice",
  ],
  [
    ENVIRONMENT,
    env("{name: A, type: String, value: x}\n                      - {name: ¦A, type: String, value: y}"),
    "The variable name 'A' is given twice",
  ],
  [
    "  tags: {}\n",
    "  variables: [{name: a, type: String, value: x}, {name: ¦a, type: String, value: y}]\n",
    "The variable name 'a' is given twice",
  ],
  [ENVIRONMENT, env("{name: A, type: String, value: x <+pipeline.¦}"), /not valid/],
  [ENVIRONMENT, env("{name: A, type: String, value: x-<+¦input>}"), /runtime input/],
  ["  tags: {}\n", "  variables: [{name: a, type: String, value: '<+¦nonsense.x>'}]\n", /nonsense/],
  [
    "  tags: {}\n",
    "  variables: [{name: a, type: String, value: 'v<+¦execution.steps.greet.output.outputVariables.x>'}]\n",
    /cannot read 'execution\.steps\.greet/,
  ],
  [SCRIPT, script("eval '¦<+pipeline.name>'"), /./],
  [SCRIPT, script('echo "<+¦nonsense.name>"'), /nonsense/],
  [SCRIPT, script('echo "<+¦input>"'), /runtime input/],
];

for (const [piece, replacement, message] of [...LATER, ...INFRASTRUCTURE, ...WRONG]) {
  test(`refused: ${replacement
    .trim()
    .split("\n")
    .find((line) => line.includes("¦"))
    ?.trim()
    .slice(0, 80)} (${String(message).slice(0, 60)})`, () => {
    const { at, clean } = placeOf(changed(piece, replacement));
    const faults = faultsOf(clean);
    assert.equal(faults.length, 1, JSON.stringify(faults));
    const [fault] = faults;
    assert.equal(fault?.at, at, fault?.message ?? "no fault");
    if (typeof message === "string") assert.equal(fault?.message, message);
    else assert.match(fault?.message ?? "", message);
    assert.match(fault?.path ?? "", /^pipeline\./);
  });
}
