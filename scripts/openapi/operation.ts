/** One route as an operation of the document. */
import { z } from "zod";
import type { BodyDoc, Route, RouteDoc } from "../../src/platform/http/routes.ts";
import { jsonSchema, type Json } from "./schemas.ts";

const DOCUMENT_TYPES = ["application/json", "application/yaml"];
const REFUSALS: Readonly<Record<string, string>> = {
  "400": "Incorrect syntax or missing parameters",
  "401": "Invalid API key",
  "402": "The request is right, and cannot be processed as things stand",
  "403": "The API key lacks permission for the request",
  "404": "The resource does not exist",
  "429": "Rate limit exceeded; Retry-After says for how many seconds",
  "500": "Unexpected server error",
  "503": "The server or its database is not available now",
};

/** Only GraphQL asks what its client accepts. */
const ONLY_GRAPHQL = { "406": "Accept takes none of the media types that there are" };

/** The schema of each family's error. */
const FAMILIES = { rest: "Error", resource: "ResourceError", graphql: "GraphqlError", scim: "Error" } as const;

/** Where the examples live. */
const SCOPE: Readonly<Record<string, string>> = { orgIdentifier: "default", projectIdentifier: "shop" };

export function operationOf(route: Route, doc: RouteDoc): Json {
  const open = "public" in route.access;
  return {
    operationId: route.operation,
    summary: doc.summary,
    ...("permission" in route.access ? { "x-permission": route.access.permission } : {}),
    ...(doc.description === undefined ? {} : { description: doc.description }),
    tags: [route.operation.split(".")[0]],
    ...(open ? { security: [] } : {}),
    ...("session" in route.access ? { security: [{ session: [], csrfToken: [] }] } : {}),
    parameters: [
      ...pathParameters(route, doc),
      ...accountParameter(route),
      ...queryParameters(route, doc),
      ...(doc.ifMatch ? [IF_MATCH] : []),
    ],
    ...(doc.body ? { requestBody: bodyOf(doc.body) } : {}),
    responses: {
      "200": answerOf(doc),
      ...refusalsOf(route, open ? (doc.refuses ?? []) : ["401", "403"]),
      ...otherAnswers(doc),
    },
  };
}

const pathParameters = (route: Route, doc: RouteDoc): Json[] =>
  [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
    ...exampleOf(doc.params?.[name ?? ""]),
  }));

const accountParameter = (route: Route): Json[] =>
  "account" in route
    ? [
        {
          name: route.account,
          in: "query",
          required: true,
          description: "The account; it must be the credential's own.",
          schema: { type: "string", pattern: "^[A-Za-z0-9_-]{22}$" },
        },
      ]
    : [];

function queryParameters(route: Route, doc: RouteDoc): Json[] {
  const { properties = {}, required = [] } = jsonSchema(route.query, "input") as {
    readonly properties?: Readonly<Record<string, Json>>;
    readonly required?: readonly string[];
  };
  const account = "account" in route ? route.account : undefined;
  return Object.entries(properties).flatMap(([name, schema]) =>
    name === account
      ? []
      : [
          {
            name,
            in: "query",
            required: required.includes(name),
            schema,
            ...exampleOf(doc.queryExample?.[name] ?? (required.includes(name) ? SCOPE[name] : undefined)),
          },
        ],
  );
}

/** `*`, or none, takes any version. */
const IF_MATCH: Json = {
  name: "If-Match",
  in: "header",
  required: false,
  description: "The version that was read, bare or as an ETag. 402 when it is not the newest any more.",
  schema: { type: "string" },
};

const ETAG: Json = { ETag: { description: "The version, for If-Match.", schema: { type: "string" } } };

const exampleOf = (example: unknown): Json => (example === undefined ? {} : { example });

function bodyOf(body: BodyDoc): Json {
  const inner = jsonSchema(body.schema, "input");
  const schema = body.root === undefined ? inner : jsonSchema(z.strictObject({ [body.root]: body.schema }), "input");
  const example = body.root === undefined ? body.example : { [body.root]: body.example };
  if (body.form) return formOf(body.form, schema, example);
  const types = body.types ?? DOCUMENT_TYPES;
  return {
    required: body.required ?? true,
    content: Object.fromEntries(types.map((type) => [type, { schema, example }])),
  };
}

/** A form with a document in its part `spec` and bytes in its part `file`. */
const formOf = (parts: NonNullable<BodyDoc["form"]>, spec: Json, example: unknown): Json => ({
  required: true,
  content: {
    "multipart/form-data": {
      schema: {
        type: "object",
        properties: {
          spec,
          file: { type: "string", contentMediaType: "application/octet-stream", description: "The content." },
        },
        required: (["spec", "file"] as const).filter((part) => parts[part] === "required"),
        additionalProperties: false,
      },
      encoding: { spec: { contentType: "application/json" } },
      example: { spec: example, file: "content" },
    },
  },
});

const answerOf = ({ answer, etag }: RouteDoc): Json => ({
  description: "Request processed successfully",
  ...(etag ? { headers: ETAG } : {}),
  content:
    typeof answer === "string"
      ? { [answer]: { schema: { type: "string" } } }
      : { "application/json": { schema: jsonSchema(answer, "output") } },
});

const otherAnswers = ({ otherAnswers: others = {} }: RouteDoc): Json =>
  Object.fromEntries(
    Object.entries(others).map(([status, schema]) => [
      status,
      {
        description: REFUSALS[status] ?? status,
        content: { "application/json": { schema: jsonSchema(schema, "output") } },
      },
    ]),
  );

function refusalsOf(route: Route, personal: readonly string[]): Json {
  const family = FAMILIES[route.errors];
  const statuses = Object.keys(REFUSALS).filter(
    (status) => (status !== "401" && status !== "403") || personal.includes(status),
  );
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${family}${status}` }]));
}

/** The refusals as components: each operation of a family shares them. */
export function refusalResponses(codes: (status: string) => readonly string[]): Json {
  const entries = Object.values(FAMILIES).flatMap((family) =>
    Object.entries({ ...REFUSALS, ...(family === FAMILIES.graphql ? ONLY_GRAPHQL : {}) }).map(
      ([status, description]): [string, Json] => [
        `${family}${status}`,
        {
          description: `${description}. Codes: ${codes(status).join(", ")}.`,
          ...(status === "429" || status === "503"
            ? { headers: { "Retry-After": { description: "Seconds.", schema: { type: "integer" } } } }
            : {}),
          content: {
            // Limits are refused before a family is known.
            "application/json": {
              schema: { $ref: `#/components/schemas/${status === "429" ? "TooManyRequests" : family}` },
            },
          },
        },
      ],
    ),
  );
  return Object.fromEntries(entries);
}
