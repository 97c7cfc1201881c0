/** Runtime inputs in fields of any text, whose schema does not look at them: a run would have to read them. */
import type { Path } from "../../platform/document/position/path.ts";
import { isMarker, readMarker } from "../../steps/schema/marker.ts";

type MarkerFault = { readonly path: Path; readonly message: string };

export function markerFaults(value: unknown, path: Path): readonly MarkerFault[] {
  if (typeof value === "string") {
    if (!isMarker(value)) return [];
    const read = readMarker(value);
    return "fault" in read ? [{ path, message: read.fault }] : [];
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => markerFaults(item, [...path, index]));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => markerFaults(item, [...path, key]));
}
