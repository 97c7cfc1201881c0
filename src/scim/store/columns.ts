/** Where the attributes of people and groups stand in the database, for filters and orders. Nothing in here comes from outside. */
import { folded } from "../../identity/index.ts";
import type { AttributePath } from "../filter/syntax.ts";
import { badFilter, type Complain } from "../filter/tokens.ts";
import {
  attributesOf,
  extensionOf,
  named,
  text as textual,
  type Attribute,
  type ResourceType,
} from "../schema/attribute.ts";

export type Column =
  | { readonly kind: "text"; readonly sql: string; readonly exact: boolean; readonly fold?: (value: string) => string }
  | { readonly kind: "boolean"; readonly sql: string }
  /** Epoch milliseconds. */
  | { readonly kind: "time"; readonly sql: string }
  | { readonly kind: "number"; readonly sql: string }
  /** A uuid, shown in the wire's form. */
  | { readonly kind: "id"; readonly sql: string }
  /** `from` gives the values as rows of one column, `e`. */
  | { readonly kind: "list"; readonly from: string; readonly of: Attribute }
  | { readonly kind: "parts"; readonly of: readonly Column[] };

/** A uuid as the wire has it (core/ids.ts). */
export const wireOf = (uuid: string): string =>
  `translate(rtrim(encode(uuid_send(${uuid}), 'base64'), '='), '+/', '-_')`;

const text = (sql: string): Column => ({ kind: "text", sql, exact: false });
const exact = (sql: string): Column => ({ kind: "text", sql, exact: true });

const groupsOf = `select jsonb_build_object('value', ${wireOf("g.id")}, 'display', g.name, 'type', 'direct') as e
   from user_group_members m join user_groups g on g.account_id = m.account_id and g.id = m.group_id
  where m.account_id = u.account_id and m.user_id = u.id and g.externally_managed and g.org_identifier is null`;

const membersOf = `select jsonb_build_object('value', ${wireOf("p.id")}, 'display', p.name, 'type', 'User') as e
   from user_group_members m join users p on p.account_id = m.account_id and p.id = m.user_id
  where m.account_id = u.account_id and m.group_id = u.id`;

/** People without any from a directory have the one that they were made with. */
const emails = `select e from jsonb_array_elements(case when u.directory ? 'emails' then u.directory -> 'emails'
   else jsonb_build_array(jsonb_build_object('value', u.email, 'type', 'work', 'primary', true)) end) as l (e)`;

const META = {
  "meta.created": { kind: "time", sql: "u.created_at" },
  "meta.lastmodified": { kind: "time", sql: "greatest(u.created_at, u.updated_at)" },
  id: { kind: "id", sql: "u.id" },
  externalid: exact("u.external_id"),
} as const satisfies Record<string, Column>;

/** By the name in lower case; `from` is for lists. */
const OWN: Readonly<Record<ResourceType["name"], Readonly<Record<string, Column | string>>>> = {
  User: {
    ...META,
    "meta.resourcetype": exact("'User'"),
    username: { kind: "text", sql: "coalesce(u.user_key, u.email)", exact: true, fold: folded },
    displayname: text("coalesce(u.display_name, u.name)"),
    "name.givenname": text("nullif(u.given_name, '')"),
    "name.familyname": text("nullif(u.family_name, '')"),
    active: { kind: "boolean", sql: "u.active" },
    emails,
    groups: groupsOf,
  },
  Group: {
    ...META,
    "meta.resourcetype": exact("'Group'"),
    displayname: text("u.name"),
    members: membersOf,
  },
};

/** The URNs of what a resource speaks: its own, and those of the extensions that say something of it. */
function schemasOf({ schema, extensions }: ResourceType): Column {
  const more = extensions.map(({ id }) => `case when u.directory ? '${id}' then '${id}' end`);
  const urns = [`'${schema.id}'`, ...more].join(", ");
  const from = `select jsonb_build_object('schemas', urn) as e from unnest(array[${urns}]) as urn where urn is not null`;
  return { kind: "list", from, of: { ...textual("schemas", ""), multiValued: true } };
}

/** Throws `scim.invalid_filter`, or what `complain` makes, for what is no attribute, or cannot be looked for. */
export function columnOf(type: ResourceType, path: AttributePath, complain: Complain = badFilter): Column {
  if (path.schema === undefined && path.sub === undefined && path.name.toLowerCase() === "schemas")
    return schemasOf(type);
  return attributeColumn(type, path, complain);
}

function attributeColumn(type: ResourceType, path: AttributePath, complain: Complain): Column {
  const { attribute, json } = found(type, path, complain);
  const own = OWN[type.name];
  const name = [path.name, ...(path.sub === undefined ? [] : [path.sub])].join(".").toLowerCase();
  const known = json === undefined ? undefined : own[name];
  if (known !== undefined && typeof known !== "string") return known;
  if (attribute.returned === "never") throw complain(`${attribute.name} is never told`);
  const list = json === undefined ? undefined : own[path.name.toLowerCase()];
  const from = typeof list === "string" ? list : elementsOf(json ?? "", path, attribute);
  if (attribute.multiValued) {
    const column: Column = { kind: "list", from, of: attribute };
    return path.sub === undefined ? column : partOf(column, path.sub);
  }
  if (type.name === "Group" || attribute.name === "meta") throw complain(`${name} cannot be looked for`);
  if (path.sub === undefined && attribute.subAttributes) {
    const parts = attribute.subAttributes.map((sub) => columnOf(type, { ...path, sub: sub.name }, complain));
    return { kind: "parts", of: parts };
  }
  const sub = path.sub === undefined ? undefined : named(attribute.subAttributes, path.sub);
  const holder = path.sub === undefined ? json : `${json} -> '${attribute.name}'`;
  return scalar(sub ?? attribute, `(${holder} ->> '${(sub ?? attribute).name}')`);
}

/** The attribute, and the JSON that it stands in when no column has it. */
function found(
  type: ResourceType,
  { schema, name, sub }: AttributePath,
  complain: Complain,
): { attribute: Attribute; json?: string } {
  const extension = schema === undefined ? undefined : extensionOf(type, schema);
  if (schema !== undefined && !extension && schema.toLowerCase() !== type.schema.id.toLowerCase())
    throw complain(`${schema} is no schema of a ${type.name}`);
  const attribute = named(extension?.attributes ?? attributesOf(type), name);
  if (!attribute || (sub !== undefined && !named(attribute.subAttributes, sub)))
    throw complain(`${[name, sub].filter(Boolean).join(".")} is no attribute of a ${type.name}`);
  return { attribute, json: extension ? `u.directory -> '${extension.id}'` : "u.directory" };
}

const elementsOf = (json: string, _path: AttributePath, { name }: Attribute): string =>
  `select e from jsonb_array_elements(coalesce(${json} -> '${name}', '[]')) as l (e)`;

/** A part of a list's values, as `emails.type`: asked of each value. */
const partOf = (list: Extract<Column, { kind: "list" }>, sub: string): Column => ({
  ...list,
  of: named(list.of.subAttributes, sub) ?? list.of,
});

/** What stands in a value of a list, inside of brackets. Throws `scim.invalid_filter`. */
export function elementColumn(list: Extract<Column, { kind: "list" }>, path: AttributePath): Column {
  const sub = path.schema === undefined && path.sub === undefined ? named(list.of.subAttributes, path.name) : undefined;
  if (!sub) throw badFilter(`${path.name} is no part of ${list.of.name}`);
  return scalar(sub, `(s.e ->> '${sub.name}')`);
}

export function scalar(attribute: Attribute, sql: string): Column {
  switch (attribute.type) {
    case "boolean":
      return { kind: "boolean", sql: `${sql}::boolean` };
    case "integer":
      return { kind: "number", sql: `${sql}::numeric` };
    case "string":
    case "dateTime":
    case "reference":
    case "binary":
    case "complex":
      return { kind: "text", sql, exact: attribute.caseExact === true };
  }
}
