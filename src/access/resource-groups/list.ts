import type { Actor } from "../../core/actor.ts";
import type { SortOrder } from "../../core/page.ts";
import type { Place } from "../../core/reference.ts";
import type { WriteDeps } from "../deps.ts";
import { requireSeen } from "../places.ts";
import { selectResourceGroups } from "../store/resource-groups.ts";
import { builtInGroupsAt, type ResourceGroup } from "./resource-group.ts";

type GroupFilter = {
  readonly searchTerm?: string | undefined;
  readonly identifiers?: readonly string[] | undefined;
  /** True: only built-in ones; false: only custom ones. */
  readonly platformManaged?: boolean | undefined;
  /** The order of custom groups. */
  readonly order?: readonly SortOrder[] | undefined;
};

/**
 * Lists the groups that the actor may view: built-in groups of the scope first, then custom ones by name or in the
 * given order. Throws what RequireScope throws.
 */
export const listResourceGroups =
  ({ db, requireScope }: Pick<WriteDeps, "db" | "requireScope">) =>
  async (actor: Actor, place: Place, filter: GroupFilter): Promise<readonly ResourceGroup[]> => {
    const visible = requireSeen(actor, "core_resourcegroup_view", place);
    await requireScope(actor, place);
    const all = [
      ...builtInGroupsAt(place),
      ...(await selectResourceGroups(db, actor.accountId, { place, order: filter.order })),
    ];
    const term = (filter.searchTerm ?? "").toLowerCase();
    return all.filter(
      ({ id, identifier, name }) =>
        (visible === "all" || visible.has(identifier)) &&
        (filter.identifiers?.includes(identifier) ?? true) &&
        (filter.platformManaged === undefined || filter.platformManaged === (id === null)) &&
        [identifier, name].some((text) => text.toLowerCase().includes(term)),
    );
  };

export type ListResourceGroups = ReturnType<typeof listResourceGroups>;
