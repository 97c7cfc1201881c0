import { z } from "zod";
import { fromWire, type Uuid } from "../../core/ids.ts";
import { ok } from "../../platform/http/response/answers.ts";
import { envelopeOf } from "../../platform/http/request/bodies.ts";
import { ngPage, ngPageShape, ngWindow, sortedPageQuery } from "../../platform/http/response/pages.ts";
import { maybeProjectQuery, maybeText } from "../../platform/http/request/queries.ts";
import { LARGE_BODY, route, type Answer, type Call, type Route } from "../../platform/http/routes.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import { keyOf, placeIn, placeOf, type ScopedQuery } from "../places.ts";
import { problem } from "../problems.ts";
import type { UserGroups } from "./index.ts";
import type { Member, UserGroup } from "./user-group.ts";
import * as wire from "./wire.ts";

const PATH = "/ng/api/user-groups";
const viewAccess = { permission: "core_usergroup_view" };
const manageAccess = { permission: "core_usergroup_manage" };
const pages = maybeProjectQuery.extend(sortedPageQuery(50).shape).extend({ searchTerm: maybeText("searchTerm") });
const membersPage = sortedPageQuery(50, ["name", "email"]).extend({ searchTerm: maybeText("searchTerm") });

type Body = wire.GroupBody | wire.GroupBodyV2;
/** The shape of members in one version of the API. */
type Version = {
  readonly path: string;
  readonly operation: string;
  readonly example: string;
  readonly body: z.ZodType<Body>;
  readonly people: (
    operations: UserGroups,
    accountId: Uuid,
    users: Body["users"],
  ) => Promise<readonly Uuid[] | undefined>;
  readonly response: (accountId: Uuid, group: UserGroup, members: readonly Member[]) => unknown;
  readonly shape: z.ZodType;
};

const first: Version = {
  path: PATH,
  operation: "user-group",
  example: "developers",
  body: wire.groupBody,
  people: async (_verbs, _accountId, users) => (users ?? undefined) as readonly Uuid[] | undefined,
  response: wire.groupResponse,
  shape: wire.groupShape,
};
const second: Version = {
  path: "/ng/api/v2/user-groups",
  operation: "user-group-v2",
  example: "testers",
  body: wire.groupBodyV2,
  people: async (operations, accountId, users) =>
    users ? operations.peopleByEmail(accountId, users as readonly string[]) : undefined,
  response: wire.groupResponseV2,
  shape: wire.groupShapeV2,
};

export const userGroupRoutes = (operations: UserGroups): readonly Route[] => [
  ...versionRoutes(first, operations),
  ...versionRoutes(second, operations),
  batchRoute(operations),
  ...memberRoutes(operations),
];

/** The current group with its members. */
async function answer(call: Call, operations: UserGroups, { response }: Version, group: UserGroup): Promise<Answer> {
  const members = await operations.membersOf(call.actor, [group]);
  return ok(call, response(call.accountId, group, members.get(group.id) ?? []));
}

function versionRoutes(version: Version, operations: UserGroups): readonly Route[] {
  const { path, operation, body: schema } = version;
  const example = { identifier: version.example, name: version.example, description: "Deploys to staging" };
  const shape = enveloped(version.shape);
  const read = (call: Call<ScopedQuery>) => {
    const body = envelopeOf(call, schema);
    const place = placeIn(call, body);
    // Before the lookup of users: only an administrator of groups may learn whether a user exists.
    operations.checkManage(call.actor, { ...place, identifier: body.identifier });
    return { body, place };
  };
  return [
    route({
      method: "POST",
      path,
      operation: `${operation}.create`,
      access: manageAccess,
      query: maybeProjectQuery,
      maxBody: LARGE_BODY,
      doc: { summary: "Create a user group", body: { schema, example }, answer: shape },
      handle: async (call) => {
        const { body, place } = read(call);
        const { identifier, name, description, tags } = body;
        const members = (await version.people(operations, call.accountId, body.users)) ?? [];
        const group = await operations.create(
          call.actor,
          { ...place, identifier, name, description, tags },
          { members },
        );
        return answer(call, operations, version, group);
      },
    }),
    route({
      method: "PUT",
      path,
      operation: `${operation}.update`,
      access: manageAccess,
      query: maybeProjectQuery,
      maxBody: LARGE_BODY,
      doc: {
        summary: "Replace the user group that the body names, and its members if the body has users",
        body: { schema, example: { ...example, description: "Deploys to production" } },
        answer: shape,
      },
      handle: async (call) => {
        const { body, place } = read(call);
        const { identifier, name, description, tags } = body;
        const users = await version.people(operations, call.accountId, body.users);
        const change = { name, description, tags, ...(users ? { members: { replace: users } } : {}) };
        return answer(call, operations, version, await operations.update(call.actor, { ...place, identifier }, change));
      },
    }),
    ...readRoutes(version, operations),
  ];
}

function readRoutes(version: Version, operations: UserGroups): readonly Route[] {
  const { path, operation } = version;
  const params = { identifier: version.example };
  return [
    route({
      method: "GET",
      path,
      operation: `${operation}.list`,
      access: viewAccess,
      query: pages,
      doc: {
        summary: "List the user groups of a scope by name, or as sortOrders says, the built-in one first",
        answer: enveloped(ngPageShape(version.shape)),
      },
      handle: async (call) => {
        const { searchTerm } = call.query;
        const found = await operations.list(call.actor, { ...placeOf(call.query), searchTerm }, ngWindow(call.query));
        const members = await operations.membersOf(call.actor, found.items);
        const response = (group: UserGroup) => version.response(call.accountId, group, members.get(group.id) ?? []);
        return ok(call, await ngPage(found, response));
      },
    }),
    route({
      method: "GET",
      path: `${path}/:identifier`,
      operation: `${operation}.get`,
      access: viewAccess,
      query: maybeProjectQuery,
      doc: { summary: "Read a user group", params, answer: enveloped(version.shape) },
      handle: async (call) => answer(call, operations, version, await operations.get(call.actor, keyOf(call))),
    }),
    route({
      method: "DELETE",
      path: `${path}/:identifier`,
      operation: `${operation}.delete`,
      access: manageAccess,
      query: maybeProjectQuery,
      doc: {
        summary: "Delete a user group with what is assigned to it; answers the group that was",
        params,
        answer: enveloped(version.shape),
      },
      handle: async (call) => {
        const group = await operations.delete(call.actor, keyOf(call));
        return ok(call, version.response(call.accountId, group, []));
      },
    }),
  ];
}

const batchRoute = (operations: UserGroups): Route =>
  route({
    method: "POST",
    path: `${PATH}/batch`,
    operation: "user-group.list-filtered",
    access: viewAccess,
    query: maybeProjectQuery,
    doc: {
      summary: "List the user groups of a scope that have one of the identifiers",
      body: { schema: wire.batchBody, example: { identifierFilter: ["developers"] } },
      answer: enveloped(z.array(wire.groupShape)),
    },
    handle: async (call) => {
      const body = envelopeOf(call, wire.batchBody);
      const place = placeIn(call, body);
      const filter = { ...place, identifiers: body.identifierFilter ?? null };
      const { items } = await operations.list(call.actor, filter, { limit: 1_000, offset: 0 });
      const members = await operations.membersOf(call.actor, items);
      return ok(
        call,
        items.map((group) => wire.groupResponse(call.accountId, group, members.get(group.id) ?? [])),
      );
    },
  });

function memberRoutes(operations: UserGroups): readonly Route[] {
  const path = `${PATH}/:identifier/member/:userIdentifier`;
  const params = { identifier: first.example };
  // Some responses report that a user does not exist or is no member (400).
  const mayBeAbsent = ["userIdentifier"];
  const personOf = (call: Call): Uuid => {
    const text = call.params["userIdentifier"] ?? "";
    const id = fromWire(text);
    if (!id) throw problem("access.no_person", [text.slice(0, 64)]);
    return id;
  };
  const changing = (method: "PUT" | "DELETE", change: "add" | "remove", summary: string): Route =>
    route({
      method,
      path,
      operation: `user-group.${change}-member`,
      access: manageAccess,
      query: maybeProjectQuery,
      doc: { summary, params, mayBeAbsent, answer: enveloped(wire.groupShape) },
      handle: async (call) => {
        // The permission first: a caller without it learns nothing else.
        const key = keyOf(call);
        operations.checkManage(call.actor, key);
        const group = await operations.update(call.actor, key, { members: { [change]: [personOf(call)] } });
        return answer(call, operations, first, group);
      },
    });
  return [
    changing("PUT", "add", "Put a user into a user group"),
    changing("DELETE", "remove", "Take a user out of a user group"),
    route({
      method: "GET",
      path,
      operation: "user-group.has-member",
      access: viewAccess,
      query: maybeProjectQuery,
      doc: { summary: "Whether a user is in a user group", params, mayBeAbsent, answer: enveloped(z.boolean()) },
      handle: async (call) => {
        const group = await operations.get(call.actor, keyOf(call));
        const members = (await operations.membersOf(call.actor, [group])).get(group.id) ?? [];
        const person = personOf(call);
        return ok(
          call,
          members.some(({ id }) => id === person),
        );
      },
    }),
    route({
      method: "POST",
      path: `${PATH}/:identifier/users`,
      operation: "user-group.list-members",
      access: viewAccess,
      query: maybeProjectQuery.extend(membersPage.shape),
      doc: {
        summary: "List the users of a user group by name, or as sortOrders says",
        params,
        answer: enveloped(ngPageShape(wire.memberShape)),
      },
      handle: async (call) => {
        const { searchTerm } = call.query;
        const found = await operations.listMembers(call.actor, keyOf(call), { ...ngWindow(call.query), searchTerm });
        return ok(call, await ngPage(found, wire.memberResponse));
      },
    }),
  ];
}
