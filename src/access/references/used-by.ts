/** Which resources name a resource, as far as the actor may see them. */
import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Page } from "../../core/page.ts";
import type { Referred } from "../../core/reference.ts";
import type { Store } from "../../platform/db/db.ts";
import { findReferencing, type ReferenceTable } from "../store/references.ts";
import { isSeen, type ReferencingResource } from "./describe-referencing.ts";

/** `hidden`: how many more there are that the actor may not see. */
export type UsedBy = Page<ReferencingResource> & { readonly hidden: number };

type Asked = {
  readonly uses: ReferenceTable;
  readonly key: Referred;
  readonly window: { readonly limit: number; readonly offset: number };
};

/** In the order of type and id. The caller checks that the actor may see the resource. */
export async function listUsedBy(db: Store, actor: Actor, { uses, key, window }: Asked): Promise<UsedBy> {
  const { accountId }: { readonly accountId: Uuid } = actor;
  const all = await findReferencing(db, accountId, { uses, key });
  const seen = all.filter((one) => isSeen(actor, one));
  return {
    ...window,
    items: seen.slice(window.offset, window.offset + window.limit),
    total: async () => seen.length,
    hidden: all.length - seen.length,
  };
}

/** The resources that name the one of the key. Throws what reading that one throws. */
export type ListUsedBy = (actor: Actor, key: Referred, window: Asked["window"]) => Promise<UsedBy>;
