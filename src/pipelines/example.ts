/** A pipeline that works, for the documentation of the interface. */
export const exampleOf = (identifier: string) => ({
  name: "Deploy",
  identifier,
  orgIdentifier: "default",
  projectIdentifier: "shop",
  stages: [
    {
      stage: {
        name: "Build",
        identifier: "build",
        type: "Deployment",
        spec: {
          serviceConfig: { serviceRef: "web" },
          infrastructure: { environmentRef: "staging" },
          execution: {
            steps: [
              {
                step: {
                  type: "ShellScript",
                  name: "Greet",
                  identifier: "greet",
                  spec: { shell: "Bash", source: { type: "Inline", spec: { script: "echo hello" } } },
                  timeout: "10m",
                },
              },
            ],
          },
        },
        failureStrategies: [{ onFailure: { errors: ["AllErrors"], action: { type: "StageRollback" } } }],
      },
    },
  ],
});
