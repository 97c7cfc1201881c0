/** What can be said against aliases of outputs, and against expressions that read them. */
import type { OutputAlias } from "../../engine/index.ts";
import { moduleOf } from "../../steps/table.ts";
import { readsIn } from "./check-infra.ts";
import type { PipelineDocument } from "./schema.ts";
import type { NodeField } from "./texts.ts";
import type { Duplicate } from "./unique.ts";
import { ancestorsOf, type DocumentNode, pipelineOf, type StepNode, stepsIn } from "./visit.ts";

const HOLDERS = { pipeline: "pipeline", stage: "stage", stepGroup: "group" } as const;
const WORDS = { pipeline: "pipeline", stage: "stage", stepGroup: "step group" } as const;

const aliasOf = ({ document: { type, spec } }: StepNode): OutputAlias | undefined => moduleOf(type).outputAlias?.(spec);

/** The nodes around one that may hold exports of this scope, innermost first. */
const holdersOf = (node: DocumentNode, scope: OutputAlias["scope"]): readonly DocumentNode[] =>
  [node, ...ancestorsOf(node)].filter(({ kind }) => kind === HOLDERS[scope]);

/** Aliases that are given twice where they must differ, and those of a step group outside of one. */
export function duplicateAliases(pipeline: PipelineDocument): readonly Duplicate[] {
  const known = new Map<DocumentNode, Set<string>>();
  return stepsIn(pipeline).flatMap((step) => {
    const alias = aliasOf(step);
    if (!alias) return [];
    const { key, scope } = alias;
    const path = [...step.path, "spec", "outputAlias"];
    const [holder] = holdersOf(step, scope);
    if (!holder)
      return [{ path: [...path, "scope"], message: "The scope StepGroup needs a step group around the step" }];
    const keys = known.get(holder) ?? new Set();
    known.set(holder, keys);
    const name = `${scope}.${key}`;
    const isKnown = keys.has(name);
    keys.add(name);
    return isKnown
      ? [{ path: [...path, "key"], message: `The outputAlias '${key}' is given twice in this ${WORDS[scope]}` }]
      : [];
  });
}

const NAME = /^(pipeline|stage|stepGroup)\.([^.]+)\.(.+)$/s;
const FORM =
  'an exported variable is named as in exportedVariables.getValue("stage.KEY.NAME"), with pipeline, stage or stepGroup';

/** Reads of exported variables that no step exports to where the text stands. */
export function unknownExports(
  { kind, node }: NodeField,
  value: string,
): readonly { readonly offset: number; readonly message: string }[] {
  if (!value.includes("exportedVariables")) return [];
  return readsIn(kind, value).flatMap(({ path: [root, name], offset }) => {
    const message = root === "exportedVariables" ? faultOf(node, name) : undefined;
    return message === undefined ? [] : [{ offset, message }];
  });
}

function faultOf(node: DocumentNode, name: string | number | undefined): string | undefined {
  // A computed name is looked up when the step starts.
  if (name === undefined) return undefined;
  const [, scope, key, variable] = NAME.exec(String(name)) ?? [];
  if (scope === undefined) return `'${String(name).slice(0, 80)}': ${FORM}`;
  const holders = holdersOf(node, scope as OutputAlias["scope"]);
  const found = stepsIn(pipelineOf(node).document).filter((step) => {
    const alias = aliasOf(step);
    const [holder] = alias?.scope === scope && alias.key === key ? holdersOf(step, alias.scope) : [];
    return holder !== undefined && holders.includes(holder);
  });
  if (found.length === 0)
    return `No step here has the outputAlias '${key}' with the scope ${WORDS[scope as OutputAlias["scope"]]}`;
  const names = found.flatMap(({ document: { type, spec } }) => moduleOf(type).outputNames?.(spec) ?? []);
  if (names.includes(variable ?? "")) return undefined;
  return `The step with the outputAlias '${key}' has no output variable '${variable}'; it has: ${names.join(", ")}`;
}
