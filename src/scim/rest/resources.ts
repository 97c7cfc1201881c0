/** Users and groups over SCIM (RFC 7644 section 3). */
import { z } from "zod";
import type { Permission } from "../../access/index.ts";
import type { Answer, Call, PrivateRoute, Route } from "../../platform/http/routes.ts";
import { bodyOf, checkIfNoneMatch, json, matchesIfNoneMatch, notModified, versionOfIfMatch } from "../answers.ts";
import { resourceDocs } from "../docs.ts";
import { readPatch } from "../document/patch.ts";
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

export function resourceRoutes(
  base: Base,
  type: ResourceType,
  operations: Operations,
  [view, create, manage]: Permissions,
): readonly Route[] {
  const noun = type.name.toLowerCase();
  const [all, one] = [type.endpoint, `${type.endpoint}/:id`];
  const docs = resourceDocs(type, base.noun);
  const at = (method: PrivateRoute["method"], path: string, verb: keyof typeof docs, permission: Permission) => ({
    method,
    path,
    name: `${noun}.${verb}`,
    permission,
    doc: docs[verb],
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
      query: noQuery,
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
      query: noQuery,
      handle: async (call) => {
        await operations.remove(call.actor, idOf(call), await requiredVersion(call));
        return { kind: "empty", status: 204 };
      },
    }),
  ];
}
