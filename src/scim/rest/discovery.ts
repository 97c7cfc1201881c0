/** Discovery documents of SCIM (RFC 7644 section 4). */
import { z } from "zod";
import type { Answer, Call, Route } from "../../platform/http/routes.ts";
import { json } from "../answers.ts";
import { configDoc, discoveryDocs } from "../docs.ts";
import { LIST_SCHEMA, MAX_COUNT } from "../list.ts";
import { problem } from "../problems.ts";
import { resourceTypes, schemas, serviceProviderConfig } from "../schema/discovery.ts";
import { baseOf, routeOf, type Base } from "./base.ts";

/** Discovery documents cannot be filtered (RFC 7644 section 4). */
const unfiltered = z.object({ filter: z.string().optional().describe("Refused with 403.") });

/** For actors who may view users. */
export function discoveryRoutes(base: Base): readonly Route[] {
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
      method: "GET",
      path,
      name: `${name}.list`,
      permission,
      query: unfiltered,
      doc: discoveryDocs[name].list,
      handle: async (call) => {
        checkAccess(call);
        return listOf(of(baseOf(base, call)));
      },
    }),
    routeOf(base, {
      method: "GET",
      path: `${path}/:id`,
      name: `${name}.get`,
      permission,
      query: unfiltered,
      doc: discoveryDocs[name].get,
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
      method: "GET",
      path: "/ServiceProviderConfig",
      name: "config.get",
      permission,
      query: unfiltered,
      doc: configDoc,
      handle: async (call) => {
        checkAccess(call);
        return json(200, serviceProviderConfig(baseOf(base, call), MAX_COUNT));
      },
    }),
    ...listAndGet("/ResourceTypes", "resource-type", resourceTypes),
    ...listAndGet("/Schemas", "schema", schemas),
  ];
}
