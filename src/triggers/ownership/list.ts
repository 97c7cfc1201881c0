import { reach, type Authorize } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import type { Page } from "../../core/page.ts";
import { scopeOf, type Place } from "../../core/reference.ts";
import type { Author } from "../../identity/index.ts";
import type { Db } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import { countOwned, selectOwned, type OwnedRow } from "../store/ownership.ts";

/** A person by id, or a service account by its identifier in its place. */
export type PrincipalRef =
  | { readonly type: "USER"; readonly identifier: string }
  | ({ readonly type: "SERVICE_ACCOUNT"; readonly identifier: string } & Place);

/** `hidden` counts the rows that the actor may not see. */
export type OwnedPage = Page<OwnedRow> & { readonly hidden: () => Promise<number> };
export type ListOwnedDeps = {
  readonly db: Pick<Db, "query">;
  readonly authorize: Authorize;
  readonly findServiceAccount: (
    accountId: Uuid,
    key: Place & { readonly identifier: string },
  ) => Promise<{ readonly id: Uuid } | undefined>;
};

/**
 * Lists the triggers, and the pipelines and input sets of triggers, that act for a user or a service account and stop
 * when it is deactivated. Requires `core_user_view`, or `core_serviceaccount_view` on the service account; rows require
 * `core_pipeline_view`. Throws `ownership.no_principal`.
 */
export const listOwned =
  (deps: ListOwnedDeps) =>
  async (
    actor: Actor,
    of: PrincipalRef,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<OwnedPage> => {
    const { accountId } = actor;
    const author = await findAuthor(deps, actor, of);
    if (!author) throw problem("ownership.no_principal", [of.identifier]);
    const places = reach(actor, "core_pipeline_view");
    const seen = places === "all" ? null : JSON.stringify(places);
    const filter = { accountId, author, seen };
    return {
      items: await selectOwned(deps.db, filter, { limit, offset }),
      ...{ limit, offset },
      total: async () => (await countOwned(deps.db, filter)).visible,
      hidden: async () => {
        const { visible, all } = await countOwned(deps.db, filter);
        return all - visible;
      },
    };
  };

export type ListOwned = ReturnType<typeof listOwned>;

async function findAuthor(deps: ListOwnedDeps, actor: Actor, of: PrincipalRef): Promise<Author | undefined> {
  const { accountId } = actor;
  if (of.type === "USER") {
    deps.authorize(actor, "core_user_view", { accountId });
    const id = fromWire(of.identifier);
    return id && { kind: "user", id };
  }
  deps.authorize(actor, "core_serviceaccount_view", scopeOf(accountId, of), of.identifier);
  const found = await deps.findServiceAccount(accountId, of);
  return found && { kind: "service_account", id: found.id };
}
