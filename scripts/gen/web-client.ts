import { readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../lib/files.ts";
import type { Generator } from "../lib/generated.ts";
import { memberName, typeOf, type Schema } from "./web-types.ts";

type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
};
type Content = Readonly<Record<string, { readonly schema?: Schema }>>;
type Described = {
  readonly operationId?: string;
  readonly summary?: string;
  readonly "x-permission"?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

/** Operations for other clients: identity providers, webhooks, older paths of the same operations, and probes. */
const NOT_FOR_BROWSERS =
  /^scim-|^graphql\.|^webhook\.receive$|^health\.|-older$|(?<!^approval)-v1\.|^resource-group-v2\./;
/** The client adds the account to every request. */
const ACCOUNT = new Set(["accountIdentifier", "accountId", "accountID", "routingId", "account"]);

/** The typed client of web/: one constant for each operation of api/openapi.json, so that bundles hold what they use. */
export const webClient: Generator = {
  file: "web/api/operations.gen.ts",
  make: () => writeClient(JSON.parse(readFileSync(path.join(root, "api/openapi.json"), "utf8")) as Document),
};

/** The text of the client of this description. */
export function writeClient(document: Document): string {
  const operations = Object.entries(document.paths).flatMap(([url, methods]) =>
    Object.entries(methods).flatMap(([method, described]) =>
      described.operationId === undefined || NOT_FOR_BROWSERS.test(described.operationId)
        ? []
        : [operation(url, method, described.operationId, described)],
    ),
  );
  const used = usedSchemas(operations.join("\n"), document.components.schemas);
  const types = used.map(([name, schema]) => `export type ${name} = ${typeOf(schema)};`);
  const head = [
    "// Generated from api/openapi.json by `npm run gen`; do not edit.",
    'import { operation } from "./operation.ts";',
  ];
  return `${[...head, "", ...types, "", ...operations].join("\n")}\n`;
}

function operation(url: string, method: string, id: string, described: Described): string {
  const query = parametersType(described.parameters ?? [], "query");
  const inPath = parametersType(described.parameters ?? [], "path");
  const account = described.parameters?.find(({ name, in: where }) => where === "query" && ACCOUNT.has(name))?.name;
  const facts = [
    JSON.stringify(id),
    JSON.stringify(method.toUpperCase()),
    JSON.stringify(url),
    JSON.stringify(described["x-permission"] ?? null),
    JSON.stringify(account ?? null),
  ];
  const types = [inPath, query, bodyType(described), answerType(described)];
  const summary = described.summary === undefined ? "" : `/** ${described.summary}. */\n`;
  return `${summary}export const ${constantName(id)} = /* @__PURE__ */ operation<${types.join(", ")}>(${facts.join(", ")});`;
}

/** `execution.list-own` becomes `executionListOwn`. */
const constantName = (id: string): string => id.replaceAll(/[.-](\w)/g, (_, letter: string) => letter.toUpperCase());

function parametersType(parameters: readonly Parameter[], where: string): string {
  const members = parameters
    .filter((one) => one.in === where && !(where === "query" && ACCOUNT.has(one.name)))
    .filter((one) => !(where === "path" && ACCOUNT.has(one.name)))
    .map(({ name, required, schema }) => `${memberName(name)}${required ? "" : "?"}: ${parameterType(schema)}`);
  return `{ ${members.join("; ")} }`;
}

/** Numbers and booleans are written as text. */
function parameterType(schema: Schema): string {
  if (schema.type === "array") return `readonly (${typeOf(schema.items ?? {})})[]`;
  if (schema.enum !== undefined || schema.const !== undefined) {
    const text = typeOf(schema);
    return text === '"true" | "false"' ? `${text} | boolean` : text;
  }
  return "string | number";
}

function bodyType({ requestBody }: Described): string {
  if (requestBody === undefined) return "undefined";
  const { content } = requestBody;
  const json = content["application/json"]?.schema;
  const others = Object.keys(content).filter((type) => type !== "application/json");
  const raw = others.some((type) => type.startsWith("multipart/")) ? "FormData" : others.length > 0 ? "string" : "";
  const types = [json === undefined ? "" : typeOf(json), raw, requestBody.required ? "" : "undefined"];
  return [...new Set(types.filter((type) => type !== ""))].join(" | ");
}

function answerType({ responses }: Described): string {
  const success = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  const types = success.map(([, { content }]) => {
    const json = content?.["application/json"]?.schema;
    if (json !== undefined) return typeOf(json);
    return content === undefined ? "undefined" : "string";
  });
  return types.length === 0 ? "undefined" : [...new Set(types)].join(" | ");
}

/** The components that this text names, and those that they name, in the order of the document. */
function usedSchemas(text: string, schemas: Readonly<Record<string, Schema>>): readonly (readonly [string, Schema])[] {
  const used = new Set<string>();
  const visit = (source: string): void => {
    for (const [, name = ""] of source.matchAll(/\b([A-Z]\w*)\b/g)) {
      const schema = schemas[name];
      if (schema === undefined || used.has(name)) continue;
      used.add(name);
      visit(typeOf(schema));
    }
  };
  visit(text);
  return Object.entries(schemas).filter(([name]) => used.has(name));
}
