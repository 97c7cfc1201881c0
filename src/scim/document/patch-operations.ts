/** Reads the operations of a PATCH, and joins neighbouring ones that change the same list. */
import { problem } from "../problems.ts";
import { attributesOf, named, type ResourceType } from "../schema/attribute.ts";
import { isMap, refuseTwice } from "./read.ts";

export const PATCH_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
const MAX_OPERATIONS = 1_000;

export type Verb = "add" | "replace" | "remove";
export type Operation = { readonly verb: Verb; readonly path: string | undefined; readonly value: unknown };

/** Reads the operations of a body. Throws `scim.invalid_syntax`. */
export function readPatch(body: unknown): readonly Operation[] {
  const entries = isMap(body) ? Object.entries(body) : [];
  refuseTwice(
    entries.map(([name]) => name),
    "",
  );
  const at = (name: string): unknown => entries.find(([key]) => key.toLowerCase() === name)?.[1];
  const schemas = at("schemas");
  if (!Array.isArray(schemas) || !schemas.includes(PATCH_SCHEMA))
    throw problem("scim.invalid_syntax", [`schemas must name ${PATCH_SCHEMA}.`]);
  const operations = at("operations");
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > MAX_OPERATIONS)
    throw problem("scim.invalid_syntax", [`Operations takes 1 to ${MAX_OPERATIONS} operations.`]);
  return operations.map(readOperation);
}

function readOperation(given: unknown): Operation {
  if (!isMap(given)) throw problem("scim.invalid_syntax", ["An operation is an object with op, path and value."]);
  const verb = typeof given["op"] === "string" ? given["op"].toLowerCase() : "";
  if (verb !== "add" && verb !== "replace" && verb !== "remove")
    throw problem("scim.invalid_syntax", ["op is add, replace or remove."]);
  const { path, value } = given;
  if (path !== undefined && path !== null && typeof path !== "string")
    throw problem("scim.invalid_path", ["it is no text"]);
  if (verb === "add" && value === undefined) throw problem("scim.invalid_value", ["An operation add takes a value."]);
  return { verb, path: path === "" ? undefined : (path ?? undefined), value };
}

/**
 * Directories add and remove members one by one. Neighbouring operations that add to one list, or remove from it,
 * become one, which goes through the list once.
 */
export function joinNeighbours(type: ResourceType, operations: readonly Operation[]): readonly Operation[] {
  const joined: Operation[] = [];
  let last: ListOperation | undefined;
  for (const operation of operations) {
    const list = addedTo(type, operation) ?? removedFrom(type, operation);
    if (list && last?.verb === list.verb && last.path === list.path) {
      last.value.push(...list.value);
      continue;
    }
    last = list;
    joined.push(list ?? operation);
  }
  return joined;
}

/** Adds these values to a whole list, or removes them from it. */
type ListOperation = { readonly verb: Verb; readonly path: string; readonly value: unknown[] };

/** Undefined for other operations, and if one of the values becomes the primary one. */
function addedTo(type: ResourceType, { verb, path, value }: Operation): ListOperation | undefined {
  if (verb !== "add" || path === undefined || !named(attributesOf(type), path)?.multiValued) return undefined;
  const added: readonly unknown[] = Array.isArray(value) ? value : [value];
  return added.every((one) => isMap(one) && one["primary"] === undefined)
    ? { verb, path, value: [...added] }
    : undefined;
}

const ONE_VALUE = /^(\w+)\[\s*value\s+eq\s+"([^"\\]*)"\s*\]$/i;

/** Undefined for other operations, and where the case of values does not count. */
function removedFrom(type: ResourceType, { verb, path, value }: Operation): ListOperation | undefined {
  const [, name, one] = verb === "remove" && value === undefined ? (ONE_VALUE.exec(path ?? "") ?? []) : [];
  const attribute = name === undefined ? undefined : named(attributesOf(type), name);
  if (!attribute?.multiValued || !named(attribute.subAttributes, "value")?.exact) return undefined;
  return { verb, path: attribute.name, value: [{ value: one }] };
}
