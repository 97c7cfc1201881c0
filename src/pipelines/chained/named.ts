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

  const faultOf = ({ inInputs, reference, path, home }: WrittenSecret): string | undefined => {
    if (!inInputs || !texts.has(reference)) return undefined;
    if (home) return forAnother.has(reference) ? FOR_ANOTHER : undefined;
    const given = placeGiven(spec.inputs, { pipeline: document }, path);
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
function placeGiven(inputs: unknown, document: unknown, text: string): Path | undefined {
  const found: (string | number)[] = [];
  let base: unknown = document;
  let given: unknown = { pipeline: inputs };
  for (const part of text.replaceAll(/\[(\d+)\]/g, ".$1").split(".")) {
    const key = Array.isArray(base) ? itemOf(base, given, Number(part)) : part;
    base = childOf(base, part);
    given = childOf(given, key);
    found.push(key);
  }
  return typeof given === "string" && !isMarker(given) ? found.slice(1) : undefined;
}

/** The position of what is given for an item of a list; -1 for none. */
function itemOf(base: readonly unknown[], given: unknown, position: number): number {
  if (keysOf(base[0]).length === 0) return position;
  const names = new Set(keysOf(base[position]).map(({ name }) => name));
  return Array.isArray(given) ? given.findIndex((item) => keysOf(item).some(({ name }) => names.has(name))) : -1;
}

function childOf(value: unknown, key: string | number): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string | number, unknown>>)[key];
}
