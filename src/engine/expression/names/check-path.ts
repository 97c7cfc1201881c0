/** What can be said against a path before the run, from the table of names. */
import { ExpressionError } from "../error.ts";
import { nearest } from "../nearest.ts";
import { type HasLocal, refusalOfRoot } from "../roots.ts";
import { type Expression, stepOf } from "../syntax.ts";
import type { NameRow, Shape, TypeRow } from "./shape.ts";
import { ROOTS } from "./table.ts";
import { TYPES } from "./types.ts";

const ROOT_OF: ReadonlyMap<string, NameRow> = new Map(ROOTS.map((row) => [row.name, row]));

type Found = { readonly shape: Shape; readonly path: string };

/** The error of a path with a name that no run gives a meaning; undefined for other expressions. */
export function refusalOfPath(node: Expression, hasLocal: HasLocal): ExpressionError | undefined {
  const found = follow(node, hasLocal);
  return found instanceof ExpressionError ? found : undefined;
}

const ANY: Found = { shape: "any", path: "" };

function follow(node: Expression, hasLocal: HasLocal): Found | ExpressionError {
  if (node.kind === "root") {
    const shape = ROOT_OF.get(node.name)?.shape ?? "any";
    return refusalOfRoot(node.name, node.at, hasLocal) ?? { shape, path: node.name };
  }
  const step = stepOf(node);
  if (!step) return ANY;
  const of = follow(step.of, hasLocal);
  if (of instanceof ExpressionError || of.shape === "any" || of.shape === "list") return of;
  const key = step.key.kind === "literal" ? step.key.value : undefined;
  if (typeof of.shape === "string") {
    return new ExpressionError("unknown", `${of.path} is a ${of.shape} and has no members`, node.at);
  }
  if ("mapOf" in of.shape) return { shape: of.shape.mapOf, path: `${of.path}.${typeof key === "string" ? key : "…"}` };
  return typeof key === "string" ? memberOf(of.path, TYPES[of.shape.type], { key, at: node.at }) : ANY;
}

type Key = { readonly key: string; readonly at: number };

function memberOf(path: string, { members, isOpen }: TypeRow, { key, at }: Key): Found | ExpressionError {
  const member = members.find(({ name }) => name === key);
  if (member?.isRefused) {
    return new ExpressionError("unsupported", `this version has no value for '${path}.${key}'`, at);
  }
  if (member) return { shape: member.shape, path: `${path}.${key}` };
  if (isOpen) return ANY;
  const known = [...new Set(members.filter(({ isRefused }) => !isRefused).map(({ name }) => name))];
  const near = nearest(key, known);
  const hint = near === undefined ? `it has: ${known.join(", ")}` : `did you mean '${near}'?`;
  return new ExpressionError("unknown", `${path} has no '${key.slice(0, 64)}'; ${hint}`, at);
}
