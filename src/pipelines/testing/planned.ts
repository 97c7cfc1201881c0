/** A pipeline with everything that a plan shows, for tests. */
const step = (indent: number, identifier: string, more = "", script = "true"): string => {
  const fields = [`type: ShellScript`, `name: ${identifier}`, `identifier: ${identifier}`, ...more.split("\n")];
  const spec = ["spec:", "  shell: Bash", `  source: { type: Inline, spec: { script: '${script}' } }`];
  const own = fields.filter((line) => line !== "");
  const lines = [...own, ...(own.some((line) => line === "spec:") ? [] : spec)];
  const margin = " ".repeat(indent);
  return `${margin}- step:\n${lines.map((line) => `${margin}    ${line}\n`).join("")}`;
};

const SELECTED = `timeout: <+pipeline.variables.go>
spec:
  shell: Bash
  source: { type: Inline, spec: { script: 'echo "<+pipeline.variables.token>"' } }
  delegateSelectors: [own]`;

export const PLANNED = `pipeline:
  name: Planned
  identifier: planned
  timeout: 1h
  delegateSelectors: [linux]
  flowControl: { barriers: [{ identifier: all, name: All }] }
  variables:
    - { name: go, type: String, value: <+input> }
    - { name: token, type: Secret, value: org.token }
  stages:
    - stage:
        name: Deploy
        identifier: deploy
        type: Deployment
        strategy:
          matrix: { os: [a, b], size: [s, l], exclude: [{ os: b, size: l }], maxConcurrency: 2 }
        failureStrategies: [{ onFailure: { errors: [AllErrors], action: { type: StageRollback } } }]
        spec:
          serviceConfig: { serviceRef: web }
          infrastructure:
            environmentRef: staging
            infrastructureDefinition:
              type: KubernetesDirect
              spec: { connectorRef: cluster, namespace: web, releaseName: r }
          execution:
            steps:
${step(14, "first", `when: { stageStatus: All, condition: "<+pipeline.variables.go> == 'yes'" }`)}              - parallel:
${step(18, "left", SELECTED)}${step(18, "right", "", 'echo "<+secrets.getValue("account.key")>"')}              - stepGroup:
                  name: group
                  identifier: group
                  strategy: { repeat: { times: <+input> } }
                  steps:
${step(20, "inside")}            rollbackSteps:
${step(14, "undo")}    - stage:
        name: After
        identifier: after
        type: Approval
        spec:
          execution:
            steps:
${step(14, "last")}`;
