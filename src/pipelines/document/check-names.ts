/** Expressions that read a variable, stage, step, output or axis which the document does not have. */
import { nearest, requiredReadsOf } from "../../engine/index.ts";
import { moduleOf } from "../../steps/table.ts";
import { readsIn } from "./check-infra.ts";
import { axesOf, type StrategyDocument } from "./looping.ts";
import { chainOf } from "./schema.ts";
import { absolute } from "./secret-outputs.ts";
import type { NodeField } from "./texts.ts";
import { ancestorsOf, type DocumentNode, type ListName, namedChildren, pipelineOf } from "./visit.ts";

type Path = readonly (string | number)[];
type Named = Exclude<DocumentNode, { readonly kind: "parallel" }>;

/** Where in a path a name leads nowhere, and the names that are there. */
type Miss = { readonly at: number; readonly known: readonly string[] };

const READS = /pipeline|stage|step|execution|matrix|repeat/;

/** What no run of the pipeline as it stands can give a value. An output sees the names of the chained pipeline. */
export function unknownNames(
  { kind, node }: NodeField,
  value: string,
): readonly { readonly offset: number; readonly message: string }[] {
  if (kind === "output" || !READS.test(value)) return [];
  return readsIn(kind, value, requiredReadsOf).flatMap(({ path, offset }) => {
    const message = loopFault(node, path, kind === "loop") ?? pathFault(node, path);
    return message === undefined ? [] : [{ offset, message }];
  });
}

function pathFault(node: DocumentNode, path: Path): string | undefined {
  const whole = absolute(node, path);
  const miss = whole[0] === "pipeline" ? missIn(pipelineOf(node), whole, 1) : undefined;
  if (!miss) return undefined;
  // The path as it is written may begin at the stage.
  const at = Math.max(1, miss.at - (whole.length - path.length));
  return missing(path, at, miss.known);
}

function missing(path: Path, at: number, known: readonly string[]): string {
  const name = String(path[at]);
  // Short names are all near each other.
  const near = name.length > 2 ? nearest(name, known) : undefined;
  const list = known.length === 0 ? "it has none" : `it has: ${known.slice(0, MOST_NAMES).join(", ")}`;
  const hint = near === undefined ? list : `did you mean '${near}'?`;
  return `'${path.join(".")}' leads nowhere: ${path.slice(0, at).join(".")} has no '${name.slice(0, 64)}'; ${hint}`;
}

const MOST_NAMES = 20;

/** `at` is the place in the path of a member of the node. */
function missIn(node: Named, path: Path, at: number): Miss | undefined {
  const [member, name] = [path[at], path[at + 1]];
  if (node.kind !== "step" && member === "variables")
    return unlisted(
      at + 1,
      name,
      (node.document.variables ?? []).map(({ name }) => name),
    );
  switch (node.kind) {
    case "pipeline":
      return member === "stages" ? missBelow(node, "stages", path, at + 1) : undefined;
    case "stage": {
      const chain = chainOf(node.document);
      if (chain)
        return member === "output"
          ? unlisted(
              at + 1,
              name,
              (chain.outputs ?? []).map(({ name }) => name),
            )
          : undefined;
      return member === "spec" && name === "execution" ? missInLists(node, path, at + 2) : undefined;
    }
    case "group":
      return missInLists(node, path, at);
    case "step": {
      const { type, spec } = node.document;
      const names = moduleOf(type).outputNames?.(spec);
      return member === "output" && name === "outputVariables" && names
        ? unlisted(at + 2, path[at + 2], names)
        : undefined;
    }
  }
}

const unlisted = (at: number, name: string | number | undefined, known: readonly string[]): Miss | undefined =>
  name === undefined || known.includes(String(name)) ? undefined : { at, known };

const missInLists = (node: Named, path: Path, at: number): Miss | undefined =>
  path[at] === "steps" || path[at] === "rollbackSteps" ? missBelow(node, path[at], path, at + 1) : undefined;

/** Of a list of nodes; its results can be read, too. */
const RESULTS: ReadonlySet<unknown> = new Set(["status", "currentStatus", "startTs", "endTs"]);

function missBelow(node: Named, list: ListName, path: Path, at: number): Miss | undefined {
  const name = path[at];
  if (name === undefined || RESULTS.has(name)) return undefined;
  const children = childrenOf(node, list);
  const child = children.get(String(name)) ?? iterated(children, String(name));
  return child ? missIn(child, path, at + 1) : { at, known: [...children.keys()] };
}

const ITERATION = /(?:_\d+)+$/;

/** `test_1` where `test` is repeated. */
function iterated(children: ReadonlyMap<string, Named>, name: string): Named | undefined {
  const found = children.get(name.replace(ITERATION, ""));
  return found && strategyOf(found) ? found : undefined;
}

const known = new WeakMap<DocumentNode, Map<ListName, ReadonlyMap<string, Named>>>();

function childrenOf(node: Named, list: ListName): ReadonlyMap<string, Named> {
  const lists = known.get(node) ?? new Map<ListName, ReadonlyMap<string, Named>>();
  known.set(node, lists);
  const children = lists.get(list) ?? new Map(namedChildren(node, list).map((one) => [one.document.identifier, one]));
  lists.set(list, children);
  return children;
}

const strategyOf = (node: DocumentNode): StrategyDocument | null | undefined =>
  node.kind === "parallel" || node.kind === "pipeline" ? undefined : node.document.strategy;

/** `matrix` and `repeat` are those of the nearest loop of that kind. The values of a loop may read the one around it. */
function loopFault(node: DocumentNode, path: Path, isLoop: boolean): string | undefined {
  const [root, axis] = path;
  if (root !== "matrix" && root !== "repeat") return undefined;
  const strategies = [node, ...ancestorsOf(node)].flatMap((one) => strategyOf(one) ?? []);
  if (!strategies.some((strategy) => strategy[root]))
    return `'${path.join(".")}' has no value here: nothing around it has a strategy with ${root}`;
  if (root === "repeat" || axis === undefined) return undefined;
  const matrices = strategies.flatMap(({ matrix }) => (matrix ? [matrix] : [])).slice(0, isLoop ? 2 : 1);
  const axes = matrices.flatMap((matrix) => axesOf(matrix).map(([name]) => name));
  return axes.includes(String(axis)) ? undefined : missing(path, 1, axes);
}
