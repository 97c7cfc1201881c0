/** One route as an operation of the document. */
import { z } from "zod";
import type { ErrorFamily } from "../../src/platform/http/response/envelope.ts";
import type { BodyDoc, Route, RouteDoc } from "../../src/platform/http/routes.ts";
import { descriptionOf } from "./description.ts";
import { envelopeSchema, jsonSchema, type Json } from "./schemas.ts";
import { tagOf } from "./tags.ts";

const DOCUMENT_TYPES = ["application/json", "application/yaml"];
const REFUSALS: Readonly<Record<string, string>> = {
  "400": "Incorrect syntax or missing parameters",
  "401": "Invalid API key",
  "402": "The request is right, and cannot be processed as things stand",
  "403": "The API key lacks permission for the request",
  "404": "The resource does not exist",
  "409": "Something else has this name already",
  "412": "The version that was read is not the newest any more",
  "429": "Rate limit exceeded; Retry-After says for how many seconds",
  "500": "Unexpected server error",
  "503": "The server or its database is not available now",
  "406": "Accept takes none of the media types that there are",
};

/** Error schema and media type of each family, and the statuses that the family does not use. */
const FAMILIES: Readonly<Record<ErrorFamily, Family>> = {
  rest: { name: "Error", type: "application/json", without: ["406", "409", "412"] },
  resource: { name: "ResourceError", type: "application/json", without: ["406", "409", "412"] },
  graphql: { name: "GraphqlError", type: "application/json", without: ["409", "412"] },
  scim: { name: "ScimError", type: "application/scim+json", without: ["402", "406"] },
};
type Family = { readonly name: string; readonly type: string; readonly without: readonly string[] };

/** The scope of the examples. */
const SCOPE: Readonly<Record<string, string>> = { orgIdentifier: "default", projectIdentifier: "shop" };

export function operationOf(route: Route, doc: RouteDoc): Json {
  const open = "public" in route.access;
  return {
    operationId: route.operation,
    summary: doc.summary,
    ...("permission" in route.access ? { "x-permission": route.access.permission } : {}),
    description: descriptionOf(route, doc),
    tags: [tagOf(route)],
    ...(open ? { security: [] } : {}),
    ...("session" in route.access ? { security: [{ session: [], csrfToken: [] }] } : {}),
    parameters: [
      ...pathParameters(route, doc),
      ...accountParameter(route),
      ...queryParameters(route, doc),
      ...(doc.ifMatch ? [IF_MATCH[route.errors === "scim" ? "scim" : "rest"]] : []),
      ...(doc.ifNoneMatch ? [IF_NONE_MATCH] : []),
      ...(doc.idempotencyKey ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(doc.body ? { requestBody: bodyOf(doc.body) } : {}),
    responses: {
      [doc.status ?? 200]: answerOf(route, doc),
      ...refusalsOf(route, open ? (doc.refuses ?? []) : ["401", "403"]),
      ...otherAnswers(doc),
      // Only redirects have no success response.
      ...(doc.status === 302 ? { default: { $ref: `#/components/responses/${FAMILIES[route.errors].name}500` } } : {}),
    },
  };
}

const pathParameters = (route: Route, doc: RouteDoc): Json[] =>
  [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    ...(name === "accountId" && "account" in route && route.account === "path"
      ? ACCOUNT
      : { schema: { type: "string" }, ...exampleOf(doc.params?.[name ?? ""]) }),
  }));

const ACCOUNT: Json = {
  description: "The account; it must be the credential's own.",
  schema: { type: "string", pattern: "^[A-Za-z0-9_-]{22}$" },
};

function accountParameter(route: Route): Json[] {
  if (!("account" in route) || route.account === "path") return [];
  if (route.account !== "header") return [{ name: route.account, in: "query", required: true, ...ACCOUNT }];
  const description = "The account; it must be the credential's own. One of this header and the parameter is required.";
  return [
    { ...ACCOUNT, name: "X-Platform-Account", in: "header", required: false, description },
    { ...ACCOUNT, name: "accountIdentifier", in: "query", required: false },
  ];
}

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

const header = (name: string, description: string): Json => ({
  name,
  in: "header",
  required: false,
  description,
  schema: { type: "string" },
});
/** `*`, or no header, accepts any version. */
const IF_MATCH = {
  rest: header("If-Match", "The version that was read, bare or as an ETag. 402 when it is not the newest any more."),
  scim: header(
    "If-Match",
    "The ETag that was read, or several of which one will do. 412 when none is the newest any more.",
  ),
} as const;
const IF_NONE_MATCH = header("If-None-Match", "The ETags that are known. 304 when one of them is the newest.");

/** src/executions/idempotency.ts reads this header. */
export const IDEMPOTENCY_KEY: Json = {
  ...header(
    "Idempotency-Key",
    "For 24 hours the same request with the same key starts nothing again, and gets the same answer. 422 when another request has had the key.",
  ),
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[ -~]+$" },
};

const ETAG: Json = { ETag: { description: "The version, for If-Match.", schema: { type: "string" } } };

const exampleOf = (example: unknown): Json => (example === undefined ? {} : { example });

function bodyOf(body: BodyDoc): Json {
  const whole = body.root === undefined ? body.schema : z.strictObject({ [body.root]: body.schema });
  const schema = body.strict ? jsonSchema(whole, "input") : envelopeSchema(whole);
  const example = body.root === undefined ? body.example : { [body.root]: body.example };
  if (body.form) return formOf(body.form, schema, example);
  const types = body.types ?? DOCUMENT_TYPES;
  return {
    required: body.required ?? true,
    content: Object.fromEntries(types.map((type) => [type, { schema, example }])),
  };
}

/** A form with a document in part `spec` and bytes in part `file`. */
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

const SUCCESS = {
  200: "Request processed successfully",
  201: "Made",
  204: "Done; there is nothing to say",
  302: "Go there",
} as const;
const LOCATION: Json = { Location: { description: "Where it is.", schema: { type: "string" } } };

export const IGNORED_FIELDS: Json = {
  description: "Fields of the body that are unknown, by path, with commas between them; left out if there are none.",
  schema: { type: "string" },
};
const IGNORED: Json = { "Railhead-Ignored-Fields": { $ref: "#/components/headers/IgnoredFields" } };

const answerOf = (route: Route, doc: RouteDoc): Json => ({
  description: SUCCESS[doc.status ?? 200],
  ...headersOf(doc),
  ...contentsOf(route, doc.answer),
});

function headersOf({ etag, status, body }: RouteDoc): Json {
  const headers = {
    ...(etag ? ETAG : {}),
    ...(status === 201 || status === 302 ? LOCATION : {}),
    ...(body && !body.strict ? IGNORED : {}),
  };
  return Object.keys(headers).length === 0 ? {} : { headers };
}

const contentsOf = (route: Route, answer: RouteDoc["answer"]): Json => ({
  ...(answer === "nothing" ? {} : { content: contentOf(route, answer) }),
});

const contentOf = (route: Route, answer: Exclude<RouteDoc["answer"], "nothing">): Json =>
  answer instanceof z.ZodType
    ? { [FAMILIES[route.errors].type]: { schema: jsonSchema(answer, "output") } }
    : Object.fromEntries([answer].flat().map((type) => [type, { schema: { type: "string" } }]));

const otherAnswers = ({ otherAnswers: others = {}, ifNoneMatch }: RouteDoc): Json => ({
  ...(ifNoneMatch ? { "304": { description: "The newest version is known already", headers: ETAG } } : {}),
  ...Object.fromEntries(
    Object.entries(others).map(([status, schema]) => [
      status,
      {
        description: REFUSALS[status] ?? status,
        content: { "application/json": { schema: jsonSchema(schema, "output") } },
      },
    ]),
  ),
});

function refusalsOf(route: Route, personal: readonly string[]): Json {
  const { name, without } = FAMILIES[route.errors];
  // Only GraphQL, which openapi/graphql.ts describes, checks the Accept header.
  const statuses = Object.keys(REFUSALS).filter(
    (status) =>
      status !== "406" && !without.includes(status) && (!["401", "403"].includes(status) || personal.includes(status)),
  );
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${name}${status}` }]));
}

/** The error responses as components that all operations of a family share. */
export const refusalResponses = (codes: (status: string) => readonly string[]): Json =>
  Object.fromEntries(
    Object.values(FAMILIES).flatMap((family) =>
      Object.keys(REFUSALS)
        .filter((status) => !family.without.includes(status))
        .map((status) => [`${family.name}${status}`, refusal(family, status, codes(status))]),
    ),
  );

function refusal({ name, type }: Family, status: string, codes: readonly string[]): Json {
  const isScim = name === "ScimError";
  // In other families the limit is checked before the family is known.
  const schema = status === "429" && !isScim ? "TooManyRequests" : name;
  return {
    description: `${REFUSALS[status]}.${isScim ? "" : ` Codes: ${codes.join(", ")}.`}`,
    ...(status === "429" || status === "503"
      ? { headers: { "Retry-After": { description: "Seconds.", schema: { type: "integer" } } } }
      : {}),
    content: { [type]: { schema: { $ref: `#/components/schemas/${schema}` } } },
  };
}
