/** The tags of a delegate, changed at run time. Routing follows at once, on every replica. */
import type { Actor } from "../../core/actor.ts";
import { fromWire } from "../../core/ids.ts";
import type { Audit } from "../../audit/index.ts";
import type { Authorize } from "../../access/index.ts";
import type { Db } from "../../platform/db/db.ts";
import { MAX_TAGS, type TaggedDelegate } from "../delegate.ts";
import { problem } from "../problems.ts";
import { findTagged, lockTagged, saveTags, type DelegateIdOrName } from "../store/registry.ts";

/** A delegate by its id on the wire, or by its name. */
export type DelegateRef = { readonly delegateId: string } | { readonly name: string };

type Deps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  /** Called after the commit. */
  readonly onTagsChanged: (delegate: TaggedDelegate) => Promise<void>;
};

/** Returns the delegate with its tags. Throws `delegate.not_found`, also for a malformed id. */
export const getTags =
  ({ db, authorize }: Pick<Deps, "db" | "authorize">) =>
  async (actor: Actor, ref: DelegateRef): Promise<TaggedDelegate> => {
    authorize(actor, "core_delegate_view", { accountId: actor.accountId });
    const found = await findTagged(db, actor.accountId, keyOf(ref));
    if (!found) throw notFound(ref);
    return found;
  };

export type GetTags = ReturnType<typeof getTags>;

export type TagChange = { readonly how: "add" | "replace"; readonly tags: readonly string[] };

/**
 * Adding keeps the order and skips existing tags; the other changes replace the list. Throws `delegate.not_found`,
 * `delegate.too_many_tags`.
 */
export const changeTags =
  ({ db, audit, authorize, onTagsChanged }: Deps) =>
  async (actor: Actor, ref: DelegateRef, { how, tags }: TagChange): Promise<TaggedDelegate> => {
    const { accountId } = actor;
    authorize(actor, "core_delegate_edit", { accountId });
    const key = keyOf(ref);
    const delegate = await db.transaction(async (tx) => {
      const found = await lockTagged(tx, accountId, key);
      if (!found) throw notFound(ref);
      const next = [...new Set(how === "add" ? [...found.tags, ...tags] : tags)];
      if (next.length > MAX_TAGS) throw problem("delegate.too_many_tags", [String(MAX_TAGS)]);
      await saveTags(tx, found, next);
      await audit.record(tx, actor, {
        operation: `delegate-tags.${how}`,
        resourceType: "DELEGATE",
        resourceId: found.name,
        scope: {},
        before: { tags: found.tags },
        after: { tags: next },
      });
      return { ...found, tags: next };
    });
    // The next start already finds the delegate by its new tags only.
    await onTagsChanged(delegate);
    return delegate;
  };

export type ChangeTags = ReturnType<typeof changeTags>;

const keyOf = (ref: DelegateRef): DelegateIdOrName => ("name" in ref ? ref : { id: fromWire(ref.delegateId) });
const notFound = (ref: DelegateRef): Error =>
  problem("delegate.not_found", ["name" in ref ? ref.name : ref.delegateId]);
