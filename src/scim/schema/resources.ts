/**
 * The complete schemas of RFC 7643 sections 4.1 to 4.3: everything that Okta and Entra map is accepted and returned.
 */
import { complex, plural, text, type Attribute, type ResourceType, type Schema } from "./attribute.ts";

export const USER_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User";
export const GROUP_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Group";
export const ENTERPRISE_SCHEMA = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

const reference = (referenceTypes: readonly string[]) =>
  ({
    name: "$ref",
    type: "reference",
    description: "Its address.",
    referenceTypes,
    mutability: "readOnly",
    exact: true,
  }) as const satisfies Attribute;

const user: Schema = {
  id: USER_SCHEMA,
  name: "User",
  description: "User Account",
  attributes: [
    text("userName", "What the directory calls the person for logging in; as a rule an e-mail address.", {
      required: true,
      uniqueness: "server",
    }),
    complex("name", "The parts of the name.", [
      text("formatted", "The whole name."),
      text("familyName", "The family name."),
      text("givenName", "The given name."),
      text("middleName", "Further names."),
      text("honorificPrefix", "What stands before the name."),
      text("honorificSuffix", "What stands after the name."),
    ]),
    text("displayName", "What the person is shown as."),
    text("nickName", "A casual name."),
    {
      name: "profileUrl",
      type: "reference",
      description: "A page about the person.",
      referenceTypes: ["external"],
      exact: true,
    },
    text("title", "The job title."),
    text("userType", "The kind of employment."),
    text("preferredLanguage", "As in Accept-Language."),
    text("locale", "For dates and numbers."),
    text("timezone", "As in the time zone database."),
    { name: "active", type: "boolean", description: "An inactive user can neither sign in nor use a token." },
    text("password", "Accepted and not stored: users of a directory sign in through it.", {
      mutability: "writeOnly",
      returned: "never",
    }),
    plural("emails", "E-mail addresses; the primary one, or the one for work, is the person's here.", [
      "work",
      "home",
      "other",
    ]),
    plural("phoneNumbers", "Phone numbers.", ["work", "home", "mobile", "fax", "pager", "other"]),
    plural("ims", "Addresses for messages.", ["aim", "gtalk", "icq", "xmpp", "msn", "skype", "qq", "yahoo"]),
    plural("photos", "Addresses of pictures.", ["photo", "thumbnail"], {
      type: "reference",
      referenceTypes: ["external"],
    }),
    complex(
      "addresses",
      "Postal addresses.",
      [
        text("formatted", "The whole address."),
        text("streetAddress", "Street and number."),
        text("locality", "The place."),
        text("region", "The state or region."),
        text("postalCode", "The postal code."),
        text("country", "The country."),
        text("type", "What the address is for.", { canonicalValues: ["work", "home", "other"] }),
        { name: "primary", type: "boolean", description: "Whether this is the preferred one.", undescribed: true },
      ],
      { multiValued: true },
    ),
    complex(
      "groups",
      "The groups that the person is a member of; changed at the groups.",
      [
        text("value", "The group's id.", { mutability: "readOnly", exact: true }),
        reference(["User", "Group"]),
        text("display", "The group's name.", { mutability: "readOnly" }),
        text("type", "Always direct.", { mutability: "readOnly", canonicalValues: ["direct", "indirect"] }),
      ],
      { multiValued: true, mutability: "readOnly" },
    ),
    plural("entitlements", "Kept for the directory; they give nothing here."),
    plural("roles", "Kept for the directory; roles are given here, to people and groups."),
    plural("x509Certificates", "Certificates.", [], { type: "binary", exact: true }),
  ],
};

const enterprise: Schema = {
  id: ENTERPRISE_SCHEMA,
  name: "EnterpriseUser",
  description: "Enterprise User",
  attributes: [
    text("employeeNumber", "The number of the employee."),
    text("costCenter", "The cost center."),
    text("organization", "The organization."),
    text("division", "The division."),
    text("department", "The department."),
    complex("manager", "Who the person reports to.", [
      text("value", "The manager's id.", { exact: true }),
      {
        name: "$ref",
        type: "reference",
        description: "The manager's address.",
        referenceTypes: ["User"],
        exact: true,
      },
      text("displayName", "The manager's name.", { mutability: "readOnly" }),
    ]),
  ],
};

const group: Schema = {
  id: GROUP_SCHEMA,
  name: "Group",
  description: "Group",
  attributes: [
    text("displayName", "The group's name.", {
      required: true,
      uniqueness: "server",
      described: { uniqueness: "none" },
    }),
    complex(
      "members",
      "The people in the group.",
      [
        text("value", "The person's id.", { mutability: "immutable", exact: true }),
        { ...reference(["User", "Group"]), described: { mutability: "immutable" } },
        text("display", "The person's name.", { mutability: "readOnly", undescribed: true }),
        text("type", "Always User.", { mutability: "immutable", canonicalValues: ["User", "Group"] }),
      ],
      { multiValued: true, maxValues: 10_000 },
    ),
  ],
};

export const USER: ResourceType = {
  name: "User",
  endpoint: "/Users",
  description: "People",
  schema: user,
  extensions: [enterprise],
};
export const GROUP: ResourceType = {
  name: "Group",
  endpoint: "/Groups",
  description: "Groups that a directory keeps",
  schema: group,
  extensions: [],
};
export const RESOURCE_TYPES = [USER, GROUP] as const;
