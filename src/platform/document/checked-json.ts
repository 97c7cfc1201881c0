import { depthOffset } from "./json-tokens.ts";
import { problem } from "./problems.ts";
import { faultAt } from "./text.ts";

/**
 * A JSON payload from outside, as JSON.parse gives it: only size (bytes) and
 * depth are checked first, which costs one pass over the text. A key
 * `__proto__` is an own property of its object like any other; whoever copies
 * payloads must copy own properties by definition (spread, Object.entries),
 * never by assignment. Throws `document.too_large`, `document.too_complex`
 * or `document.bad_payload`.
 */
export function checkedJson(text: string, limits: { readonly maxBytes: number; readonly maxDepth: number }): unknown {
  if (Buffer.byteLength(text) > limits.maxBytes) throw problem("document.too_large", [String(limits.maxBytes)]);
  const deep = depthOffset(text, limits.maxDepth);
  if (deep !== undefined) {
    throw faultAt("document.too_complex", text, deep, `Values are nested deeper than ${limits.maxDepth} levels`);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    // Not kept as the cause: it quotes the payload, and causes are logged.
    throw problem("document.bad_payload", [reasonOf(cause)]);
  }
}

/** What JSON.parse found wrong, without the part of the body that it quotes. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : "";
  return /^(.*?)(?:, "|, \.\.\.| in JSON| JSON|$)/s.exec(message)?.[1] || "Unexpected end";
}
