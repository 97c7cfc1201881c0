import type { Actor } from "../core/actor.ts";
import { seen, type UserGroupNode, type UserGroups } from "../access/index.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import { createBatch } from "../platform/graphql/request/batch.ts";
import {
  listOf,
  listType,
  payloadOf,
  payloadType,
  windowToVariant,
  window,
  variantToWindow,
  type Builder,
  type GraphqlContext,
  type List,
  type NodeRef,
} from "../platform/graphql/builder.ts";
import type { User, UserDetail } from "./user.ts";
import type { CreateManagedUser, DeleteManagedUser, UpdateManagedUser } from "./users/manage.ts";
import type { FindUser, ListUsers, FindLockedUsers, FindReferencedUsers } from "./users/find.ts";

/** A user, or those fields that another row brought along. Missing fields are read on demand. */
export type UserNode = User & Partial<UserDetail>;

type Operations = {
  readonly getUser: FindUser;
  readonly userByName: FindUser;
  readonly userByEmail: FindUser;
  readonly listUsers: ListUsers;
  readonly findReferencedUsers: FindReferencedUsers;
  readonly createManagedUser: CreateManagedUser;
  readonly updateManagedUser: UpdateManagedUser;
  readonly deleteManagedUser: DeleteManagedUser;
  readonly userGroups: UserGroups;
  readonly findLockedUsers: FindLockedUsers;
};

/** Adds `User` with its queries and mutations. */
export function addIdentityTypes(
  builder: Builder,
  { UserGroup, UserGroupList }: { UserGroup: NodeRef<UserGroupNode>; UserGroupList: NodeRef<List<UserGroupNode>> },
  operations: Operations,
): { User: NodeRef<UserNode> } {
  const User = userType(builder, UserGroupList, operations);
  addMutations(builder, User, operations);
  const UserList = listType(builder, "UserConnection", User);
  const extensions = { permission: "core_user_view" };
  const membersOf = createBatch(({ actor }: GraphqlContext, ids: readonly Uuid[], variant) =>
    operations.userGroups.listMembersOfGroups(actor, ids, variantToWindow(variant)),
  );
  builder.objectField(UserGroup, "users", (t) =>
    t.field({
      type: UserList,
      description: "Its members by name.",
      args: { limit: t.arg.int(), offset: t.arg.int() },
      resolve: async (group, args, context) =>
        listOf<UserNode>(await membersOf(context, group.id, windowToVariant(window(args)))),
    }),
  );
  builder.queryFields((t) => ({
    users: t.field({
      type: UserList,
      args: { limit: t.arg.int(), offset: t.arg.int() },
      extensions,
      resolve: async (_root, args, { actor }) => {
        const { limit, offset } = window(args);
        return listOf<UserNode>(await operations.listUsers(actor, {}, { limit, offset }));
      },
    }),
    user: t.field({
      type: User,
      args: { id: t.arg.string({ required: true }) },
      extensions,
      resolve: (_root, { id }, { actor }) => operations.getUser(actor, id),
    }),
    userByName: t.field({
      type: User,
      args: { name: t.arg.string({ required: true }) },
      extensions,
      resolve: (_root, { name }, { actor }) => operations.userByName(actor, name),
    }),
    userByEmail: t.field({
      type: User,
      args: { email: t.arg.string({ required: true }) },
      extensions,
      resolve: (_root, { email }, { actor }) => operations.userByEmail(actor, email),
    }),
  }));
  return { User };
}

function userType(
  builder: Builder,
  GroupList: NodeRef<List<UserGroupNode>>,
  operations: Pick<Operations, "findReferencedUsers" | "userGroups" | "findLockedUsers">,
): NodeRef<UserNode> {
  const read = createBatch(({ actor }: GraphqlContext, ids: readonly Uuid[]) =>
    operations.findReferencedUsers(actor, ids),
  );
  const whole = (user: UserNode, context: GraphqlContext): UserDetail | Promise<UserDetail> =>
    isWhole(user) ? user : read(context, user.id, "");
  const groupsOf = createBatch(({ actor }: GraphqlContext, ids: readonly Uuid[], variant) =>
    operations.userGroups.listGroupsOf(actor, ids, variantToWindow(variant)),
  );
  const isLocked = createBatch(async ({ actor }: GraphqlContext, users: readonly UserNode[]) => {
    const locked = await operations.findLockedUsers(actor.accountId, users);
    return users.map(({ id }) => locked.has(id));
  });
  const never = (description: string) => ({ description, resolve: (): boolean => false });
  return builder.objectRef<UserNode>("User").implement({
    fields: (t) => ({
      id: t.string({ resolve: (user) => toWire(user.id) }),
      name: t.string({ resolve: (user, _args, { actor }) => nameTo(actor, user) }),
      email: t.string({
        nullable: true,
        description: "Null without permission to view users, except for the caller.",
        resolve: (user, _args, { actor }) => (seesAddress(actor, user) ? user.email : null),
      }),
      externalUserId: t.string({
        nullable: true,
        description:
          "The id in the directory that provisions the person; null for a person whom no directory provisions.",
        resolve: async (user, _args, context) =>
          seesAddress(context.actor, user) ? (await whole(user, context)).externalId : null,
      }),
      isEmailVerified: t.boolean({
        description: "True when an identity provider vouches for the address; no mail is sent to verify it.",
        resolve: async (user, _args, context) => (await whole(user, context)).emailVerified,
      }),
      isImportedFromIdentityProvider: t.boolean({
        description: "True when an identity provider looks after this person, by SCIM.",
        resolve: async (user, _args, context) => (await whole(user, context)).managedExternally,
      }),
      isDisabled: t.boolean({
        description: "True when the person has been deactivated, or removed.",
        resolve: async (user, _args, context) => !(await whole(user, context)).active,
      }),
      isPasswordExpired: t.boolean({
        description: "True while the password is a one-time password that has to be changed.",
        resolve: async (user, _args, context) => (await whole(user, context)).mustChangePassword,
      }),
      isTwoFactorAuthenticationEnabled: t.boolean(never("Always false: second factors are not supported.")),
      isUserLocked: t.boolean({
        description: "True while failed attempts pause sign-in from browsers where the user has not signed in before.",
        resolve: async (user, _args, context) => {
          await whole(user, context);
          return isLocked(context, user, "");
        },
      }),
      userGroups: t.field({
        type: GroupList,
        description: "Those of the account that the caller may see.",
        args: { limit: t.arg.int(), offset: t.arg.int() },
        resolve: async (user, args, context) =>
          listOf<UserGroupNode>(await groupsOf(context, user.id, windowToVariant(window(args)))),
      }),
    }),
  });
}

/**
 * Whether the actor may see the user's e-mail address. A creator's name is visible with the created object; the address
 * is not.
 */
const seesAddress = (actor: Actor, { id }: User): boolean =>
  seen(actor, "core_user_view", { accountId: actor.accountId }) === "all" || (actor.kind === "user" && actor.id === id);

/** The e-mail address serves as name of a user without one. */
const nameTo = (actor: Actor, user: User): string =>
  user.name === user.email && !seesAddress(actor, user) ? (user.name.split("@")[0] ?? "") : user.name;

const isWhole = (user: UserNode): user is UserDetail => user.version !== undefined;

function addMutations(builder: Builder, User: NodeRef<UserNode>, operations: Operations): void {
  const payload = (name: string) =>
    payloadType<{ user: UserNode }>(builder, name, (t) => ({
      user: t.field({ type: User, resolve: ({ user }) => user }),
    }));
  const [CreatePayload, UpdatePayload] = [payload("CreateUserPayload"), payload("UpdateUserPayload")];
  const DeletePayload = payloadType(builder, "DeleteUserPayload");
  const inputs = inputTypes(builder);
  builder.mutationFields((t) => ({
    createUser: t.field({
      type: CreatePayload,
      args: { input: t.arg({ type: inputs.Create, required: true }) },
      extensions: { permission: "core_user_invite" },
      resolve: async (_root, { input }, { actor }) =>
        payloadOf(input, { user: await operations.createManagedUser(actor, input) }),
    }),
    updateUser: t.field({
      type: UpdatePayload,
      args: { input: t.arg({ type: inputs.Update, required: true }) },
      extensions: { permission: "core_user_manage" },
      resolve: async (_root, { input }, { actor }) =>
        payloadOf(input, { user: await operations.updateManagedUser(actor, input.id, input) }),
    }),
    deleteUser: t.field({
      type: DeletePayload,
      args: { input: t.arg({ type: inputs.Delete, required: true }) },
      extensions: { permission: "core_user_manage" },
      resolve: async (_root, { input }, { actor }) => {
        await operations.deleteManagedUser(actor, input.id);
        return payloadOf(input, {});
      },
    }),
  }));
}

function inputTypes(builder: Builder) {
  const Create = builder.inputType("CreateUserInput", {
    fields: (t) => ({
      name: t.string({ description: "The e-mail address when it is left out." }),
      email: t.string({ required: true, description: "Kept in lower case." }),
      userGroupIds: t.stringList(),
      clientMutationId: t.string(),
    }),
  });
  const Update = builder.inputType("UpdateUserInput", {
    fields: (t) => ({
      id: t.string({ required: true }),
      name: t.string(),
      userGroupIds: t.stringList({ description: "When given: exactly these." }),
      clientMutationId: t.string(),
    }),
  });
  const Delete = builder.inputType("DeleteUserInput", {
    fields: (t) => ({ id: t.string({ required: true }), clientMutationId: t.string() }),
  });
  return { Create, Update, Delete };
}
