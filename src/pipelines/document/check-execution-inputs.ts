/** What can be said against runtime inputs with `.executionInput()` when a pipeline is saved. */
import { type Path, pathText } from "../../platform/document/position/path.ts";
import { isAskedMarker, readMarker } from "../../steps/schema/marker.ts";
import { readsIn } from "./check-infra.ts";
import { type AskedVariable, askedVariables, executionInputs, keyOfNode, mayBeAsked } from "./execution-inputs.ts";
import type { FailureStrategyDocument } from "./failure-strategies.ts";
import { textOf } from "./merge.ts";
import { referencesIn } from "./references.ts";
import type { PipelineDocument } from "./schema.ts";
import { type NodeField, valueFields } from "./texts.ts";
import { ancestorsOf, type DocumentNode, nodesIn, visitPipeline } from "./visit.ts";

type AskedFault = { readonly path: Path; readonly message: string };

export function askedFaults(pipeline: PipelineDocument): readonly AskedFault[] {
  const asked = askedIn(pipeline, ["pipeline"]);
  const defaults = nodesIn(visitPipeline(pipeline)).flatMap((node) => withoutDefaults(node, pipeline));
  if (asked.length === 0) return defaults;
  const fields = new Map(valueFields(pipeline).map((field) => [pathText(field.path), field]));
  const placed = asked.flatMap(({ path, value, usual }) => {
    const message = placeFault(path, fields.get(pathText(path))) ?? textFault(value, usual);
    return message === undefined ? [] : [{ path, message }];
  });
  return placed.length > 0 ? placed : [...early(pipeline), ...defaults];
}

type Asked = { readonly path: Path; readonly value: string; readonly usual: unknown };

/** `usual`: the default beside the value. */
function askedIn(value: unknown, path: Path, usual?: unknown): readonly Asked[] {
  if (typeof value === "string") return isAskedMarker(value) ? [{ path, value, usual }] : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => askedIn(item, [...path, index]));
  if (typeof value !== "object" || value === null) return [];
  const { default: own } = value as { readonly default?: unknown };
  return Object.entries(value).flatMap(([key, item]) => askedIn(item, [...path, key], own));
}

const EARLY = "'.executionInput()' is not allowed here, as the value is needed before the execution reaches it";

function placeFault(path: Path, field: NodeField | undefined): string | undefined {
  if (field && mayBeAsked(field)) return undefined;
  if (field?.kind === "condition" || path.includes("when")) return "'.executionInput()' is not allowed in a condition";
  if (field?.kind === "script")
    return "'.executionInput()' is not allowed here, as scripts are checked before they run: let the script read an environment variable";
  if (field?.kind === "secret" || field?.kind === "login")
    return "'.executionInput()' is not allowed here, as the secrets of an execution are known when it starts";
  return EARLY;
}

/** What is submitted is data, and so is what stands in for it. */
function textFault(value: string, usual: unknown): string | undefined {
  const read = readMarker(value);
  const values = "fault" in read ? [] : [read.default, usual, ...(read.allowed ?? [])];
  return values.some((one) => textOf(one ?? "").includes("<+"))
    ? "Defaults and allowed values beside '.executionInput()' hold no expressions"
    : undefined;
}

const AT_START: ReadonlySet<NodeField["kind"]> = new Set(["variable", "host"]);

/** What reads a variable that is asked for, and is evaluated before its node has begun. */
function early(pipeline: PipelineDocument): readonly AskedFault[] {
  const variables = askedVariables(pipeline);
  if (variables.size === 0) return [];
  const isOwn = ({ kind, path, node }: NodeField, { node: owner }: AskedVariable): boolean =>
    node === owner && (kind === "condition" || kind === "loop" || path[node.path.length] === "timeout");
  const found = valueFields(pipeline).flatMap((field) => {
    if (typeof field.value !== "string" || isAskedMarker(field.value)) return [];
    return readsIn(field.kind, field.value).flatMap(({ path }) => {
      const variable = variableAt(variables, field.node, path);
      const isEarly = variable && (AT_START.has(field.kind) || isOwn(field, variable));
      return isEarly ? [fault(field.path, path)] : [];
    });
  });
  const references = referencesIn(pipeline).flatMap(({ path, value, stage }) =>
    readsIn("variable", value).flatMap((read) =>
      variableAt(variables, stage, read.path) ? [fault(path, read.path)] : [],
    ),
  );
  return [...found, ...references];
}

const fault = (path: Path, read: Path): AskedFault => ({
  path,
  message: `'${read.join(".")}' is asked for while the pipeline runs, and is needed here before`,
});

/** The variable that a path of an expression leads to. */
function variableAt(
  variables: ReadonlyMap<string, AskedVariable>,
  node: DocumentNode,
  [root = "", ...rest]: Path,
): AskedVariable | undefined {
  const kind = root === "stepGroup" ? "group" : root;
  const around = [node, ...ancestorsOf(node)].find((one) => one.kind === kind);
  const names = root === "pipeline" ? [root] : around?.names;
  if (!names) return undefined;
  const full = [...names, ...rest];
  for (let length = 1; length <= full.length; length += 1) {
    const found = variables.get(full.slice(0, length).join("\0"));
    if (found) return found;
  }
  return undefined;
}

/** ProceedWithDefaultValues where no input has a default could never apply. */
function withoutDefaults(node: DocumentNode, pipeline: PipelineDocument): readonly AskedFault[] {
  if (node.kind === "pipeline" || node.kind === "parallel") return [];
  return (node.document.failureStrategies ?? []).flatMap(({ onFailure }: FailureStrategyDocument, nth) => {
    if (onFailure.action.type !== "ProceedWithDefaultValues") return [];
    const { ofNodes } = executionInputs(pipeline);
    const below = nodesIn(node).flatMap((one) => ofNodes.get(keyOfNode(one))?.inputs ?? []);
    if (below.some((input) => input.default !== undefined)) return [];
    const path = [...node.path, "failureStrategies", nth, "onFailure", "action", "type"];
    return [{ path, message: "ProceedWithDefaultValues needs an input with .executionInput() and a default" }];
  });
}
