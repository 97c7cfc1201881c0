/** Moves schemas that occur several times in the document to components and refers to them. */
import type { Json } from "./schemas.ts";

/** Schemas with fewer characters of JSON are not moved. */
const MIN_LENGTH = 240;

type Found = { readonly schema: Json; readonly name: string; count: number };

type Paths = Readonly<Record<string, Readonly<Record<string, Json>>>>;

/** Returns the paths with references, and the schemas by name. The first operation with a schema gives its name. */
export function shareSchemas(
  paths: Paths,
  reserved: readonly string[],
): { readonly paths: Json; readonly schemas: Json } {
  const found = new Map<string, Found>();
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods)))
    walk(operation, [], (schema, path) => {
      const text = JSON.stringify(schema);
      const known = found.get(text);
      if (known) known.count += 1;
      else if (text.length >= MIN_LENGTH) found.set(text, { schema, name: nameOf(operation, path), count: 1 });
      return known === undefined;
    });
  const taken = new Set(reserved);
  const names = new Map<string, string>();
  for (const [text, { name, count }] of found) {
    if (count < 2) continue;
    let free = name;
    for (let nth = 2; taken.has(free); nth += 1) free = `${name}${nth}`;
    taken.add(free);
    names.set(text, free);
  }
  const schemas = [...names].map(([text, name]): [string, unknown] => [
    name,
    replaceInParts(found.get(text)?.schema ?? {}, names),
  ]);
  const inOrder = schemas.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { paths: replaceShared(paths, names) as Json, schemas: Object.fromEntries(inOrder) };
}

const isMap = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
/** Whether a value is a schema, and not a parameter or a map of properties. */
const isSchema = (value: unknown): value is Json =>
  isMap(value) && ("anyOf" in value || (typeof value["type"] === "string" && !("in" in value)));

type Path = readonly string[];

/** Calls `see` for each schema. `see` returns whether the schema is new; parts of known schemas are skipped. */
function walk(value: unknown, path: Path, see: (schema: Json, path: Path) => boolean): void {
  if (Array.isArray(value)) for (const item of value) walk(item, path, see);
  if (!isMap(value)) return;
  if (isSchema(value) && !see(value, path)) return;
  for (const [key, part] of Object.entries(value)) if (key !== "example") walk(part, [...path, key], see);
}

const pascal = (text: string): string =>
  text.replaceAll(/(?:^|[^a-zA-Z0-9]+)(\w)/g, (_all, sign: string) => sign.toUpperCase());

/** The noun of the operation plus the property with the schema, or plus `Body` or `Answer`. */
function nameOf({ operationId }: Json, path: Path): string {
  const noun = pascal(String(operationId).split(".")[0] ?? "");
  const at = path.lastIndexOf("properties");
  const part = at < 0 ? (path[0] === "requestBody" ? "Body" : "Answer") : pascal(path[at + 1] ?? "");
  return part.startsWith(noun) ? part : noun + part;
}

/** Replaces each shared schema in the value, or the value itself, by a reference. */
function replaceShared(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => replaceShared(item, names));
  if (!isMap(value)) return value;
  const name = isSchema(value) ? names.get(JSON.stringify(value)) : undefined;
  return name === undefined ? replaceInParts(value, names) : { $ref: `#/components/schemas/${name}` };
}

const replaceInParts = (value: Json, names: ReadonlyMap<string, string>): Json =>
  Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, key === "example" ? part : replaceShared(part, names)]),
  );
