/** Where the parts of a pipeline were written, by path text: of a document that is no longer in memory. */
import type { Fault } from "../core/problem.ts";
import { pathText, type Path } from "../platform/document/position/path.ts";

/** Line and column in the saved document, or in the inputs of the run. */
export type Place = Pick<Fault, "line" | "column"> & { readonly inInputs: boolean };

export type WrittenAt = (path: Path) => Place;

export const placeIn =
  (places: ReadonlyMap<string, Place>): WrittenAt =>
  (path) =>
    places.get(pathText(path)) ?? { inInputs: false };
