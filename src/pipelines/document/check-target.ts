/** What can be said against the host and the folder of a step that runs on another host, and what such a step cannot do. */
import { checkTemplate, folderFault, hostFault, referencesOf, secretsIn } from "../../engine/index.ts";
import type { PipelineDocument, StepDocument } from "./schema.ts";
import type { ValueField } from "./texts.ts";

type Found = { readonly offset: number; readonly message: string };

/** Of a host or a folder. What expressions make of one is looked at again when the step starts. */
export function placeFaults({ path }: ValueField, value: string): readonly Found[] {
  const faults = checkTemplate(value, { mayAskSecrets: false });
  if (faults.length > 0) return faults;
  const isHost = path.at(-1) === "host";
  if (!value.includes("<+")) {
    const message = isHost ? hostFault(value) : folderFault(value);
    return message === undefined ? [] : [{ offset: 0, message }];
  }
  if (!isHost) return [];
  const message =
    "Whoever calls a webhook would choose the host that gets the credential: name the hosts in the pipeline";
  return referencesOf(value).flatMap(({ path: read, offset }) => (read[0] === "trigger" ? [{ offset, message }] : []));
}

/** Files that a step on another host would be given the path of, and could not read. */
export function unreadable(pipeline: PipelineDocument, { kind, path }: ValueField, value: string): readonly Found[] {
  if (kind !== "script" && kind !== "template") return [];
  if (stepAt(pipeline, path)?.onDelegate !== false) return [];
  const message =
    "secrets.getAsFile gives the path of a file on the delegate, and this step runs on another host: use secrets.getValue";
  return secretsIn(value).flatMap(({ as, offset }) => (as === "file" ? [{ offset, message }] : []));
}

/** Paths of steps' fields: `pipeline`, `stages`, nth, `stage`, `spec`, `execution`, list, nth, `step`, … */
function stepAt(pipeline: PipelineDocument, path: ValueField["path"]): StepDocument["spec"] | undefined {
  const [, , stage, , , , list, nth, step] = path;
  if (step !== "step" || (list !== "steps" && list !== "rollbackSteps")) return undefined;
  return pipeline.stages[Number(stage)]?.stage.spec.execution[list]?.[Number(nth)]?.step.spec;
}
