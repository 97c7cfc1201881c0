/** The document api/openapi.json: all routes and GraphQL. api/schema.graphql describes the GraphQL schema. */
import type { Route } from "../../src/platform/http/routes.ts";
import type { Declared } from "../lib/problem-tables.ts";
import { graphqlPaths } from "./graphql.ts";
import { IGNORED_FIELDS, operationOf, refusalResponses } from "./operation.ts";
import type { Json } from "./schemas.ts";
import { shareSchemas } from "./share.ts";
import { tagsOf } from "./tags.ts";

const DESCRIPTION = `The REST interface of Railhead. Every path is served with and without the prefix \`/gateway\`. The
credential is an API key in \`x-api-key\` or \`authorization: Bearer\`. Bodies may be JSON or YAML alike. Unknown
fields of a body are ignored and named in the header \`Railhead-Ignored-Fields\`, where \`additionalProperties\` is not false;
\`accountIdentifier\`, \`orgIdentifier\` and \`projectIdentifier\` beside the fields must equal those of the query. A path that is here
answers a method that is not with 405 and \`Allow\`.`;

export function openApi(routes: readonly Route[], problems: readonly Declared[], version: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    if (route.doc === "refused") continue;
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    (paths[path] ??= {})[route.method.toLowerCase()] = operationOf(route, route.doc);
  }
  const shared = shareSchemas(sorted({ ...paths, ...graphqlPaths }), Object.keys(ERRORS));
  const codes = (status: string): readonly string[] =>
    [...new Set(problems.filter((one) => String(one.status) === status).map(({ wire }) => wire))].toSorted();
  return {
    openapi: "3.1.0",
    info: {
      title: "Railhead",
      version,
      description: DESCRIPTION,
      contact: { name: "The contributors of Railhead" },
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/gateway" }, { url: "/" }],
    security: [{ apiKey: [] }, { bearer: [] }],
    tags: tagsOf(routes),
    paths: shared.paths,
    components: {
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
        bearer: { type: "http", scheme: "bearer" },
        // With https the name of the cookie begins with __Host-.
        session: { type: "apiKey", in: "cookie", name: "railhead_session" },
        csrfToken: { type: "apiKey", in: "header", name: "x-csrf-token" },
      },
      schemas: { ...ERRORS, ...shared.schemas },
      responses: usedResponses(shared.paths, refusalResponses(codes)),
      headers: { IgnoredFields: IGNORED_FIELDS },
    },
  };
}

const sorted = <T>(paths: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(paths).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** The responses that at least one operation refers to. */
function usedResponses(paths: Json, responses: Json): Json {
  const text = JSON.stringify(paths);
  return Object.fromEntries(
    Object.entries(responses).filter(([name]) => text.includes(`"#/components/responses/${name}"`)),
  );
}

const text = { type: "string" };
const message = {
  code: text,
  level: { const: "ERROR" },
  message: text,
  exception: { type: "null" },
  failureTypes: { type: "array", items: text },
};
const object = (properties: Json, optional: readonly string[] = []): Json => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});

const maybeNumber = { type: ["integer", "null"] };
const maybeText = { type: ["string", "null"] };
/** The stage or step of a pipeline that contains a fault. */
const maybeNode = {
  ...object({ identifier: maybeText, name: maybeText, type: maybeText, fqn: text }),
  type: ["object", "null"],
};
const schemaError = object({
  message: text,
  fqn: text,
  line: maybeNumber,
  column: maybeNumber,
  hintMessage: maybeText,
  stageInfo: maybeNode,
  stepInfo: maybeNode,
});

const additionalInfo: Json = {
  type: "object",
  properties: {
    currentVersion: { type: "integer", description: "Of a stale If-Match: the version that the resource has now." },
  },
};

const errorSchema = object({
  status: { const: "ERROR" },
  code: text,
  message: text,
  correlationId: text,
  detailedMessage: { type: "null" },
  responseMessages: {
    type: "array",
    items: object({ ...message, failureSubTypes: { type: "array", items: text }, additionalInfo }),
  },
  metadata: {
    anyOf: [
      { type: "null" },
      object({ type: { const: "SchemaErrors" }, schemaErrors: { type: "array", items: schemaError } }),
    ],
  },
});

/** The error of the older families; the name of its first field differs between them. */
const olderErrorSchema = (first: "metaData" | "metadata"): Json =>
  object({
    [first]: { type: "object" },
    resource: { type: "null" },
    responseMessages: { type: "array", minItems: 1, items: object(message) },
  });

/** RFC 7644 section 3.12. */
const scimErrorSchema = object(
  {
    schemas: { const: ["urn:ietf:params:scim:api:messages:2.0:Error"] },
    status: { type: "string", pattern: "^[45]\\d\\d$" },
    scimType: text,
    detail: text,
  },
  ["scimType"],
);

const tooManyRequestsSchema = object({ code: text, message: text, status: { const: "Error" } });

const ERRORS = {
  Error: errorSchema,
  ResourceError: olderErrorSchema("metaData"),
  GraphqlError: olderErrorSchema("metadata"),
  TooManyRequests: tooManyRequestsSchema,
  ScimError: scimErrorSchema,
};
