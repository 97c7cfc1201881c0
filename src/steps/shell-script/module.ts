import { stepModule } from "../step-module.ts";
import { plan } from "./plan.ts";
import { shellScript as schema } from "./schema.ts";
import { run } from "./run.ts";
import { shown, valueFields } from "./value-fields.ts";

/** Runs a Bash script on a delegate, or from there on another host. */
export const shellScript = stepModule({
  type: "ShellScript",
  schema,
  valueFields,
  shown,
  delegateSelectors: (spec) => spec.delegateSelectors,
  plan,
  run,
});
