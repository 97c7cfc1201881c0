/** The GraphQL operations of the document, one for each path. */
import { IDEMPOTENCY_KEY } from "./operation.ts";
import type { Json } from "./schemas.ts";

const query = { type: "string", description: "GraphQL text; the schema is api/schema.graphql." };
const EXAMPLE = { query: "{ applications(limit: 10) { nodes { id name } } }", variables: null };

const body = {
  type: "object",
  properties: {
    query,
    variables: { type: ["object", "null"] },
    operationName: { type: ["string", "null"] },
    extensions: { type: ["object", "null"] },
  },
  required: ["query"],
};

const form = {
  type: "object",
  properties: {
    query: { type: "string", description: "GraphQL text, or JSON text with query and variables." },
    "x-api-key": { type: "string", description: "The credential, where no header carries one." },
    file: {
      type: "string",
      contentMediaType: "application/octet-stream",
      description: "The content of an encrypted file.",
    },
  },
  required: ["query"],
};

const location = { type: "object", properties: { line: { type: "integer" }, column: { type: "integer" } } };

const answer = {
  type: "object",
  properties: {
    data: { type: ["object", "null"] },
    errors: {
      type: "array",
      items: {
        type: "object",
        properties: {
          message: { type: "string" },
          locations: { type: "array", items: location },
          path: { type: "array", items: { type: ["string", "integer"] } },
          extensions: { type: "object" },
        },
        required: ["message"],
      },
    },
  },
};

const operation = (operationId: string): Readonly<Record<string, Json>> => ({
  post: {
    operationId,
    summary: "Run a GraphQL query or mutation",
    description:
      "The body is JSON or a form. Each field needs the permission that the schema names; a field that is refused is null and has its error in `errors`, with the status 200. What is no GraphQL request is 400, in the shape `GraphqlError`.",
    tags: ["graphql"],
    parameters: [
      {
        name: "accountId",
        in: "query",
        required: true,
        description: "The account; it must be the credential's own.",
        schema: { type: "string", pattern: "^[A-Za-z0-9_-]{22}$" },
      },
      // It applies to each `startExecution` of the document.
      IDEMPOTENCY_KEY,
    ],
    requestBody: {
      required: true,
      content: { "application/json": { schema: body, example: EXAMPLE }, "multipart/form-data": { schema: form } },
    },
    responses: {
      "200": {
        description: "data, errors, or both",
        content: {
          "application/json": { schema: answer },
          "application/graphql-response+json": { schema: answer },
        },
      },
      "400": {
        description: "The request is no GraphQL request; or, to who accepts it, the document is not valid",
        content: {
          "application/json": { schema: { $ref: "#/components/schemas/GraphqlError" } },
          "application/graphql-response+json": { schema: answer },
        },
      },
      ...Object.fromEntries(
        ["401", "402", "403", "406", "429", "500", "503"].map((status) => [
          status,
          { $ref: `#/components/responses/GraphqlError${status}` },
        ]),
      ),
    },
  },
});

export const graphqlPaths: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  "/api/graphql": operation("graphql.run"),
  "/api/graphql-api": operation("graphql.run-alternative"),
};
