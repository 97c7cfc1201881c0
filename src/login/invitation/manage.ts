/** Invitations that have not been accepted: listed and revoked. */
import type { Authorize } from "../../access/index.ts";
import type { Audit } from "../../audit/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { fromWire, toWire } from "../../core/ids.ts";
import type { Page, Window } from "../../core/page.ts";
import type { Db } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import { countInvitations, deleteInvitation, selectInvitations } from "../store/invitations.ts";
import type { ListedInvitation } from "./invitation.ts";

type Deps = { readonly db: Db; readonly authorize: Authorize; readonly clock: Clock };

/** Lists the invitations that are valid now, newest first, without their links. */
export const listInvitations =
  ({ db, authorize, clock }: Deps) =>
  async (actor: Actor, window: Window): Promise<Page<ListedInvitation>> => {
    const { accountId } = actor;
    authorize(actor, "core_user_view", { accountId });
    const now = clock.now();
    const items = await selectInvitations(db, accountId, { now, window });
    return { items, ...window, total: () => countInvitations(db, accountId, now) };
  };

export type ListInvitations = ReturnType<typeof listInvitations>;

/** Ends the invitation of a user. Throws `login.no_invitation`. */
export const revokeInvitation =
  ({ db, authorize, audit }: Pick<Deps, "db" | "authorize"> & { readonly audit: Pick<Audit, "record"> }) =>
  async (actor: Actor, userId: string): Promise<void> => {
    const { accountId } = actor;
    authorize(actor, "core_user_manage", { accountId });
    const id = fromWire(userId);
    const isRevoked = await db.transaction(async (tx) => {
      const found = id && (await deleteInvitation(tx, { accountId, userId: id }));
      if (!found) return false;
      await audit.record(tx, actor, {
        operation: "invitation.revoke",
        resourceType: "USER",
        resourceId: toWire(id),
        scope: {},
        before: { invitedUntil: found.expiresAt },
        after: { invitedUntil: null },
      });
      return true;
    });
    if (!isRevoked) throw problem("login.no_invitation");
  };

export type RevokeInvitation = ReturnType<typeof revokeInvitation>;
