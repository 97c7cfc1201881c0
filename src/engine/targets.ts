/** `service` and `env`: what a stage deploys, and where to, as they were when the execution started. */
import { own, type Place } from "./expression/place.ts";
import type { Json } from "./model.ts";

/** Where the stage's document names it, by the name in expressions. */
const REFERENCES: ReadonlyMap<string, readonly string[]> = new Map([
  ["service", ["spec", "serviceConfig", "serviceRef"]],
  ["env", ["spec", "infrastructure", "environmentRef"]],
]);

export const TARGET_ROOTS: ReadonlySet<string> = new Set(REFERENCES.keys());

/** The place of `service` or `env` in a stage; undefined for a stage without one. */
export function targetOf(world: Place, stage: Json | undefined, name: string): Place | undefined {
  let reference = stage;
  for (const part of REFERENCES.get(name) ?? []) reference = reference === undefined ? undefined : own(reference, part);
  return typeof reference === "string" ? world.member("targets")?.member(name)?.member(reference) : undefined;
}
