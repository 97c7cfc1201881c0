import { createEngine } from "../engine/index.ts";
import { stepModules } from "./table.ts";

/** The engine with all step types. */
export const engine = createEngine(new Map(stepModules.map(({ type, run }) => [type, run])));
