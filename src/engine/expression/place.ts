import type { Json } from "../model.ts";
import type { Budget } from "./budget.ts";

/**
 * Something a path can lead to and go on from. Plain JSON is one kind; a node of
 * a running execution, whose results come beside its document, is another.
 */
export type Place = {
  /** What it is when the path ends here. */
  readonly value: Json;
  /** Own members only; undefined when there is none. */
  readonly member: (key: string | number) => Place | undefined;
  /** The members there are, for messages. */
  readonly keys: () => readonly string[];
  /** The id of the secret output that stands here. It has no value that could be read. */
  readonly secret?: string;
  /** Why a member that will come is not there yet; undefined when it will not come. */
  readonly notYet: (key: string | number) => string | undefined;
};

/** What the roots of paths mean for one node of one execution. */
export type Scope = {
  readonly root: (name: string) => Place | undefined;
  /** Epoch milliseconds of the evaluation; the start of the execution where there is none. */
  readonly now?: number;
  /** Of the event in which it is evaluated. */
  readonly ofEvent?: Budget;
};

const never = (): undefined => undefined;

/** A place of plain JSON. Only own properties are found, so no prototype can be reached. */
export function jsonPlace(value: Json): Place {
  return { value, member: (key) => jsonMember(value, key), keys: () => keysOf(value), notYet: never };
}

/** The scope with further names. */
export const withNames = (scope: Scope, names: { readonly [name: string]: Json }): Scope => ({
  ...scope,
  root(name) {
    const value = own(names, name);
    return value === undefined ? scope.root(name) : jsonPlace(value);
  },
});

function jsonMember(value: Json, key: string | number): Place | undefined {
  const found = own(value, key);
  return found === undefined ? undefined : jsonPlace(found);
}

/** The own member of a JSON value: an object's by name, a list's by position. */
export function own(value: Json, key: string | number): Json | undefined {
  if (isList(value)) return typeof key === "number" && Object.hasOwn(value, key) ? value[key] : undefined;
  if (!isObject(value) || typeof key !== "string") return undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

export function keysOf(value: Json): readonly string[] {
  return isObject(value) ? Object.keys(value) : [];
}

export const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

export const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);
