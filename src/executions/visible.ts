import { reach } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { ExecutionFilter } from "./store/conditions.ts";

/** The condition of a reader who may not see everything. */
export function seenBy(actor: Actor): ExecutionFilter {
  const places = reach(actor, "core_pipeline_view");
  return places === "all" ? [] : [{ is: "seenBy", value: JSON.stringify(places) }];
}
