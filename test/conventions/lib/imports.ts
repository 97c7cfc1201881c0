import path from "node:path";
import { type Layer, layers, slices } from "../../../scripts/import-rules.ts";
import { levels, mayImportApp, mayOpenConnections, pureNames, storeNames } from "../../../scripts/lib/file-rules.ts";
import { type Files, isTest } from "../../../scripts/lib/files.ts";
import { type Import, parse } from "../../../scripts/lib/parse.ts";
import type { Violation } from "./violations.ts";

type Edge = Import & { readonly from: string; readonly to: string };
type Edges = ReadonlyMap<string, readonly Edge[]>;

const isSlice = (name: string): boolean => name === "scim" || slices.some(([slice]) => slice === name);

/** Reports every import of these sources that breaks a rule, and every import cycle. */
export function importViolations(files: Files): readonly Violation[] {
  const edges = [...files].flatMap(([from, text]) =>
    parse(from, text).imports.map((found): Edge => ({ ...found, from, to: resolve(from, found.specifier) })),
  );
  const homeless = [...files.keys()]
    .filter((file) => layerOf(file) === undefined)
    .map((file) => ({ key: file, message: `${file} belongs to no layer of scripts/import-rules.ts: add its folder` }));
  const next = Map.groupBy(edges, ({ from }) => from);
  return [...homeless, ...edges.flatMap(judge), ...impureFiles(files, next), ...cycles(files, next)];
}

/** Resolves a relative specifier to a path in the repository, and returns other specifiers unchanged. */
function resolve(from: string, specifier: string): string {
  return specifier.startsWith(".") ? path.posix.join(path.posix.dirname(from), specifier) : specifier;
}

export function layerOf(file: string): Layer | undefined {
  return layers
    .filter(({ at }) => (at.endsWith("/") ? file.startsWith(at) : file === at))
    .toSorted((a, b) => b.at.length - a.at.length)[0];
}

function judge(edge: Edge): readonly Violation[] {
  const because = edge.specifier.startsWith(".") ? judgeOwn(edge) : judgeOutside(edge);
  if (because === undefined) return [];
  const { from, to, line } = edge;
  return [{ key: `${from} → ${to}`, message: `${from}:${line} may not import ${to}, because ${because}` }];
}

function judgeOwn({ from, to }: Edge): string | undefined {
  const [mine, theirs] = [layerOf(from), layerOf(to)];
  if (mine === undefined) return undefined;
  if (theirs === undefined) return "it lies in no layer of scripts/import-rules.ts";
  if (theirs.name === "app" && !mayImportApp.some((place) => from.startsWith(place))) {
    return "app.ts depends on everything: only the main program, scripts and test support start it";
  }
  if (mine.name === theirs.name) return isSlice(mine.name) ? judgeInside(mine, from, to) : undefined;
  if (isTest(from) && theirs.name === "test") return undefined;
  if (mine.may !== "all" && !mine.may.includes(theirs.name)) return mine.because;
  if (isSlice(theirs.name) && to !== `${theirs.at}index.ts`) return `the entry point of ${theirs.name} is its index.ts`;
  return undefined;
}

function judgeOutside({ from, to, typeOnly }: Edge): string | undefined {
  if (to.startsWith("/") || to.startsWith("#")) return "our own files are imported by relative path";
  if (isTest(from)) return undefined;
  const mine = layerOf(from);
  if (mine === undefined) return undefined;
  const name = to.startsWith("node:") ? to : to.split("/", to.startsWith("@") ? 2 : 1).join("/");
  if (mine.outside !== "all" && !mine.outside.includes(name)) return mine.because;
  if ((name === "pg" || name === "pg-pool") && !typeOnly && !mayOpenConnections.some((it) => from.startsWith(it))) {
    return "only platform/db opens connections; take a Db instead";
  }
  return undefined;
}

/** Checks an import inside a slice against the order of `levels`. */
function judgeInside(slice: Layer, from: string, to: string): string | undefined {
  if (isTest(from)) return undefined;
  const [mine, theirs] = [levelOf(slice, from), levelOf(slice, to)];
  const [level, target] = [levels[mine]?.[0], levels[theirs]?.[0]];
  if (theirs > mine)
    return `inside a slice the order is noun, store, operation, interface, entry point: this is a ${level} file, that a ${target} file`;
  const isOther = level === "interface" && mine === theirs && interfaceOf(slice, from) !== interfaceOf(slice, to);
  return isOther ? "interfaces share operations and do not import each other" : undefined;
}

/** Returns `rest` for rest.ts and for all files of rest/, which may share shapes. */
const interfaceOf = (slice: Layer, file: string): string => /^\w+/.exec(file.slice(slice.at.length))?.[0] ?? "";

const levelOf = (slice: Layer, file: string): number =>
  levels.findIndex(([, names]) => names.test(file.slice(slice.at.length)));

/** Finds nouns, wires and problem tables from which imports inside the slice lead to its store. */
function impureFiles(files: Files, next: Edges): readonly Violation[] {
  return [...files.keys()].flatMap((file) => {
    const slice = layerOf(file);
    if (slice === undefined || !isSlice(slice.name) || !pureNames.test(roleOf(slice, file))) return [];
    const way = pathToStore(file, slice, next);
    if (way === undefined) return [];
    const message = `${file} may not lead to the store (${way.join(" → ")}), because it only computes`;
    return [{ key: way.join(" → "), message }];
  });
}

function roleOf(slice: Layer, file: string): string {
  const name = file.slice(slice.at.length);
  return name === `${slice.name.replace(/s$/, "")}.ts` ? "noun.ts" : name;
}

function pathToStore(file: string, slice: Layer, next: Edges): readonly string[] | undefined {
  const ways: (readonly string[])[] = [[file]];
  const seen = new Set([file]);
  for (const way of ways) {
    for (const { to } of next.get(way.at(-1) ?? file) ?? []) {
      if (storeNames.test(to.slice(slice.at.length)) && to.startsWith(slice.at)) return [...way, to];
      if (seen.has(to) || !to.startsWith(slice.at)) continue;
      seen.add(to);
      ways.push([...way, to]);
    }
  }
  return undefined;
}

/**
 * Reports one cycle for each group of files that reach each other. Repeatedly dropping files that import nothing else
 * in the set leaves the files on a cycle and those that lead to one. Following the imports from any of them returns to
 * a file that was visited before.
 */
function cycles(files: Files, next: Edges): readonly Violation[] {
  const alive = new Set(files.keys());
  const found: Violation[] = [];
  for (;;) {
    dropLeaves(alive, next);
    const [start] = alive;
    if (start === undefined) return found;
    const cycle = walkToCycle(start, alive, next);
    const shown = [...cycle, cycle[0]].join(" → ");
    found.push({ key: shown, message: `import cycle: ${shown}; move the shared code below both` });
    // Removing one file breaks this cycle, so that the next one is found.
    alive.delete(cycle[0] ?? start);
  }
}

function dropLeaves(alive: Set<string>, next: Edges): void {
  let before = -1;
  while (before !== alive.size) {
    before = alive.size;
    for (const file of alive) if (!next.get(file)?.some(({ to }) => alive.has(to))) alive.delete(file);
  }
}

function walkToCycle(start: string, alive: ReadonlySet<string>, next: Edges): readonly string[] {
  const way = [start];
  for (let at = start; ;) {
    const step = next.get(at)?.find(({ to }) => alive.has(to))?.to;
    if (step === undefined) throw new Error(`${at} was dropped as a leaf but is still visited.`);
    const seen = way.indexOf(step);
    if (seen !== -1) return way.slice(seen);
    way.push(step);
    at = step;
  }
}
