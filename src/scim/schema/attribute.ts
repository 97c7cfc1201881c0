/** What an attribute is (RFC 7643 sections 2.2 and 7): the schemas are these, and all reading, filtering and patching goes by them. */
export type Attribute = {
  readonly name: string;
  readonly type: "string" | "boolean" | "integer" | "dateTime" | "reference" | "binary" | "complex";
  readonly description: string;
  readonly multiValued?: true;
  readonly required?: true;
  /** Case counts when values are compared here: ids, addresses and certificates. The schemas of the RFC say so of none. */
  readonly exact?: true;
  readonly mutability?: "readOnly" | "immutable" | "writeOnly";
  readonly returned?: "always" | "never";
  readonly uniqueness?: "server";
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly Attribute[];
  /** Taken and shown beside what RFC 7643 section 8.7 has, and so not in the description of the schema. */
  readonly undescribed?: true;
  /** What the description says where the RFC is wider than what is done here. */
  readonly described?: { readonly mutability?: "immutable"; readonly uniqueness?: "none" };
};

export type Schema = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly Attribute[];
};

/** A type of resource: its own schema, and those that may stand beside it under their URN. */
export type ResourceType = {
  readonly name: "User" | "Group";
  readonly endpoint: "/Users" | "/Groups";
  readonly description: string;
  readonly schema: Schema;
  readonly extensions: readonly Schema[];
};

/** A resource as JSON, without what the server adds; extensions under their URN. */
export type Resource = Readonly<Record<string, unknown>>;

export const text = (name: string, description: string, more: Partial<Attribute> = {}): Attribute => ({
  name,
  type: "string",
  description,
  ...more,
});

export const complex = (
  name: string,
  description: string,
  subAttributes: readonly Attribute[],
  more: Partial<Attribute> = {},
): Attribute => ({ name, type: "complex", description, subAttributes, ...more });

/** A list of values with a type, a label and a preferred one (RFC 7643 section 2.4). */
export const plural = (
  name: string,
  description: string,
  canonicalValues: readonly string[] = [],
  value: Partial<Attribute> = {},
): Attribute =>
  complex(
    name,
    description,
    [
      text("value", "The value.", value),
      text("display", "A label of the value."),
      text("type", "What the value is for.", canonicalValues.length === 0 ? {} : { canonicalValues }),
      { name: "primary", type: "boolean", description: "Whether this is the preferred one; at most one is." },
    ],
    { multiValued: true },
  );

const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Names are compared in any case. */
export const named = (attributes: readonly Attribute[] | undefined, name: string): Attribute | undefined =>
  attributes?.find((one) => same(one.name, name));

export const extensionOf = (type: ResourceType, urn: string): Schema | undefined =>
  type.extensions.find(({ id }) => same(id, urn));

/** What every resource has (RFC 7643 section 3.1); `schemas` and `id` are always returned. */
export const COMMON: readonly Attribute[] = [
  text("id", "The server's own id.", { exact: true, mutability: "readOnly", returned: "always" }),
  text("externalId", "What the client calls the resource.", { exact: true }),
  complex(
    "meta",
    "About the resource.",
    [
      text("resourceType", "Its type.", { exact: true, mutability: "readOnly" }),
      { name: "created", type: "dateTime", description: "When it was made.", mutability: "readOnly" },
      { name: "lastModified", type: "dateTime", description: "When it was changed last.", mutability: "readOnly" },
      { name: "location", type: "reference", description: "Its address.", mutability: "readOnly", exact: true },
      text("version", "Its entity tag.", { exact: true, mutability: "readOnly" }),
    ],
    { mutability: "readOnly" },
  ),
];

/** All that may stand in a resource beside extensions. */
export const attributesOf = (type: ResourceType): readonly Attribute[] => [...COMMON, ...type.schema.attributes];
