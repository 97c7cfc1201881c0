/** Attributes of schemas (RFC 7643 sections 2.2 and 7). Reading, filtering and patching follow them. */
export type Attribute = {
  readonly name: string;
  readonly type: "string" | "boolean" | "integer" | "dateTime" | "reference" | "binary" | "complex";
  readonly description: string;
  readonly multiValued?: true;
  readonly required?: true;
  /** Values are compared case-sensitively here: ids, addresses and certificates. The RFC's schemas do not say so. */
  readonly exact?: true;
  readonly mutability?: "readOnly" | "immutable" | "writeOnly";
  readonly returned?: "always" | "never";
  readonly uniqueness?: "server";
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly Attribute[];
  /** Limit of a list; 200 without it. */
  readonly maxValues?: number;
  /** Accepted and shown in addition to RFC 7643 section 8.7, and omitted from the schema's description. */
  readonly undescribed?: true;
  /** Characteristics in the description that differ, since the RFC's schema requires them. */
  readonly described?: { readonly mutability?: "immutable"; readonly uniqueness?: "none" };
};

export type Schema = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly Attribute[];
};

/** A type of resource: its own schema, and extensions under their URN. */
export type ResourceType = {
  readonly name: "User" | "Group";
  readonly endpoint: "/Users" | "/Groups";
  readonly description: string;
  readonly schema: Schema;
  readonly extensions: readonly Schema[];
};

/** A resource as JSON, without attributes that the server adds; extensions under their URN. */
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

/** A list of values with a type, a label and a primary one (RFC 7643 section 2.4). */
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

/** Ignores the case of names. */
export const named = (attributes: readonly Attribute[] | undefined, name: string): Attribute | undefined =>
  attributes?.find((one) => same(one.name, name));

export const extensionOf = (type: ResourceType, urn: string): Schema | undefined =>
  type.extensions.find(({ id }) => same(id, urn));

/** Attributes of every resource (RFC 7643 section 3.1); `schemas` and `id` are always returned. */
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

/** All attributes of a resource except extensions. */
export const attributesOf = (type: ResourceType): readonly Attribute[] => [...COMMON, ...type.schema.attributes];
