/** Users and groups over SCIM (RFC 7644 section 3). */
import { z } from "zod";
import type { Permission } from "../../access/index.ts";
import type { Answer, Call, Route } from "../../platform/http/routes.ts";
import { bodyOf, checkIfNoneMatch, json, matchesIfNoneMatch, notModified, versionOfIfMatch } from "../answers.ts";
import { resourceDocs, type ResourceDocs } from "../docs.ts";
import { readPatch } from "../document/patch-operations.ts";
import { readResource } from "../document/read.ts";
import { etagOf, locationOf, selected, shown, type Selection } from "../document/show.ts";
import {
  listQuery,
  listRequestOf,
  listRequestOfBody,
  LIST_SCHEMA,
  selectionIn,
  selectionQuery,
  type ListRequest,
} from "../list.ts";
import type { Operations, StoredResource } from "../people.ts";
import type { ResourceType } from "../schema/attribute.ts";
import { baseOf, routeOf, type Base } from "./base.ts";

const noQuery = z.object({});

/** One type of resource below one of the base paths, with the permissions that its requests need. */
type Resource = {
  readonly base: Base;
  readonly type: ResourceType;
  readonly operations: Operations;
  readonly permissions: { readonly view: Permission; readonly create: Permission; readonly manage: Permission };
};

export const resourceRoutes = (resource: Resource): readonly Route[] => [
  createRoute(resource),
  ...readRoutes(resource),
  ...changeRoutes(resource),
];

function createRoute(resource: Resource): Route {
  const { base, type, operations, permissions } = resource;
  const describe = describeRoutes(resource);
  const { answer } = createAnswers(resource);
  return routeOf(base, {
    ...describe("create"),
    method: "POST",
    path: type.endpoint,
    permission: permissions.create,
    query: selectionQuery,
    handle: async (call) => {
      checkSelection(call);
      operations.check(call.actor, permissions.create);
      return answer(call, await operations.create(call.actor, readResource(type, bodyOf(call.body))), 201);
    },
  });
}

function readRoutes(resource: Resource): readonly Route[] {
  const { base, type, operations, permissions } = resource;
  const describe = describeRoutes(resource);
  const { answer, answerList } = createAnswers(resource);
  return [
    routeOf(base, {
      ...describe("list"),
      method: "GET",
      path: type.endpoint,
      permission: permissions.view,
      query: listQuery,
      handle: async (call) => {
        operations.check(call.actor, permissions.view);
        return answerList(call, listRequestOf(call.query));
      },
    }),
    routeOf(base, {
      ...describe("search"),
      method: "POST",
      path: `${type.endpoint}/.search`,
      permission: permissions.view,
      query: noQuery,
      handle: async (call) => {
        operations.check(call.actor, permissions.view);
        return answerList(call, listRequestOfBody(bodyOf(call.body)));
      },
    }),
    routeOf(base, {
      ...describe("get"),
      method: "GET",
      path: `${type.endpoint}/:id`,
      permission: permissions.view,
      query: selectionQuery,
      handle: async (call) => {
        const stored = await operations.get(call.actor, idOf(call));
        return matchesIfNoneMatch(call, stored.version) ? notModified(stored.version) : answer(call, stored);
      },
    }),
  ];
}

function changeRoutes(resource: Resource): readonly Route[] {
  const { base, type, operations, permissions } = resource;
  const describe = describeRoutes(resource);
  const { answer } = createAnswers(resource);
  return [
    routeOf(base, {
      ...describe("replace"),
      method: "PUT",
      path: `${type.endpoint}/:id`,
      permission: permissions.manage,
      query: selectionQuery,
      handle: async (call) => {
        checkSelection(call);
        operations.check(call.actor, permissions.manage);
        const given = readResource(type, bodyOf(call.body));
        const version = await requiredVersion(operations, call);
        return answer(call, await operations.replace(call.actor, { id: idOf(call), version }, given));
      },
    }),
    routeOf(base, {
      ...describe("patch"),
      method: "PATCH",
      path: `${type.endpoint}/:id`,
      permission: permissions.manage,
      query: selectionQuery,
      handle: async (call) => {
        checkSelection(call);
        operations.check(call.actor, permissions.manage);
        const changes = readPatch(bodyOf(call.body));
        const version = await requiredVersion(operations, call);
        return answer(call, await operations.patch(call.actor, { id: idOf(call), version }, changes));
      },
    }),
    routeOf(base, {
      ...describe("delete"),
      method: "DELETE",
      path: `${type.endpoint}/:id`,
      permission: permissions.manage,
      query: noQuery,
      handle: async (call) => {
        const version = await requiredVersion(operations, call);
        await operations.remove(call.actor, { id: idOf(call), version });
        return { kind: "empty", status: 204 };
      },
    }),
  ];
}

/** Returns the name and the documentation of a route. */
function describeRoutes({ base, type }: Pick<Resource, "base" | "type">) {
  const docs = resourceDocs(type, base.noun);
  return (verb: keyof ResourceDocs) => ({ name: `${type.name.toLowerCase()}.${verb}`, doc: docs[verb] });
}

type SelectionCall = Call<z.output<typeof selectionQuery>>;

/** The responses of one resource and of a list. */
function createAnswers({ base, type, operations }: Omit<Resource, "permissions">) {
  const show = (
    call: Pick<Call, "params">,
    { resource: stored, ...facts }: StoredResource,
    selection: Selection,
  ): unknown => selected(type, shown(type, stored, { ...facts, base: baseOf(base, call) }), selection);
  const answer = (call: SelectionCall, stored: StoredResource, status = 200): Answer =>
    json(status, show(call, stored, selectionIn(call.query)), {
      etag: etagOf(stored.version),
      ...(status === 201 ? { location: locationOf(type, { base: baseOf(base, call), id: stored.id }) } : {}),
    });
  const answerList = async (
    call: Pick<Call, "params" | "actor">,
    { search, selection, startIndex }: ListRequest,
  ): Promise<Answer> => {
    const { items, total } = await operations.search(call.actor, search);
    return json(200, {
      schemas: [LIST_SCHEMA],
      totalResults: total,
      startIndex,
      itemsPerPage: items.length,
      Resources: items.map((stored) => show(call, stored, selection)),
    });
  };
  return { answer, answerList };
}

const idOf = ({ params }: Pick<Call, "params">): string => params["id"] ?? "";

/** Refuses an invalid selection before the operation runs. */
const checkSelection = (call: SelectionCall): void => void selectionIn(call.query);

/** The version that a change requires. Throws `scim.stale_version`, `scim.is_there`. */
async function requiredVersion({ versionOf }: Pick<Operations, "versionOf">, call: Call): Promise<number | undefined> {
  const now = (): Promise<number> => versionOf(call.actor, idOf(call));
  await checkIfNoneMatch(call, now);
  return versionOfIfMatch(call, now);
}
