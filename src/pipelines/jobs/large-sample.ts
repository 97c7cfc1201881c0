/** Pipelines of many nodes, for tests. */

const step = (nth: number): string => `              - step:
                  name: Step ${nth}
                  identifier: step${nth}
                  type: ShellScript
                  timeout: 5m
                  spec:
                    shell: Bash
                    onDelegate: true
                    source:
                      type: Inline
                      spec:
                        script: |
                          echo "<+pipeline.variables.who> ${nth}"
                          echo two
`;

const stage = (nth: number, steps: number): string => `    - stage:
        name: Stage ${nth}
        identifier: stage${nth}
        type: Deployment
        spec:
          serviceConfig:
            serviceRef: s
          infrastructure:
            environmentRef: e
          execution:
            steps:
${Array.from({ length: steps }, (_, index) => step(index)).join("")}`;

export type Size = { readonly stages: number; readonly steps: number };

/** YAML with this many stages, each with this many steps. */
export const largePipeline = ({ stages, steps }: Size): string => `pipeline:
  name: Large
  identifier: large
  variables:
    - { name: who, type: String, value: <+input>.default(world) }
  stages:
${Array.from({ length: stages }, (_, nth) => stage(nth, steps)).join("")}`;
