/** The database columns of user and group attributes, for filters and sorting. Nothing here comes from a request. */
import { folded } from "../../identity/index.ts";
import type { AttributePath } from "../filter/syntax.ts";
import { badFilter, badSort } from "../filter/tokens.ts";
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
  /** `from` selects the values as rows of one column, `e`. */
  | { readonly kind: "list"; readonly from: string; readonly of: Attribute }
  /** `value` is the column that comparisons of the whole attribute use, such as `manager.value` for `manager`. */
  | { readonly kind: "parts"; readonly of: readonly Column[]; readonly value?: Column }
  /** An attribute without values. */
  | { readonly kind: "none" };

/** The use of a column: filters accept attributes without values and match nothing; sorting refuses them. */
type Use = "filter" | "sort";
const complaint = (use: Use, what: string): Error => (use === "sort" ? badSort : badFilter)(what);

/** A uuid in the form of the wire (core/ids.ts). */
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

/** Users without a directory have their own e-mail address. */
const emails = `select e from jsonb_array_elements(case when u.directory ? 'emails' then u.directory -> 'emails'
   else jsonb_build_array(jsonb_build_object('value', u.email, 'type', 'work', 'primary', true)) end) as l (e)`;

/** As in `shownPerson`: for a user without a directory, from the whole name. */
function partOfName(column: string, pattern: string): string {
  return `case when u.managed_externally or u.given_name <> '' or u.family_name <> '' then nullif(${column}, '')
    else coalesce(substring(u.name from '${pattern}'), u.name) end`;
}

const META = {
  "meta.created": { kind: "time", sql: "u.created_at" },
  "meta.lastmodified": { kind: "time", sql: "greatest(u.created_at, u.updated_at)" },
  id: { kind: "id", sql: "u.id" },
  externalid: exact("u.external_id"),
} as const satisfies Record<string, Column>;

/** By lower-case name; a text is the `from` of a list. */
const OWN: Readonly<Record<ResourceType["name"], Readonly<Record<string, Column | string>>>> = {
  User: {
    ...META,
    "meta.resourcetype": exact("'User'"),
    username: { kind: "text", sql: "coalesce(u.user_key, u.email)", exact: true, fold: folded },
    displayname: text("coalesce(u.display_name, u.name)"),
    "name.givenname": text(partOfName("u.given_name", "^(.*\\S)\\s+\\S+$")),
    "name.familyname": text(partOfName("u.family_name", "\\S+$")),
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

/** The schemas of a resource: its own, and those of extensions with values. */
function schemasOf({ schema, extensions }: ResourceType): Column {
  const more = extensions.map(({ id }) => `case when u.directory ? '${id}' then '${id}' end`);
  const urns = [`'${schema.id}'`, ...more].join(", ");
  const from = `select jsonb_build_object('schemas', urn) as e from unnest(array[${urns}]) as urn where urn is not null`;
  return { kind: "list", from, of: { ...textual("schemas", ""), multiValued: true } };
}

/**
 * The column of a path. Throws `scim.invalid_filter` or `scim.invalid_sort`, also for unknown and unsupported
 * attributes.
 */
export function columnOf(type: ResourceType, path: AttributePath, use: Use = "filter"): Column {
  if (path.schema === undefined && path.sub === undefined && path.name.toLowerCase() === "schemas")
    return schemasOf(type);
  return attributeColumn(type, path, use);
}

function attributeColumn(type: ResourceType, path: AttributePath, use: Use): Column {
  const there = found(type, path);
  const name = nameOf(path).toLowerCase();
  if (!there) return missing(use, `${nameOf(path)} is no attribute of a ${type.name}`);
  const { attribute, json } = there;
  const own = OWN[type.name];
  const known = json === undefined ? undefined : own[name];
  if (known !== undefined && typeof known !== "string") return known;
  if (attribute.returned === "never") throw complaint(use, `${attribute.name} is never told`);
  const list = json === undefined ? undefined : own[path.name.toLowerCase()];
  const from = typeof list === "string" ? list : elementsOf(json ?? "", path, attribute);
  if (attribute.multiValued) {
    const column: Column = { kind: "list", from, of: attribute };
    return path.sub === undefined ? column : partOf(column, path.sub);
  }
  if (type.name === "Group" || attribute.name === "meta") return missing(use, `${name} cannot be looked for`);
  if (path.sub === undefined && attribute.subAttributes)
    return partsColumn(attribute.subAttributes, (sub) => columnOf(type, { ...path, sub }, use));
  const sub = path.sub === undefined ? undefined : named(attribute.subAttributes, path.sub);
  const holder = path.sub === undefined ? json : `${json} -> '${attribute.name}'`;
  return scalar(sub ?? attribute, `(${holder} ->> '${(sub ?? attribute).name}')`);
}

const nameOf = ({ name, sub }: AttributePath): string => (sub === undefined ? name : `${name}.${sub}`);

const partsColumn = (parts: readonly Attribute[], part: (name: string) => Column): Column => ({
  kind: "parts",
  of: parts.map(({ name }) => part(name)),
  ...(named(parts, "value") ? { value: part("value") } : {}),
});

function missing(use: Use, what: string): Column {
  if (use === "sort") throw badSort(what);
  return { kind: "none" };
}

/**
 * The attribute, and the JSON that contains it if it has no column. Without a URN, extensions are searched, too: Entra
 * asks for `manager`.
 */
function found(
  type: ResourceType,
  { schema, name, sub }: AttributePath,
): { attribute: Attribute; json?: string } | undefined {
  const isOwn = schema === undefined || schema.toLowerCase() === type.schema.id.toLowerCase();
  const own = isOwn ? named(attributesOf(type), name) : undefined;
  const extension = own
    ? undefined
    : type.extensions.find(
        ({ id, attributes }) =>
          (schema === undefined || extensionOf(type, schema)?.id === id) && named(attributes, name),
      );
  const attribute = own ?? named(extension?.attributes, name);
  if (!attribute || (sub !== undefined && !named(attribute.subAttributes, sub))) return undefined;
  return { attribute, json: extension ? `u.directory -> '${extension.id}'` : "u.directory" };
}

const elementsOf = (json: string, _path: AttributePath, { name }: Attribute): string =>
  `select e from jsonb_array_elements(coalesce(${json} -> '${name}', '[]')) as l (e)`;

/** A part of a list's values, such as `emails.type`: compared for each value. */
const partOf = (list: Extract<Column, { kind: "list" }>, sub: string): Column => ({
  ...list,
  of: named(list.of.subAttributes, sub) ?? list.of,
});

/** A part of a list value, inside of brackets. */
export function elementColumn(list: Extract<Column, { kind: "list" }>, path: AttributePath): Column {
  const sub = path.schema === undefined && path.sub === undefined ? named(list.of.subAttributes, path.name) : undefined;
  if (!sub) return { kind: "none" };
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
      return { kind: "text", sql, exact: attribute.exact === true };
  }
}
