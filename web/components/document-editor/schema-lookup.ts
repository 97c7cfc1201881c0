import type { Place } from "./yaml-place.ts";

/** The parts of JSON Schema that the documents' schemas use. */
export type Schema = {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly description?: string;
  readonly required?: readonly string[];
};

export type Suggestion = {
  readonly text: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** What stands below the key. */
  readonly holds: "value" | "mapping" | "list";
};

/** The keys that may be added at the place. */
export function suggestKeys(root: Schema, place: Place): readonly Suggestion[] {
  const found = new Map<string, Suggestion>();
  for (const mapping of mappingsAt(root, place))
    for (const [text, schema] of Object.entries(mapping.properties ?? {})) {
      if (found.has(text) || place.siblings.has(text)) continue;
      found.set(text, {
        text,
        description: describe(root, schema),
        isRequired: mapping.required?.includes(text) === true,
        holds: holdsOf(root, schema),
      });
    }
  return [...found.values()];
}

/** The values that the key of the place may have. */
export function suggestValues(root: Schema, place: Place): readonly Omit<Suggestion, "isRequired" | "holds">[] {
  const texts = new Map<string, string>();
  for (const schema of schemasOfKey(root, place))
    for (const value of valuesOf(schema)) if (!texts.has(value)) texts.set(value, schema.description ?? "");
  return [...texts].map(([text, description]) => ({ text, description }));
}

/** What the key of the place means; undefined if the schema has no such key. */
export function describeKey(root: Schema, place: Place): string | undefined {
  if (place.key === undefined) return undefined;
  for (const mapping of mappingsAt(root, place)) {
    const schema = mapping.properties?.[place.key];
    if (schema !== undefined) return describe(root, schema);
  }
  return undefined;
}

function schemasOfKey(root: Schema, { parents, type, key }: Place): readonly Schema[] {
  return key === undefined ? [] : below(root, schemasAt(root, parents), { key, type });
}

const mappingsAt = (root: Schema, { parents, type }: Place): readonly Schema[] =>
  schemasAt(root, parents).filter((schema) => fits(schema, type));

function schemasAt(root: Schema, parents: Place["parents"]): readonly Schema[] {
  return parents.reduce<readonly Schema[]>(
    (schemas, segment) => below(root, schemas, segment),
    alternatives(root, root),
  );
}

function below(root: Schema, schemas: readonly Schema[], { key, type }: Place["parents"][number]): readonly Schema[] {
  // All types are possible for the `type` itself.
  const known = key === "type" ? undefined : type;
  return schemas
    .filter((schema) => fits(schema, known))
    .map((schema) => (key === "[]" ? schema.items : (schema.properties?.[key] ?? furtherOf(schema))))
    .flatMap((schema) => (schema === undefined ? [] : alternatives(root, schema)));
}

const furtherOf = ({ additionalProperties: further }: Schema): Schema | undefined =>
  typeof further === "object" ? further : undefined;

/** Whether the schema is for mappings of this `type`. */
function fits({ properties }: Schema, type: string | undefined): boolean {
  const wanted = properties?.["type"]?.const;
  return type === undefined || type === "" || wanted === undefined || wanted === type;
}

/** The schema without references, once for each alternative. */
function alternatives(root: Schema, schema: Schema): readonly Schema[] {
  if (schema.$ref !== undefined) {
    const target = root.$defs?.[schema.$ref.replace("#/$defs/", "")];
    return target === undefined
      ? []
      : alternatives(root, target).map((one) => ({ ...one, description: schema.description ?? one.description ?? "" }));
  }
  if (schema.anyOf)
    return schema.anyOf
      .flatMap((one) => alternatives(root, one))
      .map((one) => ({ ...one, description: one.description ?? schema.description ?? "" }));
  return [schema];
}

const describe = (root: Schema, schema: Schema): string =>
  schema.description ?? alternatives(root, schema)[0]?.description ?? "";

function holdsOf(root: Schema, schema: Schema): Suggestion["holds"] {
  const types = new Set(alternatives(root, schema).flatMap(({ type }) => type ?? []));
  if (types.has("object")) return "mapping";
  return types.has("array") && !types.has("string") ? "list" : "value";
}

function valuesOf(schema: Schema): readonly string[] {
  if (schema.const !== undefined) return [schema.const];
  if (schema.enum) return schema.enum;
  return [schema.type ?? []].flat().includes("boolean") ? ["true", "false"] : [];
}
