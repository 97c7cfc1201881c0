/** Times as documents have them; the engine reads those that expressions come to. */
export { MAX_DURATION_MS, parseDuration, parseInterval } from "../../engine/index.ts";
