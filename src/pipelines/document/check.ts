import type { Fault } from "../../core/problem.ts";
import { bindScript, checkTemplate, referencesOf, type TextFault } from "../../engine/index.ts";
import type { Doc } from "../../platform/document/document.ts";
import { clip, pathText } from "../../platform/document/path.ts";
import { faultOf } from "../../platform/document/validate.ts";
import type { Phase } from "./fields.ts";
import { isMarker } from "./marker.ts";
import type { PipelineDocument } from "./schema.ts";
import { type ValueField, valueFields } from "./texts.ts";
import { duplicates } from "./unique.ts";

/** What can be said against a pipeline of the right shape: equal identifiers, scripts, expressions, lossy numbers. */
export function faultsOf(pipeline: PipelineDocument, doc: Omit<Doc, "pathText">, phase: Phase): readonly Fault[] {
  return [
    ...duplicates(pipeline).map(({ path, message }) => faultOf(doc, path, message)),
    ...valueFields(pipeline).flatMap((field) => ofField(field, doc, phase)),
  ];
}

function ofField(field: ValueField, doc: Omit<Doc, "pathText">, phase: Phase): readonly Fault[] {
  const { path, value } = field;
  if (typeof value !== "string") return lossy(field, doc);
  if (phase === "saved" && isMarker(value)) return [];
  return textFaults(field.kind, value).map(({ offset, message }) => ({
    path: pathText(path),
    message,
    ...doc.positionIn(path, offset),
  }));
}

type Found = Pick<TextFault, "offset" | "message">;

function textFaults(kind: ValueField["kind"], value: string): readonly Found[] {
  if (kind === "script") {
    const bound = bindScript(value);
    return "faults" in bound ? bound.faults : [];
  }
  const faults = checkTemplate(value);
  return faults.length > 0 || kind === "template" ? faults : beforeItsTime(value);
}

const NOT_YET = new Set<unknown>(["step", "steps", "execution"]);

function beforeItsTime(value: string): readonly Found[] {
  return referencesOf(value)
    .filter(({ path }) => NOT_YET.has(path[0]))
    .map(({ path, offset }) => ({
      offset,
      message: `A variable is evaluated when the execution starts and cannot read '${path.join(".")}'`,
    }));
}

/** A script gets text: `1.10` or `True` would reach it as something else than what stands in the document. */
function lossy({ path, value }: ValueField, doc: Omit<Doc, "pathText">): readonly Fault[] {
  const source = doc.source(path);
  if (value === null || source === undefined || source === String(value)) return [];
  return [faultOf(doc, path, `Write '${clip(source)}' in quotes: unquoted, it is read as ${String(value)}`)];
}
