/** Resources in responses: selected and common attributes (RFC 7644 sections 3.4.2.5 and 3.9). */
import { parsePath } from "../filter/parse.ts";
import type { AttributePath } from "../filter/syntax.ts";
import { problem } from "../problems.ts";
import { attributesOf, extensionOf, type Resource, type ResourceType } from "../schema/attribute.ts";
import { isMap } from "./read.ts";

export const etagOf = (version: number): string => `W/"${version}"`;

/** The attributes of a response: only some, or all except some. */
export type Selection = { readonly only?: readonly AttributePath[]; readonly without?: readonly AttributePath[] };

const MAX_NAMES = 100;

/**
 * Reads a selection from lists of names; only one list may be given. Throws `scim.invalid_value`, `scim.invalid_path`.
 */
export function selectionOf(only: readonly string[] | undefined, without: readonly string[] | undefined): Selection {
  const paths = (names: readonly string[] = []): readonly AttributePath[] => {
    if (names.length > MAX_NAMES) throw problem("scim.invalid_value", [`At most ${MAX_NAMES} attributes are named.`]);
    return names.map((name) => parsePath(name).attribute);
  };
  if (only && without) throw problem("scim.invalid_value", ["attributes and excludedAttributes exclude each other."]);
  return { ...(only ? { only: paths(only) } : {}), ...(without ? { without: paths(without) } : {}) };
}

const ALWAYS = new Set(["schemas", "id"]);

export function selected(type: ResourceType, whole: Resource, { only, without }: Selection): Resource {
  if (!only && !without) return whole;
  const shown: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(whole)) {
    const extension = extensionOf(type, name);
    const here = (path: AttributePath): boolean =>
      isSame(path.schema ?? type.schema.id, extension?.id ?? type.schema.id);
    const part = ALWAYS.has(name)
      ? value
      : extension && isMap(value)
        ? pick(
            value,
            (only ?? without)?.filter(here),
            only !== undefined,
            (only ?? without)?.some((path) => isWhole(path, extension.id)),
          )
        : pick({ [name]: value }, (only ?? without)?.filter(here), only !== undefined)[name];
    if (part !== undefined && !(isMap(part) && Object.keys(part).length === 0)) shown[name] = part;
  }
  return shown;
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
const isWhole = ({ schema, name }: AttributePath, urn: string): boolean => isSame(`${schema ?? ""}:${name}`, urn);

/** The attributes of an object that the paths name, or all others. */
function pick(
  holder: Readonly<Record<string, unknown>>,
  paths: readonly AttributePath[] = [],
  only: boolean,
  whole = false,
): Readonly<Record<string, unknown>> {
  if (whole) return only ? holder : {};
  const entries = Object.entries(holder).flatMap(([name, value]): [string, unknown][] => {
    const meant = paths.filter((path) => isSame(path.name, name));
    if (meant.length === 0) return only ? [] : [[name, value]];
    if (meant.some(({ sub }) => sub === undefined)) return only ? [[name, value]] : [];
    const subs = meant.map(({ sub = "" }) => ({ name: sub }));
    const inner = (one: unknown): unknown => (isMap(one) ? pick(one, subs, only) : one);
    return [[name, Array.isArray(value) ? value.map(inner) : inner(value)]];
  });
  return Object.fromEntries(entries);
}

export type Facts = {
  readonly id: string;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The base URL of resources, without a trailing slash. */
  readonly base: string;
};

/** The resource with the attributes that the server adds. */
export function shown(type: ResourceType, resource: Resource, facts: Facts): Resource {
  const extensions = type.extensions.filter(({ id }) => resource[id] !== undefined).map(({ id }) => id);
  return {
    schemas: [type.schema.id, ...extensions],
    id: facts.id,
    ...inOrder(type, resource),
    meta: {
      resourceType: type.name,
      created: new Date(facts.createdAt).toISOString(),
      lastModified: new Date(facts.updatedAt).toISOString(),
      location: locationOf(type, facts),
      version: etagOf(facts.version),
    },
  };
}

export const locationOf = ({ endpoint }: ResourceType, { base, id }: Pick<Facts, "base" | "id">): string =>
  `${base}${endpoint}/${id}`;

/** Sorts attributes as the schema does, since the database does not keep their order. */
function inOrder(type: ResourceType, resource: Resource): Resource {
  const names = [...attributesOf(type).map(({ name }) => name), ...type.extensions.map(({ id }) => id)];
  return Object.fromEntries(names.filter((name) => resource[name] !== undefined).map((name) => [name, resource[name]]));
}
