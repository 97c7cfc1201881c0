/** What the SCIM routes of both base paths have in common. */
import type { z } from "zod";
import type { Authorize, Permission } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import {
  route,
  type Answer,
  type Call,
  type PrivateRoute,
  type Route,
  type RouteDoc,
} from "../../platform/http/routes.ts";
import { MAX_BODY, withScimProblems } from "../answers.ts";
import type { Operations } from "../people.ts";

export type ScimRoutesDeps = {
  readonly authorize: Authorize;
  readonly people: Operations;
  readonly groups: Operations;
  /** The actor of a bearer token in the account of the path: an API token or a JSON web token. */
  readonly authenticate: (token: string, account: string) => Promise<Actor | undefined>;
  readonly publicUrl: () => string;
};

/** One of the two paths. `noun` begins the names of its operations. */
export type Base = { readonly noun: string; readonly path: string; readonly deps: ScimRoutesDeps };
type Spec<Q extends z.ZodType> = {
  readonly method: PrivateRoute["method"];
  readonly path: string;
  readonly name: string;
  readonly permission: Permission;
  readonly query: Q;
  readonly doc: RouteDoc | "refused";
  readonly handle: (call: Call<z.output<Q>>) => Promise<Answer>;
};

export const routeOf = <Q extends z.ZodType>(
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
export const baseOf = ({ deps, path }: Base, { params }: Pick<Call, "params">): string =>
  `${deps.publicUrl()}${path.replace(":accountId", params["accountId"] ?? "")}`;
