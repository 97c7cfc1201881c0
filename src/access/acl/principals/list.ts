import type { Actor } from "../../../core/actor.ts";
import { scopeOf, type Place } from "../../../core/reference.ts";
import type { Page, Window } from "../../../core/page.ts";
import type { Db } from "../../../platform/db/db.ts";
import { levelOf, type PermissionFacts, type ScopeLevel } from "../../grants/permission.ts";
import { authorize, permits } from "../../grants/permits.ts";
import type { RequireScope } from "../../places.ts";
import { problem } from "../../problems.ts";
import {
  countPrincipals,
  findCombinations,
  selectPrincipals,
  type Combination,
  type PrincipalRow,
} from "../../store/principals.ts";
import { allUsersOf } from "../../user-groups/user-group.ts";
import { askedPermissions, compileEach, extentOf, placesAround, type Extent } from "./extent.ts";

type Deps = { readonly db: Db; readonly requireScope: RequireScope };

export type PrincipalsRequest = {
  readonly permission: string | undefined;
  readonly resourceType: string | undefined;
  readonly resourceIdentifier: string | undefined;
  readonly types: readonly string[] | undefined;
  readonly searchTerm: string | undefined;
};

export type PermissionExtent = Pick<PermissionFacts, "identifier" | "resourceType"> & { readonly isOnAll: boolean };

/** A principal with the permissions that its assignments give it here. Members of groups are not listed. */
export type ListedPrincipal = Omit<PrincipalRow, "combinations" | "first"> & {
  readonly permissions: readonly PermissionExtent[];
  readonly first: readonly { readonly identifier: string; readonly combination: Combination }[];
};

/** `hidden`: the levels whose assignments may count here and that the actor may not see. */
export type ListedPrincipals = { readonly hidden: readonly ScopeLevel[]; readonly page: Page<ListedPrincipal> };

/**
 * Lists the principals to which a role is assigned in a scope, or around it with effect in it. Throws
 * `access.not_permitted`, `access.no_type` for a resource without a type, what RequireScope and askedPermissions throw.
 */
export const listPrincipals =
  ({ db, requireScope }: Deps) =>
  async (
    actor: Actor,
    place: Place,
    { window, ...asked }: PrincipalsRequest & { readonly window: Window },
  ): Promise<ListedPrincipals> => {
    const { accountId } = actor;
    const scope = scopeOf(accountId, place);
    authorize(actor, "core_role_view", scope);
    await requireScope(actor, place);
    if (asked.resourceIdentifier !== undefined && (asked.permission ?? asked.resourceType) === undefined)
      throw problem("access.no_type");
    const facts = askedPermissions(place, asked);
    const { visible, hidden } = visiblePlaces(actor, place);
    const target = { scope, resourceIdentifier: asked.resourceIdentifier };
    const found = await findCombinations(db, accountId, visible);
    const grants = compileEach(found);
    const all = found.flatMap((combination, nth) => {
      const extents = facts.map(({ identifier }) => extentOf(grants[nth] ?? [], identifier, target));
      return extents.every((extent) => extent === "none") ? [] : [{ combination, extents }];
    });
    const filter = {
      combinations: all.map(({ combination }) => combination),
      types: asked.types,
      searchTerm: asked.searchTerm,
    };
    const rows = await selectPrincipals(db, accountId, { filter, window });
    const mayViewEmails = permits(actor, "core_user_view", { accountId });
    const items = rows.map((row): ListedPrincipal => {
      const extents = row.combinations.map((nth) => all[nth]?.extents ?? []);
      return {
        ...row,
        name: row.type === "USER_GROUP" && row.id === null ? allUsersOf(row).name : row.name,
        email: row.type !== "USER" || mayViewEmails ? row.email : null,
        permissions: permissionsOf(facts, extents),
        first: row.first.flatMap(({ identifier, combination: nth }) => {
          const combination = all[nth]?.combination;
          return combination ? [{ identifier, combination }] : [];
        }),
      };
    });
    const page = { items, ...window, total: () => countPrincipals(db, accountId, filter) };
    return { hidden, page };
  };

export type ListPrincipals = ReturnType<typeof listPrincipals>;

/** The scope and those around it whose role assignments the actor may see, and the levels of the others. */
export function visiblePlaces(
  actor: Actor,
  place: Place,
): { readonly visible: readonly Place[]; readonly hidden: readonly ScopeLevel[] } {
  const places = placesAround(place);
  const isVisible = (one: Place): boolean => permits(actor, "core_role_view", scopeOf(actor.accountId, one));
  return { visible: places.filter(isVisible), hidden: places.filter((one) => !isVisible(one)).map(levelOf) };
}

/** What the combinations of a principal give together. */
const permissionsOf = (
  facts: readonly PermissionFacts[],
  extents: readonly (readonly Extent[])[],
): readonly PermissionExtent[] =>
  facts.flatMap(({ identifier, resourceType }, nth) => {
    const found = extents.map((each) => each[nth]);
    if (!found.some((extent) => extent === "all" || extent === "some")) return [];
    return [{ identifier, resourceType, isOnAll: found.includes("all") }];
  });
