import type { Uuid } from "../../core/ids.ts";
import type { Store, Tx } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import { findAdministrators, lockAdministrators } from "../store/administrators.ts";

/** Whether one of these users is active; "everybody" stands for all users of the account. */
export type AnyActive = (db: Store, accountId: Uuid, ids: "everybody" | readonly Uuid[]) => Promise<boolean>;

/**
 * Called after a change that removes an assignment, a membership or a user, in its transaction. Throws
 * `access.last_administrator` if no active user remains who may do everything.
 */
export const keepAdministrator =
  (deps: { anyActive: AnyActive }) =>
  async (tx: Tx, accountId: Uuid): Promise<void> => {
    await lockAdministrators(tx, accountId);
    const left = await findAdministrators(tx, accountId);
    const isNobody = left !== "everybody" && left.length === 0;
    if (isNobody || !(await deps.anyActive(tx, accountId, left)))
      throw problem("access.last_administrator", [], { refusal: {} });
  };

/** Throws `access.last_administrator`; called after the change, in its transaction. */
export type KeepAdministrator = ReturnType<typeof keepAdministrator>;
