/** Outputs that steps export by an alias: `<+exportedVariables.getValue("stage.build.version")>`. */
import type { Place } from "./expression/place.ts";
import { outputPlace } from "./expression/secret-outputs.ts";
import type { FindNode } from "./instance.ts";
import type { NodeState, Output, OutputAlias, Plan } from "./model.ts";
import { nodeOf } from "./plan-index.ts";
import { changeProgress, definitionOf, findNode, nodeAt, parentOf, progressOf, type Run } from "./run.ts";

/** What stands around a node, innermost first. */
type Around = Iterable<Pick<NodeState, "definition" | "progress">>;

const NAME = /^(pipeline|stage|stepGroup)\.([^.]+)\.(.+)$/s;

/** Whether a node of the plan holds the exports of this scope. */
function isHolder(plan: Plan, definition: string, scope: OutputAlias["scope"]): boolean {
  const node = nodeOf(plan, definition);
  return scope === "stepGroup" ? node.kind === "group" && node.role === "stepGroup" : node.kind === scope;
}

/** Notes a step that has succeeded where its alias is looked up. Of several with the same alias the last one counts. */
export function exportOutputs(run: Run, node: NodeState): void {
  const definition = definitionOf(run, node);
  if (definition.kind !== "step" || !definition.outputAlias) return;
  const { key, scope } = definition.outputAlias;
  let holder = parentOf(run, node);
  while (holder && !isHolder(run.plan, holder.definition, scope)) holder = parentOf(run, holder);
  if (!holder) throw new Error(`step ${node.path} has no ${scope} around it to export to`);
  const { exports = {} } = progressOf(holder);
  const earlier = Object.hasOwn(exports, key) ? findNode(run, exports[key] ?? "") : undefined;
  if ((earlier?.endedAt ?? 0) > (node.endedAt ?? run.at)) return;
  changeProgress(run, nodeAt(run, holder.id), { exports: { ...exports, [key]: node.id } });
}

type View = { readonly plan: Plan; readonly find: FindNode };

/** What `exportedVariables` leads to for a node: its members are named `scope.key.variable`. */
export function exportedPlace(view: View, around: Around): Place {
  return {
    value: null,
    member: (name) => memberOf(view, around, name),
    keys: () => namesIn(view, around),
    notYet: () => undefined,
  };
}

function memberOf({ plan, find }: View, around: Around, name: string | number): Place | undefined {
  const [, scope, key, variable] = NAME.exec(String(name)) ?? [];
  if (scope === undefined || key === undefined) return undefined;
  for (const { definition, progress } of around) {
    if (!isHolder(plan, definition, scope as OutputAlias["scope"])) continue;
    const exported = progress?.exports ?? {};
    if (Object.hasOwn(exported, key)) {
      const output = outputsOf(find, exported[key]).get(variable ?? "");
      return output && outputPlace(output);
    }
    if (scope !== "stepGroup") return undefined;
  }
  return undefined;
}

const namesIn = ({ plan, find }: View, around: Around): readonly string[] =>
  [...around].flatMap(({ definition, progress }) => {
    const scope = (["stepGroup", "stage", "pipeline"] as const).find((one) => isHolder(plan, definition, one));
    return Object.entries(progress?.exports ?? {}).flatMap(([key, id]) =>
      [...outputsOf(find, id).keys()].map((name) => `${scope}.${key}.${name}`),
    );
  });

function outputsOf(find: FindNode, id: string | undefined): ReadonlyMap<string, Output> {
  const outputs = id === undefined ? [] : (find(id)?.attempts.at(-1)?.outputs ?? []);
  return new Map(outputs.map((output) => [output.name, output]));
}
