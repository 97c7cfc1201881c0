/**
 * Reads a resource in the form of its schema: names in the schema's case, `"False"` as false, a single value as a list
 * of one. Ignores read-only and unknown attributes (RFC 7644 section 3.3). Refuses a value of the wrong type with its
 * path.
 */
import { problem } from "../problems.ts";
import {
  attributesOf,
  extensionOf,
  named,
  type Attribute,
  type Resource,
  type ResourceType,
} from "../schema/attribute.ts";

export const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The whole resource. Throws `scim.invalid_syntax`, `scim.invalid_value`. */
export function readResource(type: ResourceType, given: unknown): Resource {
  const body = isMap(given) ? given : undefined;
  if (!body) throw problem("scim.invalid_syntax", [`The body is no ${type.name}.`]);
  checkSchemas(type, body);
  return readParts(type, body);
}

function checkSchemas(type: ResourceType, body: Readonly<Record<string, unknown>>): void {
  const found = Object.entries(body).find(([name]) => name.toLowerCase() === "schemas")?.[1];
  const has = (urn: string): boolean =>
    Array.isArray(found) && found.some((one) => typeof one === "string" && one.toLowerCase() === urn.toLowerCase());
  if (!has(type.schema.id)) throw problem("scim.invalid_syntax", [`schemas must name ${type.schema.id}.`]);
}

/** The known attributes of the object, without read-only ones. */
export function readParts(type: ResourceType, body: Readonly<Record<string, unknown>>): Resource {
  const read: Record<string, unknown> = {};
  const own = attributesOf(type);
  refuseTwice(Object.keys(body), "");
  for (const [name, value] of Object.entries(body)) {
    const extension = extensionOf(type, name);
    if (extension && isMap(value)) {
      const inner = readAttributes(extension.attributes, value, `${extension.id}:`);
      if (Object.keys(inner).length > 0) read[extension.id] = inner;
      continue;
    }
    const attribute = named(own, name);
    if (attribute) assign(read, attribute, value, attribute.name);
  }
  return read;
}

function readAttributes(
  attributes: readonly Attribute[],
  body: Readonly<Record<string, unknown>>,
  at: string,
): Resource {
  const read: Record<string, unknown> = {};
  refuseTwice(Object.keys(body), at);
  for (const [name, value] of Object.entries(body)) {
    const attribute = named(attributes, name);
    if (attribute) assign(read, attribute, value, `${at}${attribute.name}`);
  }
  return read;
}

function assign(into: Record<string, unknown>, attribute: Attribute, value: unknown, at: string): void {
  if (attribute.mutability === "readOnly" || attribute.mutability === "writeOnly") return;
  const read = readValue(attribute, value, at);
  if (read !== undefined) into[attribute.name] = read;
}

/** Limit of a user's phone numbers, roles or certificates. */
const MAX_VALUES = 200;
const MAX_TEXT = 8_192;

/** The value of one attribute; undefined if it unassigns the attribute: null, an empty list, an empty object. */
export function readValue(attribute: Attribute, value: unknown, at: string): unknown {
  if (value === null || value === undefined) return undefined;
  if (!attribute.multiValued) return readSingle(attribute, value, at);
  const values = (Array.isArray(value) ? value : [value]).map((one) => readOne(attribute, one, at));
  checkCount(attribute, values);
  const result = distinct(
    attribute,
    values.filter((one) => one !== undefined),
  );
  if (result.filter(isPrimary).length > 1) throw problem("scim.invalid_value", [`${at} has two primary values.`]);
  return result.length === 0 ? undefined : result;
}

/** Throws `scim.invalid_value` for a list that is too long. */
export function checkCount({ name, maxValues = MAX_VALUES }: Attribute, values: readonly unknown[]): void {
  if (values.length > maxValues) throw problem("scim.invalid_value", [`${name} has more than ${maxValues} values.`]);
}

export const isPrimary = (one: unknown): boolean => isMap(one) && one["primary"] === true;

/** Removes duplicates from a list. Later parts of the same value are merged into the first one. */
export function distinct(attribute: Attribute, values: readonly unknown[]): unknown[] {
  const result = new Map<string, unknown>();
  for (const one of values) {
    const key = sameness(attribute, one);
    const known = result.get(key);
    result.set(key, isMap(known) && isMap(one) ? { ...known, ...unnamed(one) } : one);
  }
  return [...result.values()];
}

/** Keeps the original case of value and type. */
const unnamed = (item: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(item).filter(([name]) => name !== "value" && name !== "type"));

/**
 * The key by which two list values are equal: `value` and `type` (RFC 7643 section 2.4), or all parts without a
 * `value`.
 */
export function sameness(attribute: Attribute, item: unknown): string {
  if (!isMap(item)) return JSON.stringify(item);
  const parts = Object.entries(item).map(([name, value]) => [name, foldedPart(attribute, name, value)] as const);
  const counted =
    typeof item["value"] === "string" ? parts.filter(([name]) => name === "value" || name === "type") : parts;
  return JSON.stringify(counted.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

const foldedPart = ({ subAttributes }: Attribute, name: string, value: unknown): unknown =>
  typeof value === "string" && !named(subAttributes, name)?.exact ? value.toLowerCase() : value;

/** Refuses equal names in different case, since either could count. Throws `scim.invalid_syntax`. */
export function refuseTwice(names: readonly string[], at: string): void {
  const seen = new Set<string>();
  for (const name of names) {
    const key = name.toLowerCase();
    if (seen.has(key)) throw problem("scim.invalid_syntax", [`${at}${name.slice(0, 128)} stands there twice.`]);
    seen.add(key);
  }
}

/**
 * Accepts a single value as a list of one, as directories send it: `[{"value": "x"}]`, for a complex attribute `[{…}]`.
 */
function readSingle(attribute: Attribute, value: unknown, at: string): unknown {
  if (!Array.isArray(value)) return readOne(attribute, value, at);
  if (value.length > 1) throw problem("scim.invalid_value", [`${at} takes one value.`]);
  const [only] = value as readonly unknown[];
  const plain = attribute.type !== "complex" && isMap(only) ? only["value"] : only;
  return plain === null || plain === undefined ? undefined : readOne(attribute, plain, at);
}

function readOne(attribute: Attribute, value: unknown, at: string): unknown {
  if (attribute.type !== "complex") return readSimple(attribute, value, at);
  // A plain text is the value of the list's item.
  const body = typeof value === "string" && named(attribute.subAttributes, "value") ? { value } : value;
  if (!isMap(body)) throw problem("scim.invalid_value", [`${at} takes an object.`]);
  const read = readAttributes(attribute.subAttributes ?? [], body, `${at}.`);
  return Object.keys(read).length === 0 ? undefined : read;
}

function readSimple({ type }: Attribute, value: unknown, at: string): unknown {
  if (type === "boolean") {
    const text = typeof value === "string" ? value.toLowerCase() : value;
    if (text === true || text === "true") return true;
    if (text === false || text === "false") return false;
    throw problem("scim.invalid_value", [`${at} takes true or false.`]);
  }
  if (typeof value !== "string") throw problem("scim.invalid_value", [`${at} takes a text.`]);
  if (value.length > MAX_TEXT || value.includes("\0") || !value.isWellFormed())
    throw problem("scim.invalid_value", [`${at} takes a text of ${MAX_TEXT} characters at most, without NUL.`]);
  return value;
}
