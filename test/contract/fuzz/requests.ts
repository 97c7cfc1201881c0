/** Generates a request to one operation of api/openapi.json: valid, or with a fault. */
import type { Operation, Parameter } from "../operations.ts";
import type { World } from "../world.ts";
import { bodyOf, type Body } from "./bodies.ts";
import { rubbishText, type Chance } from "./chance.ts";
import type { Documents } from "./graphql.ts";
import { formOf } from "./forms.ts";
import type { Sent } from "./send.ts";
import { corrupted, valueOf, withNewIdentifier, type Words } from "./values.ts";

export type Ground = {
  readonly world: World;
  readonly accountId: string;
  readonly apiKey: string;
  /** Identifiers, names and ids of the account. */
  readonly words: Words;
  /** Ids of resources of another account. */
  readonly foreign: Words;
  /** Other ids of that account, which are never sent. No response may contain them. */
  readonly hidden: Words;
  readonly foreignAccount: string;
  readonly documents: Documents;
};

/** Parts of a request that may be wrong. Correct requests create resources for the others and reach the most code. */
type Wrong = { readonly address: boolean; readonly body: boolean };

const WRONG: readonly Wrong[] = [
  { address: false, body: false },
  { address: false, body: false },
  { address: false, body: true },
  { address: false, body: true },
  { address: true, body: false },
  { address: true, body: true },
];

export function requestTo(c: Chance, operation: Operation, ground: Ground): Sent {
  const wrong = c.pick(WRONG);
  const body = bodyTo(c, operation, ground, wrong.body);
  return {
    method: operation.method,
    target: targetOf(c, operation, ground, wrong.address),
    headers: [
      ...(wrong.address ? credential(c, operation, ground) : [["x-api-key", ground.apiKey] as const]),
      ...(body?.contentType === undefined ? [] : [["content-type", body.contentType] as const]),
      ...(c.often(10) ? c.some(ODD_HEADERS, 15) : []),
    ],
    body: body?.bytes,
  };
}

const ODD_HEADERS: readonly (readonly [string, string])[] = [
  ["if-match", "1"],
  ["if-match", '"1"'],
  ["if-match", 'W/"1"'],
  ["if-match", "*"],
  ["if-match", '"99999999999999999999"'],
  ["if-match", '"1", "2"'],
  ["if-match", ""],
  ["if-match", "\u00ff\u00fe"],
  ["if-none-match", "*"],
  ["accept", "text/html"],
  ["accept", ";;;q=2"],
  ["accept", "application/graphql-response+json"],
  ["accept-encoding", "br;q=9"],
  ["content-encoding", "gzip"],
  ["origin", "null"],
  ["x-forwarded-for", "'"],
  ["range", "bytes=0-1"],
  ["last-event-id", "-1"],
  ["cookie", "a=b; __proto__=c"],
  ["x-http-method-override", "DELETE"],
  ["upgrade-insecure-requests", "1"],
];

function credential(c: Chance, operation: Operation, { apiKey, accountId }: Ground): Sent["headers"] {
  if (operation.public && c.often(70)) return [];
  if (!c.often(12)) return c.often(20) ? [["authorization", `Bearer ${apiKey}`]] : [["x-api-key", apiKey]];
  return c.pick<Sent["headers"]>([
    [],
    [["x-api-key", ""]],
    [["x-api-key", `pat.${accountId}.x.y`]],
    [["x-api-key", `${apiKey}x`]],
    [["x-api-key", "\u00e9".repeat(300)]],
    [["x-api-key", `pat.${accountId}.`.repeat(50)]],
    [["authorization", "Basic YTpi"]],
    [["authorization", "Bearer"]],
    [["authorization", "Bearer eyJhbGciOiJub25lIn0.e30."]],
    [
      ["x-api-key", apiKey],
      ["x-api-key", "pat.x"],
    ],
  ]);
}

function bodyTo(c: Chance, operation: Operation, ground: Ground, wrong: boolean): Body | undefined {
  const types = Object.keys(operation.bodies);
  if (types.length === 0)
    return wrong && c.often(10) ? bodyOf(c, rubbishText(c), ["application/json"], wrong) : undefined;
  if (wrong && c.often(3)) return undefined;
  if (operation.operationId.startsWith("graphql.")) {
    const document = ground.documents(c, ground);
    return c.often(25) ? formOf(c, document) : bodyOf(c, document, ["application/json"], wrong);
  }
  const { schema, example } = operation.bodies[types[0] ?? ""] ?? { schema: {} };
  const isExample = example !== undefined && c.often(wrong ? 60 : 85);
  let value = isExample ? withNewIdentifier(c, example) : valueOf(c, schema, ground.words);
  if (wrong && c.often(80)) for (let faults = 1 + c.upTo(2); faults > 0; faults -= 1) value = corrupted(c, value);
  if (types.every((type) => type === "multipart/form-data"))
    return formOf(c, (value as { readonly spec?: unknown } | null)?.spec ?? value, "spec");
  return bodyOf(c, value, types, wrong);
}

/** Sent unchanged: percent signs and characters that clients escape. */
const RAW = [
  "%ED%A0%80",
  "%C0%AF",
  "%",
  "%zz",
  "%2e%2e%2f",
  "..%2f..",
  "%00",
  "%u0041",
  "%FF",
  "+",
  ";",
  "a%2Fb",
  "%E2%80%AE",
  "a;b=c",
  "[]",
  "{}",
  "%5B%5D",
  "%0d%0aa:b",
];

function targetOf(c: Chance, operation: Operation, ground: Ground, wrong: boolean): string {
  let path = operation.path;
  const query: string[] = [];
  const scope = c.pick([2, 2, 2, 1, 0]);
  const value = (parameter: Parameter): string =>
    wrong
      ? wire(c, valueFor(c, operation, parameter, ground))
      : encodeURIComponent(rightFor(c, operation, parameter, ground));
  for (const parameter of operation.parameters) {
    const { name } = parameter;
    if (parameter.in === "path") {
      path = path.replace(`{${name}}`, () => value(parameter));
      continue;
    }
    if (parameter.required ? wrong && c.often(3) : !isAsked(c, name, wrong ? 0 : scope)) continue;
    query.push(`${name}=${value(parameter)}`);
    if (wrong && c.often(2)) query.push(`${name}=${value(parameter)}`);
  }
  if (wrong && c.often(6)) query.push(c.pick(ODD_PARAMETERS));
  return `${c.often(50) ? "/gateway" : ""}${path}${query.length > 0 ? `?${query.join("&")}` : ""}`;
}

/** Chooses one of: only an organization, an organization with its project, the account. */
function isAsked(c: Chance, name: string, scope: number): boolean {
  if (scope > 0 && name === "orgIdentifier") return true;
  if (scope > 1 && name === "projectIdentifier") return true;
  return c.often(name.endsWith("Identifier") ? 10 : 35);
}

function rightFor(
  c: Chance,
  operation: Operation,
  { name, example, schema }: Parameter,
  { world, words, accountId }: Ground,
): string {
  if (name === "accountId" || name === "accountIdentifier") return accountId;
  const known = world[`${operation.operationId} ${name}`] ?? example ?? world[name] ?? SCOPE[name];
  return (known ?? String(valueOf(c, schema, words))).toWellFormed();
}

const SCOPE: Readonly<Record<string, string>> = { orgIdentifier: "default", projectIdentifier: "shop" };

const ODD_PARAMETERS = ["__proto__=x", "constructor=x", "a[b]=c", "=", "&&", "%", "toString", "x=%ED%A0%80", "?", "#"];

const wire = (c: Chance, value: string): string =>
  c.often(8) ? c.pick(RAW) : encodeURIComponent(value.toWellFormed()).slice(0, 6_000);

function valueFor(c: Chance, operation: Operation, parameter: Parameter, ground: Ground): string {
  const { name, example, schema } = parameter;
  const { world } = ground;
  if (name === "accountId" || name === "accountIdentifier") return accountFor(c, ground);
  const right = world[`${operation.operationId} ${name}`] ?? example ?? world[name];
  if (right !== undefined && c.often(75)) return right;
  if (right === undefined && c.often(50)) return String(valueOf(c, schema, ground.words));
  switch (c.upTo(3)) {
    case 0:
      return c.pick(ground.words);
    case 1:
      return String(valueOf(c, schema, ground.words));
    case 2:
      // Public resources may be read by id from any account.
      return operation.public ? rubbishText(c) : c.pick(ground.foreign);
    default:
      return rubbishText(c);
  }
}

function accountFor(c: Chance, { accountId, foreignAccount }: Ground): string {
  if (!c.often(10)) return accountId;
  return c.often(50) ? foreignAccount : rubbishText(c);
}
