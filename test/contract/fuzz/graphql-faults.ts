/** Faults of a GraphQL request as a whole. Its types are correct. */
import { rubbish, rubbishText, type Chance } from "./chance.ts";

export type Request = { readonly query: string; readonly variables: unknown };

type Fault = (c: Chance, request: Request) => unknown;

export const breakText = (c: Chance, request: Request): unknown => c.pick(FAULTS)(c, request);

const query =
  (change: (c: Chance, text: string) => string): Fault =>
  (c, request) => ({
    ...request,
    query: change(c, request.query),
  });

const FAULTS: readonly Fault[] = [
  query((c, text) => text.slice(0, c.upTo(text.length))),
  query((c, text) => {
    const at = c.upTo(text.length);
    return `${text.slice(0, at)}${c.pick(["\0", "\ud800", "}", "{", '"', '"""', "#", "@", "...", "$", "\u00e9", "&", "|"])}${text.slice(at)}`;
  }),
  query((_c, text) => `${text} ${text}`),
  query((_c, text) => `${text} { applications { nodes { id } } }`),
  query((_c, text) => text.replace("Fuzz", "Fuzz @nope")),
  query((_c, text) => `${text.replace("{", "{ ...Cycle")} fragment Cycle on Query { ...Cycle }`),
  query(() => "{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }"),
  query((c) => `{ ${'application(applicationId: "x") { id } '.repeat(c.pick([2, 50, 3_000]))} }`),
  query(
    (c) =>
      `{ ${Array.from({ length: c.pick([20, 500]) }, (_, at) => `a${at}: applications { nodes { id } }`).join(" ")} }`,
  ),
  query((c) => `{ a${" { a".repeat(c.pick([20, 500, 20_000]))}${" }".repeat(20)} }`),
  query((c) => `{ executions(filters: ${"[".repeat(c.pick([10, 300, 20_000]))}) { nodes { id } } }`),
  query(
    (c) =>
      `query(${Array.from({ length: c.pick([100, 5_000]) }, (_, at) => `$v${at}: Int`).join()}) { applications { nodes { id } } }`,
  ),
  query(() => "{ __schema { types { name fields { type { ofType { ofType { name } } } } } } }"),
  query(() => '{ __type(name: "Secret") { possibleTypes { name } } __typename }'),
  query(() => "subscription { executions { nodes { id } } }"),
  query(() => "query A { __typename } query B { __typename }"),
  query(() => "type Query { a: Int }"),
  query(() => 'query ($a: Int = "x", $b: [Nope!]!) { applications(limit: $a) { nodes { id } } }'),
  query(() => "query ($a: Int, $a: Int) { applications(limit: $a, limit: $a) { nodes { id } } }"),
  query(() => "{ applications(limit: 1) { nodes { id } } applications(limit: 2) { nodes { id } } }"),
  query(() => '{ userByName(name: "\\u{110000}\\uD800") { id } }'),
  query((c) => rubbishText(c)),
  query(() => ""),
  (c, { query: text }) => ({ query: text, variables: rubbish(c) }),
  (c, { variables }) => ({ query: rubbish(c), variables }),
  (c, request) => ({ ...request, operationName: rubbish(c) }),
  (c, request) => ({ ...request, extensions: rubbish(c) }),
  (_c, request) => ({
    ...request,
    operationName: "Fuzz",
    extensions: { persistedQuery: { version: 1, sha256Hash: "x" } },
  }),
  (_c, { query: text }) => ({ query: text }),
  (_c, request) => ({ ...request, id: "x", more: { __proto__: 1 } }),
  (_c, request) => [request, request],
  (_c, { query: text }) => text,
  (c) => rubbish(c),
];
