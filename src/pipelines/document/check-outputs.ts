/** What can be said against the outputs of a chained pipeline. */
import { checkTemplate, INFRA_ROOTS, referencesOf, TARGET_ROOTS } from "../../engine/index.ts";

type Found = { readonly offset: number; readonly message: string };

/** The pipeline has ended where they are evaluated: it stands in no stage and in no repetition. */
const OUTSIDE: ReadonlySet<unknown> = new Set([
  ...["stage", "step", "steps", "execution", "stepGroup", "approval", "matrix", "repeat", "strategy"],
  ...INFRA_ROOTS,
  ...TARGET_ROOTS,
]);

export function outputFaults(value: string): readonly Found[] {
  const faults = checkTemplate(value, { mayAskSecrets: false });
  if (faults.length > 0) return faults;
  return referencesOf(value)
    .filter(({ path }) => OUTSIDE.has(path[0]))
    .map(({ path, offset }) => ({
      offset,
      message: `An output cannot read '${path.join(".")}': it sees the chained pipeline, as in <+pipeline.stages.ID.…>`,
    }));
}
