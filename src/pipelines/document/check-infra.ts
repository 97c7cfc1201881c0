/** What can be said against namespace and release name of an infrastructure, and against expressions that read one. */
import {
  bindScript,
  checkTemplate,
  ExpressionError,
  INFRA_ROOTS,
  namespaceFault,
  referencesOf,
  releaseNameFault,
  TARGET_ROOTS,
} from "../../engine/index.ts";
import { deploymentOf } from "./schema.ts";
import { misread, secretVariables } from "./secrets.ts";
import type { NodeField } from "./texts.ts";
import { stageOf } from "./visit.ts";

type Found = { readonly offset: number; readonly message: string };

/** The steps of a stage use its infrastructure: their results come too late. */
const OWN_STEPS = new Set<unknown>(["step", "steps", "execution", "exportedVariables"]);

/** What expressions make of a value is checked when a step starts. */
export function infraFaults({ kind, node }: NodeField, value: string): readonly Found[] {
  if (!value.includes("<+")) {
    const message = kind === "namespace" ? namespaceFault(value) : releaseNameFault(value);
    return message === undefined ? [] : [{ offset: 0, message }];
  }
  const faults = checkTemplate(value, { mayAskSecrets: false });
  if (faults.length > 0) return faults;
  const secrets = misread(value, secretVariables(node), { node, mayAsk: false });
  if (secrets.length > 0) return secrets;
  return referencesOf(value).flatMap(({ path, offset }) => {
    if (OWN_STEPS.has(path[0]))
      return [
        { offset, message: `An infrastructure cannot read '${path.join(".")}': the steps of its stage run on it` },
      ];
    const isOwn = path[0] === "infra" && path[1] === kind;
    return isOwn ? [{ offset, message: `'infra.${kind}' refers to itself` }] : [];
  });
}

const TARGETS: ReadonlyMap<unknown, string> = new Map([
  ["service", "service"],
  ["env", "environment"],
]);

/** Expressions over the target of the stage in one that has none. Of a text with other faults, none. */
export function withoutTarget({ kind, node }: NodeField, value: string): readonly Found[] {
  const stage = stageOf(node)?.document;
  if (!stage || deploymentOf(stage) || kind === "output") return [];
  return readsIn(kind, value)
    .filter(({ path }) => INFRA_ROOTS.has(String(path[0])) || TARGET_ROOTS.has(String(path[0])))
    .map(({ path, offset }) => ({
      offset,
      message: `'${path.join(".")}' has no value here: a stage of type ${stage.type} has no ${TARGETS.get(path[0]) ?? "infrastructure"}`,
    }));
}

type Read = ReturnType<typeof referencesOf>[number];

/** The paths that a field reads, all that `readsOf` finds. Of a text with other faults, none. */
export function readsIn(kind: NodeField["kind"], value: string, readsOf = referencesOf): readonly Read[] {
  if (kind !== "condition" && !value.includes("<+")) return [];
  try {
    if (kind !== "script") return readsOf(value, { isCondition: kind === "condition" });
    const bound = bindScript(value);
    if ("faults" in bound) return [];
    return bound.bindings.flatMap(({ expression }) =>
      readsOf(expression).map((read) => ({ ...read, offset: value.indexOf(expression) + read.offset })),
    );
  } catch (error) {
    if (error instanceof ExpressionError) return [];
    throw error;
  }
}
