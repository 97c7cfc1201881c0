/**
 * PATCH (RFC 7644 section 3.5.2): applies all operations in order to a copy, or none. Accepts deviations of Entra and
 * Okta: operations in any case, `"False"`, objects without a path whose keys are paths, values to remove with a path
 * without brackets, and the resource's own id among the replaced attributes.
 */
import { parsePath } from "../filter/parse.ts";
import type { Filter, PatchPath } from "../filter/syntax.ts";
import { problem } from "../problems.ts";
import {
  attributesOf,
  extensionOf,
  named,
  type Attribute,
  type Resource,
  type ResourceType,
  type Schema,
} from "../schema/attribute.ts";
import { matches } from "./matches.ts";
import { joinNeighbours, type Operation, type Verb } from "./patch-operations.ts";
import { checkCount, distinct, isMap, isPrimary, readValue, refuseTwice, sameness } from "./read.ts";
import { createWork, type Work } from "./work.ts";

/** A resource and its own id: replacing the id by the same one is allowed. */
export type PatchedResource = { readonly id: string; readonly resource: Resource };

/** Returns the resource after all operations. Throws the problems of single operations, `scim.too_much_work`. */
export function applyPatch(
  type: ResourceType,
  { id, resource: before }: PatchedResource,
  operations: readonly Operation[],
): Resource {
  const resource = structuredClone(before) as Record<string, unknown>;
  const patch = { type, resource, id, work: createWork() };
  for (const operation of joinNeighbours(type, operations)) apply(patch, operation);
  return resource;
}

type Patch = {
  readonly type: ResourceType;
  readonly resource: Record<string, unknown>;
  readonly id: string;
  readonly work: Work;
};

function apply(at: Patch, { verb, path, value }: Operation): void {
  if (path !== undefined) return applyAt(at, path, { verb, value });
  if (verb === "remove") throw problem("scim.no_target", ["An operation remove without a path"]);
  if (!isMap(value)) throw problem("scim.invalid_value", ["Without a path the value is an object of attributes."]);
  refuseTwice(Object.keys(value), "");
  for (const [name, inner] of Object.entries(value)) {
    const lower = name.toLowerCase();
    if (lower === "schemas" || lower === "meta" || (lower === "id" && inner === at.id)) continue;
    const extension = extensionOf(at.type, name);
    if (extension && isMap(inner)) applyToExtension(at, extension, { verb, value: inner });
    else if (extension || /[.[:]/.test(name) || named(attributesOf(at.type), name))
      applyAt(at, name, { verb, value: inner });
    // Unknown attributes are ignored, as in a whole resource.
  }
}

/** The attribute that a path names, and the object that contains it; undefined for a whole extension. */
type Target = {
  readonly holder: Record<string, unknown>;
  readonly attribute: Attribute;
  /** A part of a complex attribute, as in `name.givenName`. */
  readonly part: Attribute | undefined;
  readonly path: PatchPath;
  readonly text: string;
  readonly work: Work;
};

/** What an operation does where its path points to. */
type Change = { readonly verb: Verb; readonly value: unknown };

function applyAt(at: Patch, text: string, change: Change): void {
  const whole = extensionOf(at.type, text);
  if (whole) return applyToExtension(at, whole, change);
  const target = targetOf(at, text);
  if (target.path.filter) applyToItems(target, target.path.filter, change);
  else if (target.part) applyToPart(target, target.part, change);
  else applyToAttribute(target, change);
  dropEmpty(at, target);
}

function applyToExtension(at: Patch, { id }: Schema, { verb, value }: Change): void {
  if (verb === "remove") delete at.resource[id];
  else if (isMap(value)) {
    refuseTwice(Object.keys(value), `${id}:`);
    for (const [name, one] of Object.entries(value)) applyAt(at, `${id}:${name}`, { verb, value: one });
  } else throw problem("scim.invalid_value", [`${id} takes an object.`]);
}

function targetOf({ type, resource, work }: Patch, text: string): Target {
  const path = parsePath(text);
  const { schema, name, sub } = path.attribute;
  const extension = schema === undefined ? undefined : extensionOf(type, schema);
  if (schema !== undefined && !extension && schema.toLowerCase() !== type.schema.id.toLowerCase())
    throw problem("scim.invalid_path", [`${schema} is no schema of a ${type.name}`]);
  const attribute = named(extension?.attributes ?? attributesOf(type), name);
  if (!attribute) throw problem("scim.invalid_path", [`${name} is no attribute of a ${type.name}`]);
  const partName = sub ?? path.sub;
  const part = partName === undefined ? undefined : named(attribute.subAttributes, partName);
  if (partName !== undefined && !part) throw problem("scim.invalid_path", [`${partName} is no part of ${name}`]);
  if (path.filter && !attribute.multiValued) throw problem("scim.invalid_path", [`${name} is no list`]);
  for (const one of [attribute, part])
    if (one?.mutability === "readOnly") throw problem("scim.mutability", [text.slice(0, 200)]);
  const holder = extension ? objectIn(resource, extension.id) : resource;
  return { holder, attribute, part, path, text: text.slice(0, 200), work };
}

function objectIn(holder: Record<string, unknown>, name: string): Record<string, unknown> {
  const there = holder[name];
  if (isMap(there)) return there;
  const made = {};
  holder[name] = made;
  return made;
}

function applyToAttribute({ holder, attribute, text, work }: Target, { verb, value }: Change): void {
  const { name } = attribute;
  if (verb === "remove") {
    if (attribute.required) throw problem("scim.mutability", [text]);
    // Entra names the values to remove in `value`. Without this the whole list would be removed.
    if (attribute.multiValued && value !== undefined && value !== null)
      holder[name] = without(listIn(holder, name), readValue(attribute, value, text));
    else delete holder[name];
    return;
  }
  // Entra sends `manager` as a plain id.
  const plain = attribute.type === "complex" && !attribute.multiValued && typeof value === "string" ? { value } : value;
  const read = readValue(attribute, plain, text);
  if (attribute.required && read === undefined) throw problem("scim.mutability", [text]);
  if (attribute.multiValued && verb === "add")
    holder[name] = merged({ attribute, work }, listIn(holder, name), (read ?? []) as unknown[]);
  else if (attribute.type === "complex" && !attribute.multiValued && isMap(read))
    holder[name] = { ...objectIn(holder, name), ...read };
  else if (read === undefined) delete holder[name];
  else holder[name] = read;
}

function applyToPart({ holder, attribute, text }: Target, part: Attribute, { verb, value }: Change): void {
  const read = verb === "remove" ? undefined : readValue(part, value, text);
  const set = (item: Record<string, unknown>): void => {
    if (read === undefined) delete item[part.name];
    else item[part.name] = read;
  };
  if (!attribute.multiValued) return set(objectIn(holder, attribute.name));
  // `emails.value` without brackets means every item.
  const items = listIn(holder, attribute.name);
  if (items.length === 0 && verb !== "remove") holder[attribute.name] = [{ [part.name]: read }];
  for (const item of items) if (isMap(item)) set(item);
}

function applyToItems({ holder, attribute, part, text, work }: Target, filter: Filter, { verb, value }: Change): void {
  const items = listIn(holder, attribute.name);
  const list = { attribute, work };
  const meant = new Set(items.filter((item) => matches(list, filter, item)));
  if (verb === "remove") {
    if (part) for (const item of meant) delete (item as Record<string, unknown>)[part.name];
    holder[attribute.name] = part ? items : items.filter((item) => !meant.has(item));
    return;
  }
  const read = part ? { [part.name]: readValue(part, value, text) } : oneOf(attribute, value, text);
  if (meant.size > 0) {
    const next = items.map((item) => (meant.has(item) ? { ...(item as object), ...read } : item));
    const changed = next.filter((_, nth) => meant.has(items[nth]));
    work.spend(VISITS_OF_KEY * next.length);
    holder[attribute.name] = onePrimary(attribute, distinct(attribute, next), changed);
    return;
  }
  // No item matches the filter. An empty list gets a new item (RFC 7644, section 3.5.2.3).
  if (verb === "replace" && items.length > 0) throw problem("scim.no_target", [text]);
  const made = { ...impliedBy(filter, attribute, text), ...read };
  holder[attribute.name] = merged({ attribute, work }, items, [made]);
}

function oneOf(attribute: Attribute, value: unknown, text: string): Readonly<Record<string, unknown>> {
  const read = readValue(attribute, value, text) as readonly unknown[] | undefined;
  if (read?.length !== 1 || !isMap(read[0])) throw problem("scim.invalid_value", [`${text} takes one object.`]);
  return read[0];
}

/** The values that an item must have to match the filter, such as `type eq "work"`. */
function impliedBy(filter: Filter, attribute: Attribute, text: string): Record<string, unknown> {
  if (filter.kind === "and")
    return { ...impliedBy(filter.left, attribute, text), ...impliedBy(filter.right, attribute, text) };
  const part =
    filter.kind === "compare" && filter.by === "eq" ? named(attribute.subAttributes, filter.path.name) : undefined;
  if (!part || filter.kind !== "compare") throw problem("scim.no_target", [text]);
  return { [part.name]: readValue(part, filter.value, text) };
}

const listIn = (holder: Readonly<Record<string, unknown>>, name: string): readonly unknown[] => {
  const there = holder[name];
  return Array.isArray(there) ? there : [];
};

const keyOf = (item: unknown): unknown => (isMap(item) && typeof item["value"] === "string" ? item["value"] : item);

function without(items: readonly unknown[], gone: unknown): unknown[] {
  const keys = new Set((Array.isArray(gone) ? gone : []).map(keyOf));
  return items.filter((item) => !keys.has(keyOf(item)));
}

/** Existing values stay unchanged (RFC 7644, section 3.5.2.1). A new primary value replaces the former one. */
function merged(
  { attribute, work }: Pick<Target, "attribute" | "work">,
  items: readonly unknown[],
  added: readonly unknown[],
): unknown[] {
  work.spend(VISITS_OF_KEY * (items.length + added.length));
  const all = distinct(attribute, [...items, ...added]);
  checkCount(attribute, all);
  return onePrimary(attribute, all, added);
}

/** Computing the key by which two values are equal takes as long as this many visits. */
const VISITS_OF_KEY = 10;

function onePrimary(attribute: Attribute, items: readonly unknown[], favourites: readonly unknown[]): unknown[] {
  const favourite = favourites.findLast(isPrimary);
  if (!favourite) return [...items];
  const key = sameness(attribute, favourite);
  return items.map((item) =>
    isPrimary(item) && sameness(attribute, item) !== key ? { ...(item as object), primary: false } : item,
  );
}

/** Removes empty values from the attribute that was changed, and what is empty then. */
function dropEmpty({ resource, type }: Patch, { holder, attribute: { name }, work }: Target): void {
  const value = holder[name];
  if (Array.isArray(value)) {
    work.spend(value.length);
    holder[name] = value.filter((one) => !isMap(one) || Object.keys(one).length > 0);
  }
  if (isEmpty(holder[name])) delete holder[name];
  for (const { id } of type.extensions) if (isEmpty(resource[id])) delete resource[id];
}

const isEmpty = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : isMap(value) && Object.keys(value).length === 0;
