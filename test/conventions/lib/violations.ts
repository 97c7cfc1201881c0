import assert from "node:assert/strict";

/** A breach of a convention. `key` identifies it in the list of exceptions; the message tells what to do. */
export type Violation = { readonly key: string; readonly message: string };

/**
 * Fails with one line for each violation without an exception, and one for each exception without a violation, so that
 * lists of exceptions can only shrink.
 */
export function assertNoViolations(
  found: readonly Violation[],
  exceptions: Readonly<Record<string, string>> = {},
): void {
  const keys = new Set(found.map(({ key }) => key));
  const broken = found.filter(({ key }) => !Object.hasOwn(exceptions, key)).map(({ message }) => message);
  const unused = Object.keys(exceptions)
    .filter((key) => !keys.has(key))
    .map((key) => `the exception "${key}" is not needed any more: remove it`);
  const lines = [...broken, ...unused];
  if (lines.length > 0) assert.fail(`\n  ${lines.join("\n  ")}\n`);
}
