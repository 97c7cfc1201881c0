/** User groups of the account in GraphQL. Role assignments grant their permissions. */
import { z } from "zod";
import type { Actor } from "../../core/actor.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import { description, displayName } from "../../platform/document/fields.ts";
import { validateValue } from "../../platform/document/validate.ts";
import { createBatch } from "../../platform/graphql/request/batch.ts";
import {
  listOf,
  listType,
  payloadOf,
  payloadType,
  window,
  type Builder,
  type GraphqlContext,
  type List,
  type NodeRef,
} from "../../platform/graphql/builder.ts";
import { authorizeSomewhere } from "../grants/permits.ts";
import { problem } from "../problems.ts";
import { settingTypes } from "./graphql-settings.ts";
import type { UserGroups } from "./index.ts";
import { identifierOf, type GroupKey, type UserGroup } from "./user-group.ts";

/** A group, or those fields that another list brought along. Missing fields are read on demand. */
export type UserGroupNode = Pick<UserGroup, "id" | "name"> & Partial<UserGroup>;

const ACCOUNT = { orgIdentifier: null, projectIdentifier: null };
const viewAccess = { permission: "core_usergroup_view" };
const manageAccess = { permission: "core_usergroup_manage" };

function keyOf(actor: Actor, text: string, permission: "core_usergroup_view" | "core_usergroup_manage"): GroupKey {
  authorizeSomewhere(actor, permission);
  const id = fromWire(text);
  if (!id) throw problem("access.no_group", [text.slice(0, 64)]);
  return { id };
}

function personOf(text: string): Uuid {
  const id = fromWire(text);
  if (!id) throw problem("access.no_person", [text.slice(0, 64)]);
  return id;
}

/** Returns the types that those of other slices refer to. */
export function addUserGroupTypes(builder: Builder, operations: UserGroups): Types {
  const UserGroup = groupType(builder, operations);
  const UserGroupList = listType(builder, "UserGroupConnection", UserGroup);
  addQueries(builder, { UserGroup, UserGroupList }, operations);
  addMutations(builder, UserGroup, operations);
  return { UserGroup, UserGroupList };
}

function groupType(builder: Builder, operations: UserGroups): NodeRef<UserGroupNode> {
  const read = createBatch(({ actor }: GraphqlContext, ids: readonly Uuid[]) => operations.getGroups(actor, ids));
  const whole = async (node: UserGroupNode, context: GraphqlContext): Promise<UserGroup> =>
    node.identifier === undefined ? read(context, node.id, "") : (node as UserGroup);
  const settings = settingTypes(builder);
  return builder.objectRef<UserGroupNode>("UserGroup").implement({
    fields: (t) => ({
      id: t.string({ resolve: (group) => toWire(group.id) }),
      name: t.exposeString("name"),
      identifier: t.string({
        description: "How role assignments and the REST interface name it.",
        resolve: async (node, _args, context) => (await whole(node, context)).identifier,
      }),
      description: t.string({ resolve: async (node, _args, context) => (await whole(node, context)).description }),
      importedByScim: t.boolean({
        description: "True for a group that an identity provider keeps.",
        resolve: async (node, _args, context) => (await whole(node, context)).externallyManaged,
      }),
      isSSOLinked: t.boolean({ description: "Always false: logins bring no groups along.", resolve: () => false }),
      notificationSettings: t.field({
        type: settings.notificationSettings,
        description: "Always null: groups are not notified.",
        resolve: () => null,
      }),
      permissions: t.field({
        type: settings.permissions,
        description: "Always null: role assignments say what a group may do.",
        resolve: () => null,
      }),
      ssoSetting: t.field({
        type: settings.ssoSetting,
        description: "Always null: logins bring no groups along.",
        resolve: () => null,
      }),
    }),
  });
}

type Types = { readonly UserGroup: NodeRef<UserGroupNode>; readonly UserGroupList: NodeRef<List<UserGroupNode>> };

function addQueries(builder: Builder, { UserGroup, UserGroupList }: Types, operations: UserGroups): void {
  builder.queryFields((t) => ({
    userGroups: t.field({
      type: UserGroupList,
      args: { limit: t.arg.int(), offset: t.arg.int() },
      extensions: viewAccess,
      resolve: async (_root, args, { actor }) =>
        listOf<UserGroupNode>(await operations.list(actor, { ...ACCOUNT, withBuiltIn: false }, window(args))),
    }),
    userGroup: t.field({
      type: UserGroup,
      args: { userGroupId: t.arg.string({ required: true }) },
      extensions: viewAccess,
      resolve: (_root, { userGroupId }, { actor }) =>
        operations.get(actor, keyOf(actor, userGroupId, "core_usergroup_view")),
    }),
    userGroupByName: t.field({
      type: UserGroup,
      args: { name: t.arg.string({ required: true }) },
      extensions: viewAccess,
      resolve: (_root, { name }, { actor }) => operations.getByName(actor, name),
    }),
  }));
}

/** Clients send back what they have read: these values cannot be chosen. */
const fixedFields = { importedByScim: z.literal(false).nullish(), isSSOLinked: z.literal(false).nullish() };
const created = z.object({
  ...fixedFields,
  name: displayName,
  description,
  userIds: z.array(z.string()).max(10_000).nullish(),
});
const updateInput = z.object({
  ...fixedFields,
  name: displayName.nullish(),
  description: z.string().max(4_096).nullish(),
  userIds: z.array(z.string()).max(10_000).nullish(),
});

function addMutations(builder: Builder, UserGroup: NodeRef<UserGroupNode>, operations: UserGroups): void {
  const payload = (name: string) =>
    payloadType<{ userGroup: UserGroup }>(builder, name, (t) => ({
      userGroup: t.field({ type: UserGroup, resolve: ({ userGroup }) => userGroup }),
    }));
  const payloads = { Create: payload("CreateUserGroupPayload"), Update: payload("UpdateUserGroupPayload") };
  const DeletePayload = payloadType(builder, "DeleteUserGroupPayload");
  const inputs = inputTypes(builder);
  builder.mutationFields((t) => ({
    createUserGroup: t.field({
      type: payloads.Create,
      args: { input: t.arg({ type: inputs.Create, required: true }) },
      extensions: manageAccess,
      resolve: async (_root, { input }, { actor }) => {
        operations.checkManage(actor, { ...ACCOUNT, identifier: identifierOf(input.name) });
        const { name, description: text, userIds } = validateValue(created, input);
        const group = { ...ACCOUNT, identifier: identifierOf(name), name, description: text, tags: {} };
        return payloadOf(input, {
          userGroup: await operations.create(actor, group, { members: (userIds ?? []).map(personOf) }),
        });
      },
    }),
    updateUserGroup: t.field({
      type: payloads.Update,
      args: { input: t.arg({ type: inputs.Update, required: true }) },
      extensions: manageAccess,
      resolve: async (_root, { input }, { actor }) => {
        const key = keyOf(actor, input.userGroupId, "core_usergroup_manage");
        const { name, description: text, userIds } = validateValue(updateInput, input);
        const userGroup = await operations.update(actor, key, {
          ...(name ? { name } : {}),
          ...(text === null || text === undefined ? {} : { description: text }),
          ...(userIds ? { members: { replace: userIds.map(personOf) } } : {}),
        });
        return payloadOf(input, { userGroup });
      },
    }),
    deleteUserGroup: t.field({
      type: DeletePayload,
      args: { input: t.arg({ type: inputs.Delete, required: true }) },
      extensions: manageAccess,
      resolve: async (_root, { input }, { actor }) => {
        await operations.delete(actor, keyOf(actor, input.userGroupId, "core_usergroup_manage"));
        return payloadOf(input, {});
      },
    }),
  }));
  addMemberMutations(builder, payload, operations);
}

function addMemberMutations(
  builder: Builder,
  payload: (name: string) => NodeRef<{ userGroup: UserGroup; clientMutationId: string | null }>,
  operations: UserGroups,
): void {
  for (const [field, change] of [
    ["addUserToUserGroup", "add"],
    ["removeUserFromUserGroup", "remove"],
  ] as const) {
    const type = `${field[0]?.toUpperCase()}${field.slice(1)}`;
    const Payload = payload(`${type}Payload`);
    const Input = builder.inputType(`${type}Input`, {
      fields: (t) => ({
        userGroupId: t.string({ required: true }),
        userId: t.string({ required: true }),
        clientMutationId: t.string(),
      }),
    });
    builder.mutationField(field, (t) =>
      t.field({
        type: Payload,
        args: { input: t.arg({ type: Input, required: true }) },
        extensions: manageAccess,
        resolve: async (_root, { input }, { actor }) => {
          const key = keyOf(actor, input.userGroupId, "core_usergroup_manage");
          const members = { [change]: [personOf(input.userId)] };
          return payloadOf(input, { userGroup: await operations.update(actor, key, { members }) });
        },
      }),
    );
  }
}

type InputFields = Parameters<Parameters<Builder["inputType"]>[1]["fields"]>[0];

const fixed = (t: InputFields) => ({
  importedByScim: t.boolean({ description: "Only false: an identity provider makes its groups itself." }),
  isSSOLinked: t.boolean({ description: "Only false." }),
});

function inputTypes(builder: Builder) {
  const Create = builder.inputType("CreateUserGroupInput", {
    fields: (t) => ({
      name: t.string({ required: true }),
      description: t.string(),
      ...fixed(t),
      userIds: t.stringList(),
      clientMutationId: t.string(),
    }),
  });
  const Update = builder.inputType("UpdateUserGroupInput", {
    fields: (t) => ({
      userGroupId: t.string({ required: true }),
      name: t.string(),
      description: t.string(),
      ...fixed(t),
      userIds: t.stringList({ description: "Who is in the group from now on; left out, its members stay." }),
      clientMutationId: t.string(),
    }),
  });
  const Delete = builder.inputType("DeleteUserGroupInput", {
    fields: (t) => ({ userGroupId: t.string({ required: true }), clientMutationId: t.string() }),
  });
  return { Create, Update, Delete };
}
