import type { Fault } from "../../core/problem.ts";
import { bindScript, checkTemplate, referencesOf, secretsIn, type TextFault } from "../../engine/index.ts";
import type { Doc } from "../../platform/document/document.ts";
import { clip, pathText, type Path } from "../../platform/document/position/path.ts";
import { faultOf } from "../../platform/document/validate.ts";
import type { Phase } from "../../steps/schema/fields.ts";
import { isMarker } from "../../steps/schema/marker.ts";
import type { PipelineDocument } from "./schema.ts";
import { misplaced, misread, secretVariables, withSecrets } from "./secrets.ts";
import { type NodeField, valueFields } from "./texts.ts";
import { hasSecretOutputs, secretOutputIn } from "./secret-outputs.ts";
import type { DocumentNode } from "./visit.ts";
import { duplicateAliases, unknownExports } from "./check-exports.ts";
import { infraFaults, withoutTarget } from "./check-infra.ts";
import { placeFaults, unreadable } from "./check-target.ts";
import { barrierFaults } from "./check-barriers.ts";
import { askedFaults } from "./check-execution-inputs.ts";
import { isInputExpression } from "./input-expression.ts";
import { outputFaults } from "./check-outputs.ts";
import { markerFaults } from "./check-markers.ts";
import { unknownNames } from "./check-names.ts";
import { nodeFaults } from "./check-nodes.ts";
import { duplicates } from "./unique.ts";

/** What can be said against a pipeline of the right shape: equal identifiers, scripts, expressions, lossy numbers. */
export function faultsOf(pipeline: PipelineDocument, doc: Omit<Doc, "pathText">, phase: Phase): readonly Fault[] {
  return [
    ...[
      ...duplicates(pipeline),
      ...duplicateAliases(pipeline),
      ...nodeFaults(pipeline),
      ...barrierFaults(pipeline),
      ...(phase === "saved" ? [...markerFaults(pipeline, ["pipeline"]), ...askedFaults(pipeline)] : []),
    ].map(({ path, message }) => faultOf(doc, path, message)),
    ...misplaced(pipeline).map(({ path, offset }) => ({
      path: pathText(path),
      message:
        "A secret cannot be a part of what stands here, as it is stored and shown: secrets go into a script or into the value of an environment variable",
      ...doc.positionIn(path, offset),
    })),
    ...valueFields(pipeline).flatMap((field) => ofField(field, doc, phase)),
  ];
}

function ofField(field: NodeField, doc: Omit<Doc, "pathText">, phase: Phase): readonly Fault[] {
  const { path, value } = field;
  if (typeof value !== "string") return lossy(field, doc);
  if (field.kind === "secret" || field.kind === "login") return [];
  if (field.kind === "host" || field.kind === "folder")
    return placeFaults(field, value).map((fault) => at(doc, path, fault));
  if (phase === "saved" && isMarker(value)) return [];
  if (phase === "merged" && isInputExpression(value)) return [];
  if (field.kind === "namespace" || field.kind === "releaseName")
    return infraFaults(field, value).map((fault) => at(doc, path, fault));
  const faults = [
    ...textFaults(field, value, secretVariables(field.node)),
    ...unreadable(field, value),
    ...withoutTarget(field, value),
    ...unknownExports(field, value),
    ...(phase === "saved" ? unknownNames(field, value) : []),
  ];
  return faults.map((fault) => at(doc, path, fault));
}

const at = (doc: Omit<Doc, "pathText">, path: Path, { offset, message, hint }: Found): Fault => ({
  path: pathText(path),
  message,
  ...(hint !== undefined && { about: { hint } }),
  ...doc.positionIn(path, offset),
});

type Found = Pick<TextFault, "offset" | "message"> & { readonly hint?: string };

type Known = ReturnType<typeof secretVariables>;

function textFaults({ kind, isNumber, names, node }: NodeField, value: string, secrets: Known): readonly Found[] {
  if (kind === "script") return scriptFaults(value, node, secrets);
  if (kind === "condition" || kind === "loop" || kind === "text")
    return shownFaults(value, { isCondition: kind === "condition", names, node }, secrets);
  if (kind === "output") return outputFaults(value);
  const faults = checkTemplate(value, { mayAskSecrets: kind === "template", names });
  if (faults.length > 0) return faults;
  const reads = misread(value, secrets, { node, mayAsk: kind === "template" });
  if (reads.length > 0) return reads;
  if (kind !== "template") return beforeItsTime(value);
  return isNumber ? secretNumbers(value, node, secrets) : [];
}

/** Of what is evaluated when its node is reached or its step runs, and is stored and shown. */
function shownFaults(
  value: string,
  form: { readonly isCondition: boolean; readonly names: readonly string[] | undefined; readonly node: DocumentNode },
  secrets: Known,
): readonly Found[] {
  const faults = checkTemplate(value, form);
  return faults.length > 0 ? faults : misread(value, secrets, { ...form, mayAsk: false });
}

/** The value of a secret is put in on the delegate: nothing could look whether it is a number. */
const secretNumbers = (value: string, node: DocumentNode, secrets: Known): readonly Found[] =>
  [...secretsIn(withSecrets(value, secrets)), ...outputsIn(value, node)].map(() => ({
    offset: 0,
    message: "The type Number takes no secret, as its value cannot be checked: write type: String or type: Secret",
  }));

/** Reads of outputs of the type Secret. */
const outputsIn = (text: string, node: DocumentNode) =>
  hasSecretOutputs(node) ? referencesOf(text).filter(({ path }) => secretOutputIn(node, path) !== undefined) : [];

function scriptFaults(script: string, node: DocumentNode, secrets: Known): readonly Found[] {
  const bound = bindScript(
    script,
    (text) => secretsIn(withSecrets(text, secrets)).length > 0 || outputsIn(text, node).length > 0,
  );
  if ("faults" in bound) return bound.faults;
  return bound.bindings.flatMap(({ expression }) =>
    misread(expression, secrets, { node, mayAsk: true }).map(({ message }) => ({
      offset: script.indexOf(expression),
      message,
    })),
  );
}

const NOT_YET = new Set<unknown>(["step", "steps", "execution", "approval", "exportedVariables"]);

function beforeItsTime(value: string): readonly Found[] {
  return referencesOf(value)
    .filter(({ path }) => NOT_YET.has(path[0]))
    .map(({ path, offset }) => ({
      offset,
      message: `A variable is evaluated when the execution starts and cannot read '${path.join(".")}'`,
    }));
}

/** A script gets text: `1.10` or `True` would reach it as something else than what stands in the document. */
function lossy({ path, value }: NodeField, doc: Omit<Doc, "pathText">): readonly Fault[] {
  const source = doc.source(path);
  if (value === null || source === undefined || source === String(value)) return [];
  return [faultOf(doc, path, `Write '${clip(source)}' in quotes: unquoted, it is read as ${String(value)}`)];
}
