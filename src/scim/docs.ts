/** The documentation of SCIM in api/openapi.json. */
import { z } from "zod";
import type { BodyDoc, RouteDoc } from "../platform/http/routes.ts";
import { SCIM_TYPE } from "./answers.ts";
import { PATCH_SCHEMA } from "./document/patch-operations.ts";
import { LIST_SCHEMA, SEARCH_SCHEMA, searchBody } from "./list.ts";
import type { ResourceType } from "./schema/attribute.ts";
import { GROUP_SCHEMA, USER_SCHEMA } from "./schema/resources.ts";
import { sentShape, shownShape } from "./schema/shapes.ts";

export type ResourceDocs = Readonly<
  Record<"create" | "list" | "search" | "get" | "replace" | "patch" | "delete", RouteDoc>
>;

/** Examples of the two base paths must not use the same users; `tag` distinguishes them. */
export function resourceDocs(type: ResourceType, tag: string): ResourceDocs {
  const what = type.name === "User" ? "person" : "group";
  const shown = shownShape(type);
  const listed = listOf(shown);
  const sent = (text: string): BodyDoc => bodyDoc(sentShape(type), exampleOf(type, `${text}-${tag}`));
  return {
    create: { summary: `Make a ${what}`, body: sent("grace"), status: 201, answer: shown, etag: true },
    list: {
      summary: type.name === "User" ? "List people, by filter and page" : "List the groups of directories",
      queryExample: { filter: `${nameOf(type)} sw "a"`, sortBy: nameOf(type), startIndex: "1", count: "10" },
      answer: listed,
    },
    search: {
      summary: "The same list, asked for in a body",
      body: bodyDoc(searchBody, { schemas: [SEARCH_SCHEMA], filter: `${nameOf(type)} pr`, startIndex: 1, count: 10 }),
      answer: listed,
    },
    get: { summary: `Read a ${what}`, answer: shown, etag: true, ifNoneMatch: true },
    replace: { summary: `Replace a ${what}`, body: sent("hedy"), answer: shown, etag: true, ifMatch: true },
    patch: {
      summary: `Change parts of a ${what}`,
      description: "All operations or none (RFC 7644 section 3.5.2).",
      body: bodyDoc(patchBody, {
        schemas: [PATCH_SCHEMA],
        Operations: [{ op: "replace", path: "displayName", value: `StoredResource by ${tag}` }],
      }),
      answer: shown,
      etag: true,
      ifMatch: true,
    },
    delete: { summary: `Remove a ${what}`, status: 204, answer: "nothing", ifMatch: true },
  };
}

const TYPES = [SCIM_TYPE, "application/json"];
const bodyDoc = (schema: z.ZodType, example: unknown): BodyDoc => ({ schema, example, strict: true, types: TYPES });

const nameOf = ({ name }: ResourceType): string => (name === "User" ? "userName" : "displayName");

const exampleOf = ({ name }: ResourceType, text: string): unknown =>
  name === "User"
    ? {
        schemas: [USER_SCHEMA],
        userName: `${text}@example.com`,
        name: { givenName: "Grace", familyName: "Hopper" },
        emails: [{ value: `${text}@example.com`, type: "work", primary: true }],
        active: true,
      }
    : { schemas: [GROUP_SCHEMA], displayName: `Friends of ${text}`, members: [] };

const listOf = (item: z.ZodType): z.ZodType =>
  z.strictObject({
    schemas: z.tuple([z.literal(LIST_SCHEMA)]),
    totalResults: z.int().min(0),
    startIndex: z.int().min(1),
    itemsPerPage: z.int().min(0),
    Resources: z.array(item),
  });

const patchBody = z.object({
  schemas: z.array(z.string()).min(1),
  Operations: z
    .array(
      z.object({
        op: z.enum(["add", "replace", "remove"]),
        path: z.string().optional(),
        value: z.unknown().optional(),
      }),
    )
    .min(1)
    .max(1_000),
});

const supported = z.strictObject({ supported: z.boolean() });
const meta = z.strictObject({ resourceType: z.string(), location: z.string() });
const schemas = z.array(z.string()).length(1);

const config = z.strictObject({
  schemas,
  patch: supported,
  bulk: supported.extend({ maxOperations: z.int(), maxPayloadSize: z.int() }),
  filter: supported.extend({ maxResults: z.int() }),
  changePassword: supported,
  sort: supported,
  etag: supported,
  authenticationSchemes: z.array(
    z.strictObject({
      type: z.string(),
      name: z.string(),
      description: z.string(),
      specUri: z.string(),
      primary: z.boolean(),
    }),
  ),
  meta,
});

const resourceType = z.strictObject({
  schemas,
  id: z.string(),
  name: z.string(),
  endpoint: z.string(),
  description: z.string(),
  schema: z.string(),
  schemaExtensions: z.array(z.strictObject({ schema: z.string(), required: z.boolean() })),
  meta,
});

const simple = z.strictObject({
  name: z.string(),
  type: z.string(),
  multiValued: z.boolean(),
  description: z.string(),
  required: z.boolean(),
  caseExact: z.boolean().optional(),
  mutability: z.string(),
  returned: z.string(),
  uniqueness: z.string(),
  canonicalValues: z.array(z.string()).optional(),
  referenceTypes: z.array(z.string()).optional(),
});
const schema = z.strictObject({
  schemas,
  id: z.string(),
  name: z.string(),
  description: z.string(),
  attributes: z.array(simple.extend({ subAttributes: z.array(simple).optional() })),
  meta,
});

export const configDoc: RouteDoc = { summary: "What this server knows of SCIM", answer: config };
export const discoveryDocs = {
  "resource-type": {
    list: { summary: "List the types of resources", answer: listOf(resourceType) },
    get: { summary: "Read a type of resource", params: { id: "User" }, answer: resourceType },
  },
  schema: {
    list: { summary: "List the schemas", answer: listOf(schema) },
    get: { summary: "Read a schema", params: { id: USER_SCHEMA }, answer: schema },
  },
} as const satisfies Record<string, Readonly<Record<"list" | "get", RouteDoc>>>;
