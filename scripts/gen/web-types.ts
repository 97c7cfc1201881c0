/** The part of JSON Schema that api/openapi.json uses. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
};

const SIMPLE: Readonly<Record<string, string>> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  null: "null",
};

/** The TypeScript type of values of the schema. Texts are not narrowed by patterns, nor numbers by ranges. */
export function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.replace("#/components/schemas/", "");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)));
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return union(alternatives.map(typeOf));
  if (schema.allOf !== undefined) return schema.allOf.map((one) => `(${typeOf(one)})`).join(" & ");
  if (typeof schema.type === "object") return union(schema.type.map((type) => typeOf({ ...schema, type })));
  if (schema.type === "array") return arrayOf(schema);
  if (schema.type === "object" || schema.properties !== undefined) return objectOf(schema);
  return SIMPLE[schema.type ?? ""] ?? "unknown";
}

/** The name of a member, in quotes if it is no identifier. */
export const memberName = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

const union = (types: readonly string[]): string => [...new Set(types)].join(" | ");

function arrayOf({ items, prefixItems }: Schema): string {
  if (prefixItems !== undefined) return `readonly [${prefixItems.map(typeOf).join(", ")}]`;
  const item = typeOf(items ?? {});
  return /^\w+$/.test(item) ? `readonly ${item}[]` : `readonly (${item})[]`;
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema): string {
  const members = Object.entries(properties).map(
    ([name, schema]) => `readonly ${memberName(name)}${required.includes(name) ? "" : "?"}: ${typeOf(schema)}`,
  );
  const rest = typeof additionalProperties === "object" ? typeOf(additionalProperties) : "unknown";
  if (members.length === 0) return `Readonly<Record<string, ${rest}>>`;
  return `{ ${members.join("; ")} }`;
}
