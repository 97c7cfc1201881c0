import { toWire } from "../core/ids.ts";
import type { Builder, NodeRef } from "../platform/graphql/builder.ts";
import type { User } from "./user.ts";
import type { FindUserByName } from "./user-by-name.ts";

/** `User` and `userByName` (spec.md, "GraphQL operations"). */
export function addIdentityTypes(builder: Builder, verbs: { userByName: FindUserByName }): { User: NodeRef<User> } {
  const User = builder.objectRef<User>("User").implement({
    fields: (t) => ({
      id: t.string({ resolve: (user) => toWire(user.id) }),
      name: t.exposeString("name"),
      email: t.exposeString("email"),
    }),
  });
  builder.queryField("userByName", (t) =>
    t.field({
      type: User,
      args: { name: t.arg.string({ required: true }) },
      extensions: { permission: "core_user_view" },
      resolve: (_root, { name }, { actor }) => verbs.userByName(actor, name),
    }),
  );
  return { User };
}
