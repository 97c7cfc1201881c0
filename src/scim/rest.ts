/**
 * SCIM 2.0 over HTTP (RFC 7644), below both addresses that clients of this API family know. Its own discovery documents
 * describe it, so that api/openapi.json does not; `docs/api/scim.md` tells what is decided where the RFC leaves it open.
 */
import { z } from "zod";
import type { Authorize, Permission } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Answer, Call, PrivateRoute, Route } from "../platform/http/routes.ts";
import { route } from "../platform/http/routes.ts";
import { bodyOf, ifMatch, isKnown, json, MAX_BODY, notModified, speaking } from "./answers.ts";
import { readPatch } from "./document/patch.ts";
import { readResource } from "./document/read.ts";
import { etagOf, locationOf, selected, shown, type Selection } from "./document/show.ts";
import {
  askedIn,
  askedInBody,
  LIST_SCHEMA,
  listQuery,
  MAX_COUNT,
  selectionIn,
  selectionQuery,
  type Asked,
} from "./list.ts";
import type { Kept, Verbs } from "./people.ts";
import { problem } from "./problems.ts";
import type { ResourceType } from "./schema/attribute.ts";
import { resourceTypes, schemas, serviceProviderConfig } from "./schema/discovery.ts";
import { GROUP, USER } from "./schema/resources.ts";

export type ScimRoutesDeps = {
  readonly authorize: Authorize;
  readonly people: Verbs;
  readonly groups: Verbs;
  /** Who a bearer is, in the account of the path: tokens, and JSON web tokens besides. */
  readonly authenticate: (token: string, account: string) => Promise<Actor | undefined>;
  readonly publicUrl: () => string;
};

/** The newer address, and that of the first generation. */
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
  readonly handle: (call: Call<z.output<Q>>) => Promise<Answer>;
};

const nothing = z.object({});

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
    authenticate: deps.authenticate,
    doc: "elsewhere",
    handle: speaking(handle),
  });

/** Where resources live. Served with `/gateway` before it as well; addresses in answers do without. */
const baseOf = ({ deps, path }: Base, { params }: Pick<Call, "params">): string =>
  `${deps.publicUrl()}${path.replace(":accountId", params["accountId"] ?? "")}`;

type Three = readonly [view: Permission, create: Permission, manage: Permission];

function resourceRoutes(base: Base, type: ResourceType, verbs: Verbs, [view, create, manage]: Three): readonly Route[] {
  const noun = type.name.toLowerCase();
  const [all, one] = [type.endpoint, `${type.endpoint}/:id`];
  const idOf = ({ params }: Pick<Call, "params">): string => params["id"] ?? "";
  const resource = (call: Pick<Call, "params">, { resource: kept, ...facts }: Kept, selection: Selection): unknown =>
    selected(type, shown(type, kept, { ...facts, base: baseOf(base, call) }), selection);
  const answer = (call: Call<z.output<typeof selectionQuery>>, kept: Kept, status = 200): Answer =>
    json(status, resource(call, kept, selectionIn(call.query)), {
      etag: etagOf(kept.version),
      ...(status === 201 ? { location: locationOf(type, { base: baseOf(base, call), id: kept.id }) } : {}),
    });
  const list = async (
    call: Pick<Call, "params" | "actor">,
    { search, selection, startIndex }: Asked,
  ): Promise<Answer> => {
    const { items, total } = await verbs.search(call.actor, search);
    return json(200, {
      schemas: [LIST_SCHEMA],
      totalResults: total,
      startIndex,
      itemsPerPage: items.length,
      Resources: items.map((kept) => resource(call, kept, selection)),
    });
  };
  // A selection that cannot be is refused before anything is done.
  const checked = (call: Call<z.output<typeof selectionQuery>>): void => void selectionIn(call.query);
  return [
    routeOf(base, {
      ...{ method: "POST", path: all, name: `${noun}.create`, permission: create, query: selectionQuery },
      handle: async (call) => {
        checked(call);
        verbs.check(call.actor, create);
        return answer(call, await verbs.create(call.actor, readResource(type, bodyOf(call.body))), 201);
      },
    }),
    routeOf(base, {
      ...{ method: "GET", path: all, name: `${noun}.list`, permission: view, query: listQuery },
      handle: async (call) => {
        verbs.check(call.actor, view);
        return list(call, askedIn(call.query));
      },
    }),
    routeOf(base, {
      ...{ method: "POST", path: `${all}/.search`, name: `${noun}.search`, permission: view, query: nothing },
      handle: async (call) => {
        verbs.check(call.actor, view);
        return list(call, askedInBody(bodyOf(call.body)));
      },
    }),
    routeOf(base, {
      ...{ method: "GET", path: one, name: `${noun}.get`, permission: view, query: selectionQuery },
      handle: async (call) => {
        const kept = await verbs.get(call.actor, idOf(call));
        return isKnown(call, kept.version) ? notModified(kept.version) : answer(call, kept);
      },
    }),
    routeOf(base, {
      ...{ method: "PUT", path: one, name: `${noun}.replace`, permission: manage, query: selectionQuery },
      handle: async (call) => {
        checked(call);
        verbs.check(call.actor, manage);
        const given = readResource(type, bodyOf(call.body));
        return answer(call, await verbs.replace(call.actor, idOf(call), given, ifMatch(call)));
      },
    }),
    routeOf(base, {
      ...{ method: "PATCH", path: one, name: `${noun}.patch`, permission: manage, query: selectionQuery },
      handle: async (call) => {
        checked(call);
        verbs.check(call.actor, manage);
        return answer(call, await verbs.patch(call.actor, idOf(call), readPatch(bodyOf(call.body)), ifMatch(call)));
      },
    }),
    routeOf(base, {
      ...{ method: "DELETE", path: one, name: `${noun}.delete`, permission: manage, query: nothing },
      handle: async (call) => {
        await verbs.remove(call.actor, idOf(call), ifMatch(call));
        return { kind: "empty", status: 204 };
      },
    }),
  ];
}

/** Whoever may look at people may ask what there is to speak about. */
function discoveryRoutes(base: Base): readonly Route[] {
  const permission = "core_user_view";
  const may = ({ actor, accountId }: Call): void => base.deps.authorize(actor, permission, { accountId });
  const listed = (items: readonly unknown[]): Answer =>
    json(200, {
      schemas: [LIST_SCHEMA],
      totalResults: items.length,
      startIndex: 1,
      itemsPerPage: items.length,
      Resources: items,
    });
  const several = (path: string, name: string, of: (base: string) => readonly { readonly id: string }[]): Route[] => [
    routeOf(base, {
      ...{ method: "GET", path, name: `${name}.list`, permission, query: nothing },
      handle: async (call) => {
        may(call);
        return listed(of(baseOf(base, call)));
      },
    }),
    routeOf(base, {
      ...{ method: "GET", path: `${path}/:id`, name: `${name}.get`, permission, query: nothing },
      handle: async (call) => {
        may(call);
        const asked = call.params["id"] ?? "";
        const found = of(baseOf(base, call)).find(({ id }) => id.toLowerCase() === asked.toLowerCase());
        if (!found) throw problem("scim.no_resource", ["document", asked.slice(0, 128)]);
        return json(200, found);
      },
    }),
  ];
  return [
    routeOf(base, {
      ...{ method: "GET", path: "/ServiceProviderConfig", name: "config.get", permission, query: nothing },
      handle: async (call) => {
        may(call);
        return json(200, serviceProviderConfig(baseOf(base, call), MAX_COUNT));
      },
    }),
    ...several("/ResourceTypes", "resource-type", resourceTypes),
    ...several("/Schemas", "schema", schemas),
  ];
}

/** What the RFC lets a server leave out, by its name (sections 3.7 and 3.11). */
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
      ...{ method, path, name: `${name}.refused`, permission, query: nothing },
      handle: async ({ actor, accountId }) => {
        base.deps.authorize(actor, permission, { accountId });
        throw problem("scim.not_built", [what]);
      },
    }),
  );
