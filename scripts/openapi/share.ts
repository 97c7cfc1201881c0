/** Schemas that stand in several places of the document, told once: as components that each place refers to. */
import type { Json } from "./schemas.ts";

/** What is shorter as JSON is as well said where it stands. */
const LEAST = 240;

type Found = { readonly schema: Json; readonly name: string; count: number };

type Paths = Readonly<Record<string, Readonly<Record<string, Json>>>>;

/** The paths, and the schemas that they refer to. A name is made of the operation where the schema stands first. */
export function withShared(
  paths: Paths,
  reserved: readonly string[],
): { readonly paths: Json; readonly schemas: Json } {
  const found = new Map<string, Found>();
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods)))
    walk(operation, [], (schema, path) => {
      const text = JSON.stringify(schema);
      const known = found.get(text);
      if (known) known.count += 1;
      else if (text.length >= LEAST) found.set(text, { schema, name: nameOf(operation, path), count: 1 });
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
    parts(found.get(text)?.schema ?? {}, names),
  ]);
  const inOrder = schemas.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { paths: referring(paths, names) as Json, schemas: Object.fromEntries(inOrder) };
}

const isMap = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
/** Examples and the names of properties may look like anything. */
const isSchema = (value: unknown): value is Json =>
  isMap(value) && ("anyOf" in value || (typeof value["type"] === "string" && !("in" in value)));

type Path = readonly string[];

/** `see` says whether the schema is new: what stands in one that is known has been seen there. */
function walk(value: unknown, path: Path, see: (schema: Json, path: Path) => boolean): void {
  if (Array.isArray(value)) for (const item of value) walk(item, path, see);
  if (!isMap(value)) return;
  if (isSchema(value) && !see(value, path)) return;
  for (const [key, part] of Object.entries(value)) if (key !== "example") walk(part, [...path, key], see);
}

const pascal = (text: string): string =>
  text.replaceAll(/(?:^|[^a-zA-Z0-9]+)(\w)/g, (_all, sign: string) => sign.toUpperCase());

/** The operation's noun with the property that has the schema, or with what of the operation it is. */
function nameOf({ operationId }: Json, path: Path): string {
  const noun = pascal(String(operationId).split(".")[0] ?? "");
  const at = path.lastIndexOf("properties");
  const part = at < 0 ? (path[0] === "requestBody" ? "Body" : "Answer") : pascal(path[at + 1] ?? "");
  return part.startsWith(noun) ? part : noun + part;
}

/** The value with each shared schema in it as a reference, itself included. */
function referring(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => referring(item, names));
  if (!isMap(value)) return value;
  const name = isSchema(value) ? names.get(JSON.stringify(value)) : undefined;
  return name === undefined ? parts(value, names) : { $ref: `#/components/schemas/${name}` };
}

const parts = (value: Json, names: ReadonlyMap<string, string>): Json =>
  Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, key === "example" ? part : referring(part, names)]),
  );
