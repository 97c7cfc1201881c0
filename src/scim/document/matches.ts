/** Evaluates filters on values in memory, to find the list items that a patch names. */
import type { Filter } from "../filter/syntax.ts";
import { badPath } from "../filter/tokens.ts";
import { named, type Attribute } from "../schema/attribute.ts";
import { isMap } from "./read.ts";
import type { Work } from "./work.ts";

/** The attribute whose items are filtered, and the work that the request may still cause. */
type FilteredList = { readonly attribute: Attribute; readonly work: Work };

/** Throws `scim.invalid_path` for attributes that the list does not have, `scim.too_much_work`. */
export function matches(list: FilteredList, filter: Filter, item: unknown): boolean {
  const { attribute, work } = list;
  work.spend(1);
  switch (filter.kind) {
    case "and":
      return matches(list, filter.left, item) && matches(list, filter.right, item);
    case "or":
      return matches(list, filter.left, item) || matches(list, filter.right, item);
    case "not":
      return !matches(list, filter.of, item);
    case "some":
      throw badPath("brackets do not stand in brackets");
    case "present":
      return isThere(valueAt(filter.path.name, attribute, item).value);
    case "compare": {
      const { value, part } = valueAt(filter.path.name, attribute, item);
      if (typeof value === "string") work.spend(0, value.length);
      return compared(filter, value, part);
    }
  }
}

const isThere = (value: unknown): boolean => value !== undefined && value !== null && value !== "";

function valueAt(name: string, of: Attribute, item: unknown): { readonly part: Attribute; readonly value: unknown } {
  const part = named(of.subAttributes, name);
  if (!part) throw badPath(`${name} is no part of ${of.name}`);
  return { part, value: isMap(item) ? item[part.name] : undefined };
}

function compared({ by, value }: Extract<Filter, { kind: "compare" }>, have: unknown, part: Attribute): boolean {
  const [left, right] = [comparable(have, part), comparable(value, part)];
  if (by === "eq") return left === right;
  if (by === "ne") return left !== right;
  if (typeof left !== "string" || typeof right !== "string") return false;
  switch (by) {
    case "co":
      return left.includes(right);
    case "sw":
      return left.startsWith(right);
    case "ew":
      return left.endsWith(right);
    case "gt":
      return left > right;
    case "ge":
      return left >= right;
    case "lt":
      return left < right;
    case "le":
      return left <= right;
  }
}

function comparable(value: unknown, part: Attribute): unknown {
  if (part.type === "boolean") return value === true || value === "true" || value === "True";
  if (value === undefined) return null;
  return typeof value === "string" && !part.exact ? value.toLowerCase() : value;
}
