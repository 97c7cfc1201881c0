/** Users with their roles in a scope: `/ng/api/user/aggregate`. */
import { z } from "zod";
import { placeOf } from "../../../access/index.ts";
import type { Uuid } from "../../../core/ids.ts";
import { ok } from "../../../platform/http/response/answers.ts";
import { envelopeOf } from "../../../platform/http/request/bodies.ts";
import { ngPage, ngPageShape, ngWindow, sortedPageQuery } from "../../../platform/http/response/pages.ts";
import { maybeProjectQuery, maybeText } from "../../../platform/http/request/queries.ts";
import { route, type Route } from "../../../platform/http/routes.ts";
import { enveloped } from "../../../platform/http/response/shapes.ts";
import type { UserAggregates, UserWithRoles } from "../aggregate.ts";
import type { FindLockedUsers } from "../find.ts";
import { metadata, metadataShape } from "../wire.ts";

const PATH = "/ng/api/user/aggregate";
const VIEW = { permission: "core_user_view" };

const identifiers = z.array(z.string().max(128)).max(1_000).nullish();
const filterBody = z.strictObject({ resourceGroupIdentifiers: identifiers, roleIdentifiers: identifiers });

const shape = z.strictObject({
  user: metadataShape,
  roleAssignmentMetadata: z.array(
    z.strictObject({
      identifier: z.string(),
      roleIdentifier: z.string(),
      roleName: z.string(),
      resourceGroupIdentifier: z.string(),
      resourceGroupName: z.string(),
      managedRole: z.boolean(),
      managedRoleAssignment: z.literal(false),
    }),
  ),
});

const response = ({ user, roles }: UserWithRoles, locked: ReadonlySet<Uuid>): z.output<typeof shape> => ({
  user: metadata(user, locked),
  roleAssignmentMetadata: roles.map((role) => ({
    identifier: role.identifier,
    roleIdentifier: role.roleIdentifier,
    roleName: role.roleName,
    resourceGroupIdentifier: role.resourceGroupIdentifier,
    resourceGroupName: role.resourceGroupName,
    managedRole: role.isBuiltIn,
    managedRoleAssignment: false,
  })),
});

/** An empty list does not filter, as an omitted one. */
const some = (list: readonly string[] | null | undefined): readonly string[] | undefined =>
  list && list.length > 0 ? list : undefined;

export const aggregateRoutes = (aggregates: UserAggregates, findLockedUsers: FindLockedUsers): readonly Route[] => [
  route({
    method: "POST",
    path: PATH,
    operation: "user.aggregates",
    access: VIEW,
    query: sortedPageQuery(50, ["name", "email", "createdAt", "lastModifiedAt"]).extend({
      ...maybeProjectQuery.shape,
      searchTerm: maybeText("searchTerm"),
    }),
    doc: {
      summary: "List the people of a scope with the roles that they are assigned there",
      description:
        "In the account everybody; in an organization or a project those who are assigned a role there or belong to a user group that lives there. The body narrows the list to people with one of the roles, over one of the resource groups. Roles are shown to callers who may see them.",
      body: { schema: filterBody, required: false, example: { roleIdentifiers: ["_account_admin"] } },
      answer: enveloped(ngPageShape(shape)),
    },
    handle: async (call) => {
      const body = call.body.bytes.length === 0 ? {} : envelopeOf(call, filterBody);
      const filter = {
        searchTerm: call.query.searchTerm,
        roles: some(body.roleIdentifiers),
        resourceGroups: some(body.resourceGroupIdentifiers),
      };
      const page = await aggregates.list(call.actor, placeOf(call.query), {
        filter,
        window: ngWindow(call.query),
      });
      const locked = await findLockedUsers(
        call.accountId,
        page.items.map(({ user }) => user),
      );
      return ok(call, await ngPage(page, (one) => response(one, locked)));
    },
  }),
  route({
    method: "GET",
    path: `${PATH}/:userId`,
    operation: "user.aggregate",
    access: VIEW,
    query: maybeProjectQuery,
    doc: {
      summary: "Read a person of a scope with the roles that they are assigned there",
      answer: enveloped(shape),
    },
    handle: async (call) => {
      const found = await aggregates.get(call.actor, placeOf(call.query), call.params["userId"] ?? "");
      return ok(call, response(found, await findLockedUsers(call.accountId, [found.user])));
    },
  }),
];
