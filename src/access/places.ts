/** The scope of a request: in the query, in the body, or in both with the same value. */
import { toWire } from "../core/ids.ts";
import type { Page } from "../core/page.ts";
import { scopeOf, type Place } from "../core/reference.ts";
import type { Actor } from "../core/actor.ts";
import type { Call } from "../platform/http/routes.ts";
import type { Permission } from "./grants/permission.ts";
import { authorize, seen } from "./grants/permits.ts";
import { problem } from "./problems.ts";

/** Throws problems of the projects slice unless the scope exists. The projects slice provides it. */
export type RequireScope = (actor: Actor, place: Place) => Promise<void>;

export type ScopedQuery = {
  readonly orgIdentifier?: string | undefined;
  readonly projectIdentifier?: string | undefined;
};

/** The scope in the query; null for a level that it does not name. */
export const placeOf = ({ orgIdentifier, projectIdentifier }: ScopedQuery): Place => ({
  orgIdentifier: orgIdentifier ?? null,
  projectIdentifier: projectIdentifier ?? null,
});

export const keyOf = (call: Pick<Call<ScopedQuery>, "query" | "params">): Place & { readonly identifier: string } => ({
  ...placeOf(call.query),
  identifier: call.params["identifier"] ?? "",
});

type ScopeFields = {
  readonly accountIdentifier?: string | null | undefined;
  readonly orgIdentifier?: string | null | undefined;
  readonly projectIdentifier?: string | null | undefined;
};

/** Throws `access.other_scope` if body and query differ. */
export function placeIn(
  { query, accountId }: Pick<Call<ScopedQuery>, "query" | "accountId">,
  body: ScopeFields,
): Place {
  const account = body.accountIdentifier;
  if (account && account !== toWire(accountId))
    throw problem("access.other_scope", ["accountIdentifier", account, toWire(accountId)]);
  const of = (field: "orgIdentifier" | "projectIdentifier"): string | null => {
    const [here, there] = [body[field] ?? null, query[field] ?? null];
    if (here !== null && there !== null && here !== there) throw problem("access.other_scope", [field, here, there]);
    return here ?? there;
  };
  return { orgIdentifier: of("orgIdentifier"), projectIdentifier: of("projectIdentifier") };
}

/** The resources of the scope that the actor may view. Throws `access.not_permitted` if there can be none. */
export function requireSeen(actor: Actor, permission: Permission, place: Place): "all" | ReadonlySet<string> {
  const scope = scopeOf(actor.accountId, place);
  const visible = seen(actor, permission, scope);
  if (visible !== "all" && visible.size === 0) authorize(actor, permission, scope);
  return visible;
}

/** Throws `access.other_identifier` unless the document has the identifier of the path. */
export function requireSame(here: string, there: string | undefined): void {
  if (here !== there) throw problem("access.other_identifier", [here, there ?? ""]);
}

/** A page of a complete list. */
export const pageOf = <T>(
  all: readonly T[],
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Page<T> => ({ items: all.slice(offset, offset + limit), limit, offset, total: async () => all.length });
