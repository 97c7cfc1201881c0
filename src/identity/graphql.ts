import type { Actor } from "../core/actor.ts";
import { toWire } from "../core/ids.ts";
import { listOf, listType, window, type Builder, type NodeRef } from "../platform/graphql/builder.ts";
import type { User, UserDetail } from "./user.ts";
import type { FindUser, ListUsers } from "./users.ts";

/** A person, or as much of one as another row brought along; what is missing is read when it is asked for. */
export type UserNode = User & Partial<UserDetail>;

type Verbs = {
  readonly getUser: FindUser;
  readonly userByName: FindUser;
  readonly userByEmail: FindUser;
  readonly listUsers: ListUsers;
};

/** `User` and its queries (spec.md, "GraphQL operations"; reference section 1.10). */
export function addIdentityTypes(builder: Builder, verbs: Verbs): { User: NodeRef<UserNode> } {
  const User = userType(builder, verbs);
  const UserList = listType(builder, "UserConnection", User);
  const extensions = { permission: "core_user_view" };
  builder.queryFields((t) => ({
    users: t.field({
      type: UserList,
      args: { limit: t.arg.int(), offset: t.arg.int() },
      extensions,
      resolve: async (_root, args, { actor }) => {
        const { limit, offset } = window(args);
        return listOf<UserNode>(await verbs.listUsers(actor, limit, offset));
      },
    }),
    user: t.field({
      type: User,
      args: { id: t.arg.string({ required: true }) },
      extensions,
      resolve: (_root, { id }, { actor }) => verbs.getUser(actor, id),
    }),
    userByName: t.field({
      type: User,
      args: { name: t.arg.string({ required: true }) },
      extensions,
      resolve: (_root, { name }, { actor }) => verbs.userByName(actor, name),
    }),
    userByEmail: t.field({
      type: User,
      args: { email: t.arg.string({ required: true }) },
      extensions,
      resolve: (_root, { email }, { actor }) => verbs.userByEmail(actor, email),
    }),
  }));
  return { User };
}

function userType(builder: Builder, verbs: Pick<Verbs, "getUser">): NodeRef<UserNode> {
  const expired = async (user: UserNode, actor: Actor): Promise<boolean> =>
    user.mustChangePassword ?? (await verbs.getUser(actor, toWire(user.id))).mustChangePassword;
  const Group = builder.objectRef<{ id: string; name: string }>("UserGroup").implement({
    fields: (t) => ({ id: t.exposeString("id"), name: t.exposeString("name") }),
  });
  const GroupList = listType(builder, "UserGroupConnection", Group);
  const never = (description: string) => ({ description, resolve: (): boolean => false });
  return builder.objectRef<UserNode>("User").implement({
    fields: (t) => ({
      id: t.string({ resolve: (user) => toWire(user.id) }),
      name: t.exposeString("name"),
      email: t.exposeString("email"),
      isEmailVerified: t.boolean(never("Always false: no mail is sent to verify an address.")),
      isImportedFromIdentityProvider: t.boolean(never("Always false: nobody is imported.")),
      isPasswordExpired: t.boolean({
        description: "True while the password is a one-time one that the next login replaces.",
        resolve: (user, _args, { actor }) => expired(user, actor),
      }),
      isTwoFactorAuthenticationEnabled: t.boolean(never("Always false: there is no second factor.")),
      isUserLocked: t.boolean(never("Always false: nobody is locked out.")),
      userGroups: t.field({
        type: GroupList,
        description: "Always empty: there are no groups.",
        args: { limit: t.arg.int(), offset: t.arg.int() },
        resolve: (_user, args) => listOf({ ...window(args), items: [], total: async () => 0 }),
      }),
    }),
  });
}
