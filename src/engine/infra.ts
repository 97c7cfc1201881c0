/** `infra` and `INFRA_KEY`: the infrastructure of a stage. Its texts are evaluated where an expression reads them. */
import { createHash } from "node:crypto";
import { ExpressionError } from "./expression/error.ts";
import { jsonPlace, own, type Place, type Scope } from "./expression/place.ts";
import { evaluateTemplate } from "./expression/template.ts";
import type { Json } from "./model.ts";

/** Fields of the infrastructure's definition, with the rule for their values. */
const FIELDS = {
  connectorRef: () => undefined,
  namespace: namespaceFault,
  releaseName: releaseNameFault,
} as const satisfies Record<string, (value: string) => string | undefined>;

type Field = keyof typeof FIELDS;

const NAMESPACE = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const RELEASE = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/;

/** What is wrong with the name of a namespace; undefined if nothing is. */
export function namespaceFault(value: string): string | undefined {
  if (NAMESPACE.test(value)) return undefined;
  return "A namespace has lower-case letters, digits and -, begins and ends with a letter or digit, and has 63 characters at most";
}

/** What is wrong with the name of a release; undefined if nothing is. */
export function releaseNameFault(value: string): string | undefined {
  if (RELEASE.test(value)) return undefined;
  return "A release name has letters, digits, -, _ and ., begins and ends with a letter or digit, and has 253 characters at most";
}

/** The names that lead to it. */
export const INFRA_ROOTS: ReadonlySet<string> = new Set(["infra", "INFRA_KEY", "INFRA_KEY_SHORT_ID"]);

const SHORT_KEY = 6;

/**
 * Returns the places of `infra`, `INFRA_KEY` and `INFRA_KEY_SHORT_ID` for the document of a stage; undefined for other
 * names, and for a stage without an infrastructure definition. Each text is evaluated once for a scope.
 */
export function infraRoots(stage: Json | undefined, scope: Scope): (name: string) => Place | undefined {
  const definition = memberAt(stage, ["spec", "infrastructure", "infrastructureDefinition", "spec"]);
  if (definition === undefined) return () => undefined;
  /** Undefined while it is evaluated. */
  const values = new Map<Field, string | undefined>();
  const valueOf = (field: Field): string => {
    const known = values.get(field);
    if (known !== undefined) return known;
    if (values.has(field)) throw new ExpressionError("unknown", `infra.${field} refers to itself`, 0);
    values.set(field, undefined);
    const value = evaluateTemplate(textAt(definition, [field]), scope);
    const fault = FIELDS[field](value);
    if (fault !== undefined)
      throw new ExpressionError("type", `infra.${field} has come to '${clip(value)}'. ${fault}`, 0);
    values.set(field, value);
    return value;
  };
  const key = (): string => {
    const named = [
      ["spec", "serviceConfig", "serviceRef"],
      ["spec", "infrastructure", "environmentRef"],
    ].map((path) => textAt(stage, path));
    const text = [...named, valueOf("connectorRef"), valueOf("namespace")].join("-");
    return createHash("sha1").update(text).digest("hex");
  };
  return (name) => {
    if (name === "INFRA_KEY") return jsonPlace(key());
    if (name === "INFRA_KEY_SHORT_ID") return jsonPlace(key().slice(0, SHORT_KEY));
    return name === "infra" ? infraPlace(definition, valueOf) : undefined;
  };
}

const isField = (name: string | number): name is Field => typeof name === "string" && Object.hasOwn(FIELDS, name);

function infraPlace(definition: Json, valueOf: (field: Field) => string): Place {
  return {
    value: definition,
    member: (name) => (isField(name) ? jsonPlace(valueOf(name)) : undefined),
    keys: () => Object.keys(FIELDS),
    notYet: () => undefined,
  };
}

function memberAt(from: Json | undefined, path: readonly string[]): Json | undefined {
  let value = from;
  for (const part of path) value = value === undefined ? undefined : own(value, part);
  return value ?? undefined;
}

function textAt(from: Json | undefined, path: readonly string[]): string {
  const value = memberAt(from, path);
  return typeof value === "string" ? value : "";
}

const clip = (text: string): string => (text.length > 64 ? `${text.slice(0, 64)}…` : text);
