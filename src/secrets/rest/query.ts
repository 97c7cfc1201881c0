/** The place of a secret in the query of a REST request. A body must name the same place. */
import { z } from "zod";
import type { Place } from "../../core/reference.ts";
import { maybeProjectQuery } from "../../platform/http/request/queries.ts";
import type { Call } from "../../platform/http/routes.ts";
import type { ManagerName } from "../managers/manager.ts";
import { problem } from "../problems.ts";
import type { SecretKey } from "../secret.ts";

export type ScopedCall = Call<{
  readonly orgIdentifier?: string | undefined;
  readonly projectIdentifier?: string | undefined;
}>;

export const writeQuery = maybeProjectQuery.extend({
  privateSecret: z.enum(["false"], { error: "may only be false" }).optional(),
});

export const placeOf = ({ query }: Pick<ScopedCall, "query">): Place => ({
  orgIdentifier: query.orgIdentifier ?? null,
  projectIdentifier: query.projectIdentifier ?? null,
});
export const keyOf = (call: ScopedCall): SecretKey => ({
  ...placeOf(call),
  identifier: call.params["identifier"] ?? "",
});

/** Returns the body with the place of the query. Throws `secret.other_scope` if the body names another one. */
export function inScope<
  Body extends { orgIdentifier?: string | null | undefined; projectIdentifier?: string | null | undefined },
>(call: ScopedCall, body: Body): Body & Place {
  const place = placeOf(call);
  for (const field of ["orgIdentifier", "projectIdentifier"] as const) {
    const inBody = body[field] ?? null;
    if (inBody !== null && inBody !== place[field])
      throw problem("secret.other_scope", [field, inBody, place[field] ?? "none"]);
  }
  return { ...body, ...place };
}

export const managerIn = (identifier: string | undefined): ManagerName | undefined =>
  identifier === undefined ? undefined : { by: "identifier", identifier };
