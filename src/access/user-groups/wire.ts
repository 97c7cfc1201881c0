/** REST shapes of user groups: members by id, and by e-mail address in the second version. */
import { z } from "zod";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import { description, displayName, scopeIdentifier, tags } from "../../platform/document/fields.ts";
import { stringMap, wireId } from "../../platform/http/response/shapes.ts";
import type { Member, UserGroup } from "./user-group.ts";

const MAX_USERS = 10_000;
const userId = z.string().transform((text, context) => {
  const id = fromWire(text);
  if (id === undefined) context.issues.push({ code: "custom", message: "is no id of a user", input: text });
  return id ?? z.NEVER;
});

const fields = {
  accountIdentifier: wireId.nullish(),
  orgIdentifier: scopeIdentifier.nullish(),
  projectIdentifier: scopeIdentifier.nullish(),
  identifier: scopeIdentifier,
  name: displayName,
  description,
  tags,
  notificationConfigs: z.array(z.never()).nullish(),
  externallyManaged: z.literal(false).nullish(),
  ssoLinked: z.literal(false).nullish(),
};

export const groupBody = z.strictObject({ ...fields, users: z.array(userId).max(MAX_USERS).nullish() });
export const groupBodyV2 = z.strictObject({ ...fields, users: z.array(z.string().max(320)).max(MAX_USERS).nullish() });
export type GroupBody = z.output<typeof groupBody>;
export type GroupBodyV2 = z.output<typeof groupBodyV2>;

const common = (accountId: Uuid, group: UserGroup) => ({
  accountIdentifier: toWire(accountId),
  orgIdentifier: group.orgIdentifier,
  projectIdentifier: group.projectIdentifier,
  identifier: group.identifier,
  name: group.name,
  description: group.description,
  tags: group.tags,
  notificationConfigs: [],
  externallyManaged: group.externallyManaged,
  platformManaged: group.identifier.startsWith("_") && group.createdAt === 0,
  ssoLinked: false,
});

const commonShape = {
  accountIdentifier: wireId,
  orgIdentifier: z.string().nullable(),
  projectIdentifier: z.string().nullable(),
  identifier: z.string(),
  name: z.string(),
  description: z.string(),
  tags: stringMap,
  notificationConfigs: z.array(z.unknown()).max(0),
  externallyManaged: z.boolean().describe("True for a group that an identity provider keeps over SCIM."),
  platformManaged: z.boolean().describe("True for the group of everybody, which every scope has."),
  ssoLinked: z.literal(false),
};

export const groupResponse = (accountId: Uuid, group: UserGroup, members: readonly Member[]) => ({
  ...common(accountId, group),
  users: members.map(({ id }) => toWire(id)),
});
export const groupShape = z.strictObject({ ...commonShape, users: z.array(wireId) });

export const memberResponse = ({ id, name, email }: Member) => ({ uuid: toWire(id), name, email });
export const memberShape = z.strictObject({ uuid: wireId, name: z.string(), email: z.string() });

export const groupResponseV2 = (accountId: Uuid, group: UserGroup, members: readonly Member[]) => ({
  ...common(accountId, group),
  users: members.map(memberResponse),
});
export const groupShapeV2 = z.strictObject({ ...commonShape, users: z.array(memberShape) });

/** The filter of a list of groups. */
export const batchBody = z.strictObject({
  accountIdentifier: wireId.nullish(),
  orgIdentifier: scopeIdentifier.nullish(),
  projectIdentifier: scopeIdentifier.nullish(),
  identifierFilter: z.array(z.string().max(128)).max(1_000).nullish(),
  databaseIdFilter: z.array(z.never()).nullish(),
  filterType: z.enum(["EXCLUDE_INHERITED_GROUPS"]).nullish(),
});
