/** Discovery documents (RFC 7644 section 4, RFC 7643 sections 5 to 7); the schemas as in RFC 7643 section 8.7. */
import type { Attribute, ResourceType, Schema } from "./attribute.ts";
import { RESOURCE_TYPES } from "./resources.ts";

const CONFIG_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig";
const TYPE_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:ResourceType";
const SCHEMA_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Schema";

const no = { supported: false } as const;
const yes = { supported: true } as const;
const meta = (resourceType: string, location: string) => ({ meta: { resourceType, location } });

export const serviceProviderConfig = (base: string, maxResults: number) => ({
  schemas: [CONFIG_SCHEMA],
  patch: yes,
  bulk: { ...no, maxOperations: 0, maxPayloadSize: 0 },
  filter: { ...yes, maxResults },
  changePassword: no,
  sort: yes,
  etag: yes,
  authenticationSchemes: [
    {
      type: "oauthbearertoken",
      name: "Bearer token",
      description:
        "The token of a service account, or a JSON web token that the settings scim_jwt_token_* of the account let in.",
      specUri: "https://www.rfc-editor.org/info/rfc6750",
      primary: true,
    },
  ],
  ...meta("ServiceProviderConfig", `${base}/ServiceProviderConfig`),
});

export const resourceTypes = (base: string) => RESOURCE_TYPES.map((type) => resourceType(base, type));

const resourceType = (base: string, { name, endpoint, description, schema, extensions }: ResourceType) => ({
  schemas: [TYPE_SCHEMA],
  id: name,
  name,
  endpoint,
  description,
  schema: schema.id,
  schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })),
  ...meta("ResourceType", `${base}/ResourceTypes/${name}`),
});

export const schemas = (base: string) =>
  RESOURCE_TYPES.flatMap(({ schema, extensions }) => [schema, ...extensions]).map((schema) => shown(base, schema));

const shown = (base: string, { id, name, description, attributes }: Schema) => ({
  schemas: [SCHEMA_SCHEMA],
  id,
  name,
  description,
  attributes: attributes.map(characteristics),
  ...meta("Schema", `${base}/Schemas/${id}`),
});

const isDescribed = ({ undescribed }: Attribute): boolean => !undescribed;

type Shown = { readonly [key: string]: unknown };

function characteristics(attribute: Attribute): Shown {
  const { subAttributes, canonicalValues, referenceTypes, described, ...one } = attribute;
  return {
    name: one.name,
    type: one.type,
    multiValued: one.multiValued ?? false,
    description: one.description,
    required: one.required ?? false,
    ...(one.type === "string" || one.type === "reference" || one.type === "binary" ? { caseExact: false } : {}),
    mutability: described?.mutability ?? one.mutability ?? "readWrite",
    returned: one.returned ?? "default",
    uniqueness: described?.uniqueness ?? one.uniqueness ?? "none",
    ...(canonicalValues ? { canonicalValues } : {}),
    ...(referenceTypes ? { referenceTypes } : {}),
    ...(subAttributes ? { subAttributes: subAttributes.filter(isDescribed).map(characteristics) } : {}),
  };
}
