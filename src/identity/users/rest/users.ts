/** Users over REST. Invitations are refused by name: no mail is sent, and a user exists at once. */
import { z } from "zod";
import { fromWire, toWire } from "../../../core/ids.ts";
import type { Authorize, Permission } from "../../../access/index.ts";
import { ok } from "../../../platform/http/response/answers.ts";
import { envelopeOf } from "../../../platform/http/request/bodies.ts";
import { ifMatch } from "../../../platform/http/request/if-match.ts";
import { ngPage, ngPageShape, ngWindow, sortedPageQuery } from "../../../platform/http/response/pages.ts";
import { maybeText } from "../../../platform/http/request/queries.ts";
import { route, type Answer, type Call, type Route } from "../../../platform/http/routes.ts";
import { enveloped } from "../../../platform/http/response/shapes.ts";
import { problem } from "../../problems.ts";
import type { UserDetail } from "../../user.ts";
import type { CurrentUser, FindUser, ListUsers, FindLockedUsers } from "../find.ts";
import { folded } from "../fold.ts";
import type { AddUsers, DeleteManagedUser, SetUserActive } from "../manage.ts";
import { info, infoShape, metadata, metadataShape } from "../wire.ts";

export type UserRoutesDeps = {
  readonly authorize: Authorize;
  readonly currentUser: CurrentUser;
  readonly getUser: FindUser;
  readonly listUsers: ListUsers;
  readonly addUsers: AddUsers;
  readonly deactivate: SetUserActive;
  readonly reactivate: SetUserActive;
  readonly delete: DeleteManagedUser;
  readonly findLockedUsers: FindLockedUsers;
};

const PATH = "/ng/api/user";
const query = z.object({});
const shape = enveloped(infoShape);

const filterBody = z.strictObject({
  searchTerm: z.string().max(256).nullish(),
  identifiers: z.array(z.string().max(64)).max(1_000).nullish(),
  emails: z.array(z.string().max(254)).max(1_000).nullish(),
});

const addBody = z.strictObject({
  emails: z.array(z.string().max(254)).min(1).max(100),
  userGroups: z.array(z.string().max(128)).max(100).nullish(),
  roleBindings: z.array(z.never()).nullish(),
});
const outcome = z.enum(["USER_ADDED_SUCCESSFULLY", "USER_ALREADY_ADDED", "FAIL"]);

export const userRoutes = (deps: UserRoutesDeps): readonly Route[] => [
  ...readRoutes(deps),
  ...changeRoutes(deps),
  ...refusedRoutes(deps),
];

type Locks = Pick<UserRoutesDeps, "findLockedUsers">;

async function whole(call: Call, { findLockedUsers }: Locks, user: UserDetail): Promise<Answer> {
  const locked = await findLockedUsers(call.accountId, [user]);
  return ok(call, info(user, toWire(call.accountId), locked), user.version);
}

const readRoutes = (deps: UserRoutesDeps): readonly Route[] => [
  route({
    method: "GET",
    path: `${PATH}/currentUser`,
    operation: "user.current",
    access: { permission: "core_user_view" },
    query,
    doc: {
      summary: "Read who the credential belongs to",
      description: "Every person may; a credential that is no person's is refused.",
      answer: shape,
      etag: true,
    },
    handle: async (call) => whole(call, deps, await deps.currentUser(call.actor)),
  }),
  route({
    method: "POST",
    path: `${PATH}/batch`,
    operation: "user.list",
    access: { permission: "core_user_view" },
    query: sortedPageQuery(50, ["name", "email", "createdAt", "lastModifiedAt"]).extend({
      searchTerm: maybeText("searchTerm"),
    }),
    doc: {
      summary: "List people by name, or as sortOrders says",
      body: { schema: filterBody, required: false, example: { searchTerm: "admin" } },
      answer: enveloped(ngPageShape(metadataShape)),
    },
    handle: async (call) => {
      const body = call.body.bytes.length === 0 ? {} : envelopeOf(call, filterBody);
      const filter = {
        searchTerm: call.query.searchTerm ?? body.searchTerm ?? undefined,
        ids: body.identifiers?.map(fromWire).filter((id) => id !== undefined),
        emails: body.emails?.map((email) => folded(email.trim())),
      };
      const page = await deps.listUsers(call.actor, filter, ngWindow(call.query));
      const locked = await deps.findLockedUsers(call.accountId, page.items);
      return ok(call, await ngPage(page, (user) => metadata(user, locked)));
    },
  }),
  route({
    method: "GET",
    path: `${PATH}/:userId`,
    operation: "user.get",
    access: { permission: "core_user_view" },
    query,
    doc: { summary: "Read a person", answer: shape, etag: true },
    handle: async (call) => whole(call, deps, await deps.getUser(call.actor, call.params["userId"] ?? "")),
  }),
];

const idOf = (call: Pick<Call, "params">): string => call.params["userId"] ?? "";

const changeRoutes = (deps: UserRoutesDeps): readonly Route[] => [
  route({
    method: "POST",
    path: `${PATH}/users`,
    operation: "user.add",
    access: { permission: "core_user_invite" },
    query,
    doc: {
      summary: "Create users from e-mail addresses",
      description:
        "Each address has its own result. No mail is sent: users sign in through the identity provider, or with a password that an administrator sets.",
      body: { schema: addBody, example: { emails: ["grace@example.com"], userGroups: [] } },
      answer: enveloped(z.strictObject({ addUserResponseMap: z.record(z.string(), outcome) })),
    },
    handle: async (call) => {
      const { emails, userGroups } = envelopeOf(call, addBody);
      return ok(call, { addUserResponseMap: await deps.addUsers(call.actor, emails, userGroups ?? []) });
    },
  }),
  ...(["deactivate", "reactivate"] as const).map((verb) =>
    route({
      method: "POST",
      path: `${PATH}/:userId/${verb}`,
      operation: `user.${verb}`,
      access: { permission: "core_user_manage" },
      query,
      doc: {
        summary:
          verb === "deactivate" ? "End a person's access, so that it can be given back" : "Let a person in again",
        answer: shape,
        etag: true,
        ifMatch: true,
      },
      handle: async (call) => whole(call, deps, await deps[verb](call.actor, idOf(call), ifMatch(call))),
    }),
  ),
  route({
    method: "DELETE",
    path: `${PATH}/:userId`,
    operation: "user.delete",
    access: { permission: "core_user_manage" },
    query,
    doc: { summary: "Remove a person from the account", answer: enveloped(z.literal(true)), ifMatch: true },
    handle: async (call) => {
      await deps.delete(call.actor, idOf(call), ifMatch(call));
      return ok(call, true);
    },
  }),
];

const REFUSED: readonly (readonly ["GET" | "POST" | "PUT" | "DELETE", path: string, name: string, Permission])[] = [
  ["GET", "", "list", "core_user_view"],
  ["POST", "", "create", "core_user_invite"],
  ["POST", "/aggregate", "aggregate", "core_user_view"],
  ["GET", "/invite", "get", "core_user_view"],
  ["PUT", "/:inviteId", "update", "core_user_invite"],
  ["DELETE", "/:inviteId", "delete", "core_user_invite"],
];

const refusedRoutes = ({ authorize }: Pick<UserRoutesDeps, "authorize">): readonly Route[] =>
  REFUSED.map(([method, path, name, permission]) =>
    route({
      method,
      path: `/ng/api/invites${path}`,
      operation: `invite.${name}`,
      access: { permission },
      query,
      doc: "refused",
      handle: async (call) => {
        authorize(call.actor, permission, { accountId: call.accountId });
        throw problem("identity.no_invitations");
      },
    }),
  );
