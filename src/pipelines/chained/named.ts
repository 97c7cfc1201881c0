/** Which secrets a stage may give to the pipeline that it runs. */
import type { Fault } from "../../core/problem.ts";
import { type Path, pathText } from "../../platform/document/position/path.ts";
import { isMarker } from "../../steps/schema/marker.ts";
import { FOR_ANOTHER, secretsGiven, textsForAnother, textsGiven } from "../document/chain.ts";
import { keysOf } from "../document/keyed.ts";
import { problem } from "../document/problems.ts";
import type { Filled } from "../fill.ts";
import type { WrittenSecret } from "../secrets.ts";
import type { Chain } from "./place.ts";

const NOT_NAMED = "Beside the reference of a secret stands 'type: Secret'";

/**
 * The secrets that the stage gives are those that its document names as secrets, in the same places: these were checked
 * when it was saved, before anyone could know what the pipeline takes for a secret. None of them is for a pipeline that
 * the chained one runs itself: that one's project was not known then.
 */
export function requireNamed({ spec }: Chain, { secrets, document }: Pick<Filled, "secrets" | "document">): void {
  const texts = new Set(textsGiven(spec));
  const forAnother = new Set(textsForAnother(spec));
  const named = secretsGiven(spec);
  const places = new Set(named.map(({ path }) => pathText(path)));
  const references = new Set(named.map(({ value }) => value));

  const positionOf = createPositions();

  const faultOf = ({ inInputs, reference, path, home }: WrittenSecret): string | undefined => {
    if (!inInputs || !texts.has(reference)) return undefined;
    if (home) return forAnother.has(reference) ? FOR_ANOTHER : undefined;
    const given = placeGiven({ given: { pipeline: spec.inputs }, base: { pipeline: document }, positionOf }, path);
    // Without a place, an input set has given it, or the place is none that can be found again: then the text counts.
    const isNamed = given ? places.has(pathText(["inputs", ...given])) : references.has(reference);
    return isNamed ? undefined : NOT_NAMED;
  };

  const faults = secrets.flatMap((secret): readonly Fault[] => {
    const message = faultOf(secret);
    return message === undefined ? [] : [{ path: secret.path, message }];
  });
  if (faults.length === 0) return;
  throw problem("pipeline.bad_inputs", [faults.map(({ path, message }) => `${path}: ${message}`).join("; ")], {
    faults,
  });
}

/**
 * Where the inputs give the value at a place of the pipeline. Items of lists are matched as `merge` does: by identifier
 * or name, by position where they have none. A runtime input gives nothing.
 */
function placeGiven(
  documents: { readonly given: unknown; readonly base: unknown; readonly positionOf: PositionOf },
  text: string,
): Path | undefined {
  const found: (string | number)[] = [];
  let { base, given } = documents;
  for (const part of text.replaceAll(/\[(\d+)\]/g, ".$1").split(".")) {
    const key = Array.isArray(base)
      ? itemOf(base, given, { position: Number(part), positionOf: documents.positionOf })
      : part;
    base = childOf(base, part);
    given = childOf(given, key);
    found.push(key);
  }
  return typeof given === "string" && !isMarker(given) ? found.slice(1) : undefined;
}

type PositionOf = (list: readonly unknown[], name: string) => number | undefined;

/** Where a list has the item of a name. Each list is read once: there may be thousands of secrets in it. */
function createPositions(): PositionOf {
  const known = new Map<readonly unknown[], ReadonlyMap<string, number>>();
  return (list, name) => {
    const positions = known.get(list) ?? positionsIn(list);
    known.set(list, positions);
    return positions.get(name);
  };
}

const positionsIn = (list: readonly unknown[]): ReadonlyMap<string, number> =>
  // Of several items with one name the first counts.
  new Map(list.flatMap((item, nth) => keysOf(item).map(({ name }) => [name, nth] as const)).toReversed());

/** The position of what is given for an item of a list; -1 for none. */
function itemOf(
  base: readonly unknown[],
  given: unknown,
  { position, positionOf }: { readonly position: number; readonly positionOf: PositionOf },
): number {
  if (keysOf(base[0]).length === 0) return position;
  if (!Array.isArray(given)) return -1;
  const positions = keysOf(base[position]).flatMap(({ name }) => positionOf(given, name) ?? []);
  return positions.length === 0 ? -1 : Math.min(...positions);
}

function childOf(value: unknown, key: string | number): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string | number, unknown>>)[key];
}
