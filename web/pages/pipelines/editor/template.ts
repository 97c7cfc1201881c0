import type { Scope } from "../../../api/permissions.ts";

/** A small pipeline that can be saved and run as it is. */
export const newPipelineYaml = ({ orgIdentifier, projectIdentifier }: Required<Scope>): string => `pipeline:
  name: New pipeline
  identifier: new_pipeline
  orgIdentifier: ${orgIdentifier}
  projectIdentifier: ${projectIdentifier}
  stages:
    - stage:
        name: Build
        identifier: build
        type: Custom
        spec:
          execution:
            steps:
              - step:
                  type: ShellScript
                  name: Say hello
                  identifier: say_hello
                  timeout: 10m
                  spec:
                    shell: Bash
                    source:
                      type: Inline
                      spec:
                        script: |
                          echo "hello"
`;
