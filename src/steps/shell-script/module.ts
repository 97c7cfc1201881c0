import { stepModule } from "../step-module.ts";
import { plan } from "./plan.ts";
import { shellScript as schema } from "./schema.ts";
import { run } from "./run.ts";
import { shown, valueFields } from "./value-fields.ts";

const SCOPES = { Pipeline: "pipeline", Stage: "stage", StepGroup: "stepGroup" } as const;

/** Runs a Bash script on a delegate, or from there on another host. */
export const shellScript = stepModule({
  type: "ShellScript",
  description: "Runs a Bash script on a delegate, or from there on another host.",
  snippet: {
    name: "Run a script",
    spec: { shell: "Bash", source: { type: "Inline", spec: { script: 'echo "hello"\n' } } },
  },
  schema,
  valueFields,
  shown,
  delegateSelectors: (spec) => spec.delegateSelectors,
  plan,
  outputAlias: ({ outputAlias: alias }) => (alias ? { key: alias.key, scope: SCOPES[alias.scope] } : undefined),
  secretOutputs: ({ outputVariables }) =>
    (outputVariables ?? []).flatMap(({ name, type }) => (type === "Secret" ? [name] : [])),
  outputNames: ({ outputVariables }) => (outputVariables ?? []).map(({ name }) => name),
  run,
});
