/** The words of the engine. All values are plain JSON and readonly: they are stored as they are, histories are replayed from them. */
export type * from "./model/events.ts";
export type * from "./model/json.ts";
export type * from "./model/plan.ts";
export type * from "./model/state.ts";
export type * from "./model/work.ts";
export { INTERRUPTS } from "./model/events.ts";
export { FORMAT } from "./model/plan.ts";
export { SERVICES } from "./model/state.ts";
