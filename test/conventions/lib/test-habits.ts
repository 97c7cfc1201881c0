import { type Files, isTest } from "../../../scripts/lib/files.ts";
import { isNode, literal, type Node, parse } from "../../../scripts/lib/parse.ts";
import type { Violation } from "./violations.ts";

const WAITS = new Set(["setTimeout", "setInterval", "sleep", "delay"]);
const RUNNERS = new Set(["test", "it", "describe", "suite", "t"]);

/** Reports tests that wait for time to pass, and tests that prevent others from running. */
export function habitViolations(files: Files): readonly Violation[] {
  return [...files].flatMap(([file, text]) => {
    if (!isTest(file)) return [];
    const source = parse(file, text);
    const found = source.nodes.flatMap((node) => {
      const what = node.type === "CallExpression" ? habit(node) : importedTimer(node);
      return what === undefined ? [] : [{ line: source.lineOf(node), what }];
    });
    return found.map(({ line, what }) => ({
      key: `${file}: ${what}`,
      message: `${file}:${line} ${what}: ${what.includes("only") ? "remove it" : "wait for the event, or drive the clock by hand"}`,
    }));
  });
}

/** Reports timers except `setImmediate`, which waits for a turn of the event loop instead of time. */
function importedTimer(node: Node): string | undefined {
  if (node.type !== "ImportDeclaration" && node.type !== "ImportExpression") return undefined;
  if (!/^(node:)?timers\/promises$/.test(literal(node["source"]) ?? "")) return undefined;
  const names = ((node["specifiers"] ?? [undefined]) as readonly (Node | undefined)[]).map((it) =>
    nameOf(it?.["imported"]),
  );
  return names.every((name) => name === "setImmediate") ? undefined : "imports timers";
}

function habit(call: Node): string | undefined {
  const name = nameOf(call["callee"]);
  if (name !== undefined && WAITS.has(name)) return `calls ${name}`;
  if (name === "only" && RUNNERS.has(objectOf(call["callee"]) ?? "")) return "runs only this test";
  if (name === "wait" && objectOf(call["callee"]) === "Atomics") return "calls Atomics.wait";
  const options = (call["arguments"] as readonly unknown[]).some(isOnly);
  return options && RUNNERS.has(name ?? "") ? "runs only this test" : undefined;
}

/** Returns `f` for `f()` and `x.f()`. */
function nameOf(callee: unknown): string | undefined {
  if (!isNode(callee)) return undefined;
  const named = callee.type === "MemberExpression" ? callee["property"] : callee;
  if (!isNode(named)) return undefined;
  return named.type === "Identifier" ? (named["name"] as string) : literal(named);
}

const objectOf = (callee: unknown): string | undefined =>
  isNode(callee) && callee.type === "MemberExpression" ? nameOf(callee["object"]) : undefined;

/** Returns whether the argument is an options object with `only: true`. */
function isOnly(argument: unknown): boolean {
  if (!isNode(argument) || argument.type !== "ObjectExpression") return false;
  return (argument["properties"] as readonly Node[]).some(
    (it) =>
      it.type === "Property" && nameOf(it["key"]) === "only" && isNode(it["value"]) && it["value"]["value"] === true,
  );
}
