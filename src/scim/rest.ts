/**
 * SCIM 2.0 over HTTP (RFC 7644), on both paths that clients of this API family know. `docs.ts` describes it for
 * api/openapi.json; `docs/api/scim.md` lists decisions where the RFC leaves a choice.
 */
import { z } from "zod";
import type { Authorize, Permission } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Answer, Call, PrivateRoute, Route, RouteDoc } from "../platform/http/routes.ts";
import { route } from "../platform/http/routes.ts";
import {
  bodyOf,
  versionOfIfMatch,
  matchesIfNoneMatch,
  json,
  MAX_BODY,
  notModified,
  withScimProblems,
  checkIfNoneMatch,
} from "./answers.ts";
import { configDoc, discoveryDocs, resourceDocs } from "./docs.ts";
import { readPatch } from "./document/patch.ts";
import { readResource } from "./document/read.ts";
import { etagOf, locationOf, selected, shown, type Selection } from "./document/show.ts";
import {
  listRequestOf,
  listRequestOfBody,
  LIST_SCHEMA,
  listQuery,
  MAX_COUNT,
  selectionIn,
  selectionQuery,
  type ListRequest,
} from "./list.ts";
import type { StoredResource, Operations } from "./people.ts";
import { problem } from "./problems.ts";
import type { ResourceType } from "./schema/attribute.ts";
import { resourceTypes, schemas, serviceProviderConfig } from "./schema/discovery.ts";
import { GROUP, USER } from "./schema/resources.ts";

export type ScimRoutesDeps = {
  readonly authorize: Authorize;
  readonly people: Operations;
  readonly groups: Operations;
  /** The actor of a bearer token in the account of the path: an API token or a JSON web token. */
  readonly authenticate: (token: string, account: string) => Promise<Actor | undefined>;
  readonly publicUrl: () => string;
};

/** The current base path, and that of the first generation. */
const BASES = [
  ["scim", "/ng/api/scim/account/:accountId"],
  ["scim-older", "/api/scim/account/:accountId"],
] as const;

type Base = { readonly noun: string; readonly path: string; readonly deps: ScimRoutesDeps };
type Spec<Q extends z.ZodType> = {
  readonly method: PrivateRoute["method"];
  readonly path: string;
  readonly name: string;
  readonly permission: Permission;
  readonly query: Q;
  readonly doc: RouteDoc | "refused";
  readonly handle: (call: Call<z.output<Q>>) => Promise<Answer>;
};

const nothing = z.object({});
/** Discovery documents cannot be filtered (RFC 7644 section 4). */
const unfiltered = z.object({ filter: z.string().optional().describe("Refused with 403.") });

export const scimRoutes = (deps: ScimRoutesDeps): readonly Route[] =>
  BASES.flatMap(([noun, path]) => {
    const base = { noun, path, deps };
    return [
      ...resourceRoutes(base, USER, deps.people, ["core_user_view", "core_user_invite", "core_user_manage"]),
      ...resourceRoutes(base, GROUP, deps.groups, [
        "core_usergroup_view",
        "core_usergroup_manage",
        "core_usergroup_manage",
      ]),
      ...discoveryRoutes(base),
      ...refusedRoutes(base),
    ];
  });

const routeOf = <Q extends z.ZodType>(
  { noun, path, deps }: Base,
  { name, permission, handle, ...spec }: Spec<Q>,
): Route =>
  route({
    ...spec,
    path: path + spec.path,
    operation: `${noun}-${name}`,
    access: { permission },
    account: "path",
    errors: "scim",
    maxBody: MAX_BODY,
    trailingSlash: true,
    authenticate: deps.authenticate,
    handle: withScimProblems(handle),
  });

/** The base path of resources. Routes also exist below `/gateway`; addresses in responses omit it. */
const baseOf = ({ deps, path }: Base, { params }: Pick<Call, "params">): string =>
  `${deps.publicUrl()}${path.replace(":accountId", params["accountId"] ?? "")}`;

type Permissions = readonly [view: Permission, create: Permission, manage: Permission];

/** The responses of one resource and of a list. */
function answersOf(base: Base, type: ResourceType, operations: Pick<Operations, "search">) {
  const resource = (
    call: Pick<Call, "params">,
    { resource: stored, ...facts }: StoredResource,
    selection: Selection,
  ): unknown => selected(type, shown(type, stored, { ...facts, base: baseOf(base, call) }), selection);
  const answer = (call: Call<z.output<typeof selectionQuery>>, stored: StoredResource, status = 200): Answer =>
    json(status, resource(call, stored, selectionIn(call.query)), {
      etag: etagOf(stored.version),
      ...(status === 201 ? { location: locationOf(type, { base: baseOf(base, call), id: stored.id }) } : {}),
    });
  const list = async (
    call: Pick<Call, "params" | "actor">,
    { search, selection, startIndex }: ListRequest,
  ): Promise<Answer> => {
    const { items, total } = await operations.search(call.actor, search);
    return json(200, {
      schemas: [LIST_SCHEMA],
      totalResults: total,
      startIndex,
      itemsPerPage: items.length,
      Resources: items.map((stored) => resource(call, stored, selection)),
    });
  };
  return { answer, list };
}

function resourceRoutes(
  base: Base,
  type: ResourceType,
  operations: Operations,
  [view, create, manage]: Permissions,
): readonly Route[] {
  const noun = type.name.toLowerCase();
  const [all, one] = [type.endpoint, `${type.endpoint}/:id`];
  const docs = resourceDocs(type, base.noun);
  const at = (method: PrivateRoute["method"], path: string, verb: keyof typeof docs, permission: Permission) => ({
    ...{ method, path, name: `${noun}.${verb}`, permission, doc: docs[verb] },
  });
  const idOf = ({ params }: Pick<Call, "params">): string => params["id"] ?? "";
  const { answer, list } = answersOf(base, type, operations);
  // An invalid selection is refused before the operation runs.
  const checkSelection = (call: Call<z.output<typeof selectionQuery>>): void => void selectionIn(call.query);
  /** The version that a change requires. Throws `scim.stale_version`, `scim.is_there`. */
  const requiredVersion = async (call: Call): Promise<number | undefined> => {
    const now = (): Promise<number> => operations.versionOf(call.actor, idOf(call));
    await checkIfNoneMatch(call, now);
    return versionOfIfMatch(call, now);
  };
  return [
    routeOf(base, {
      ...at("POST", all, "create", create),
      query: selectionQuery,
      handle: async (call) => {
        checkSelection(call);
        operations.check(call.actor, create);
        return answer(call, await operations.create(call.actor, readResource(type, bodyOf(call.body))), 201);
      },
    }),
    routeOf(base, {
      ...at("GET", all, "list", view),
      query: listQuery,
      handle: async (call) => {
        operations.check(call.actor, view);
        return list(call, listRequestOf(call.query));
      },
    }),
    routeOf(base, {
      ...at("POST", `${all}/.search`, "search", view),
      query: nothing,
      handle: async (call) => {
        operations.check(call.actor, view);
        return list(call, listRequestOfBody(bodyOf(call.body)));
      },
    }),
    routeOf(base, {
      ...at("GET", one, "get", view),
      query: selectionQuery,
      handle: async (call) => {
        const stored = await operations.get(call.actor, idOf(call));
        return matchesIfNoneMatch(call, stored.version) ? notModified(stored.version) : answer(call, stored);
      },
    }),
    routeOf(base, {
      ...at("PUT", one, "replace", manage),
      query: selectionQuery,
      handle: async (call) => {
        checkSelection(call);
        operations.check(call.actor, manage);
        const given = readResource(type, bodyOf(call.body));
        return answer(call, await operations.replace(call.actor, idOf(call), given, await requiredVersion(call)));
      },
    }),
    routeOf(base, {
      ...at("PATCH", one, "patch", manage),
      query: selectionQuery,
      handle: async (call) => {
        checkSelection(call);
        operations.check(call.actor, manage);
        const changes = readPatch(bodyOf(call.body));
        return answer(call, await operations.patch(call.actor, idOf(call), changes, await requiredVersion(call)));
      },
    }),
    routeOf(base, {
      ...at("DELETE", one, "delete", manage),
      query: nothing,
      handle: async (call) => {
        await operations.remove(call.actor, idOf(call), await requiredVersion(call));
        return { kind: "empty", status: 204 };
      },
    }),
  ];
}

/** Discovery documents, for actors who may view users. */
function discoveryRoutes(base: Base): readonly Route[] {
  const permission = "core_user_view";
  const checkAccess = ({ actor, accountId, query }: Call<z.output<typeof unfiltered>>): void => {
    base.deps.authorize(actor, permission, { accountId });
    if (query.filter !== undefined) throw problem("scim.no_filter");
  };
  const listOf = (items: readonly unknown[]): Answer =>
    json(200, {
      schemas: [LIST_SCHEMA],
      totalResults: items.length,
      startIndex: 1,
      itemsPerPage: items.length,
      Resources: items,
    });
  const listAndGet = (
    path: string,
    name: keyof typeof discoveryDocs,
    of: (base: string) => readonly { readonly id: string }[],
  ): Route[] => [
    routeOf(base, {
      ...{ method: "GET", path, name: `${name}.list`, permission, query: unfiltered, doc: discoveryDocs[name].list },
      handle: async (call) => {
        checkAccess(call);
        return listOf(of(baseOf(base, call)));
      },
    }),
    routeOf(base, {
      ...{
        method: "GET",
        path: `${path}/:id`,
        name: `${name}.get`,
        permission,
        query: unfiltered,
        doc: discoveryDocs[name].get,
      },
      handle: async (call) => {
        checkAccess(call);
        const id = call.params["id"] ?? "";
        const found = of(baseOf(base, call)).find((item) => item.id.toLowerCase() === id.toLowerCase());
        if (!found) throw problem("scim.no_resource", ["document", id.slice(0, 128)]);
        return json(200, found);
      },
    }),
  ];
  return [
    routeOf(base, {
      ...{
        method: "GET",
        path: "/ServiceProviderConfig",
        name: "config.get",
        permission,
        query: unfiltered,
        doc: configDoc,
      },
      handle: async (call) => {
        checkAccess(call);
        return json(200, serviceProviderConfig(baseOf(base, call), MAX_COUNT));
      },
    }),
    ...listAndGet("/ResourceTypes", "resource-type", resourceTypes),
    ...listAndGet("/Schemas", "schema", schemas),
  ];
}

/** Optional features of the RFC that are not supported (sections 3.7 and 3.11). */
const REFUSED = [
  ["POST", "/Bulk", "bulk", "core_user_manage", "Bulk"],
  ["POST", "/.search", "search-all", "core_user_view", "Searching all types at once"],
  ["GET", "/Me", "me-get", "core_user_view", "/Me"],
  ["POST", "/Me", "me-create", "core_user_invite", "/Me"],
  ["PUT", "/Me", "me-replace", "core_user_manage", "/Me"],
  ["PATCH", "/Me", "me-patch", "core_user_manage", "/Me"],
  ["DELETE", "/Me", "me-delete", "core_user_manage", "/Me"],
] as const;

const refusedRoutes = (base: Base): readonly Route[] =>
  REFUSED.map(([method, path, name, permission, what]) =>
    routeOf(base, {
      ...{ method, path, name: `${name}.refused`, permission, query: nothing, doc: "refused" },
      handle: async ({ actor, accountId }) => {
        base.deps.authorize(actor, permission, { accountId });
        throw problem("scim.not_built", [what]);
      },
    }),
  );
