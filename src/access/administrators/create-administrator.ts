import type { Clock } from "../../core/clock.ts";
import { toWire, type NewId, type Uuid } from "../../core/ids.ts";
import type { Tx } from "../../platform/db/db.ts";
import { ACCOUNT_ADMIN, ALL_BELOW } from "../builtin.ts";
import { insertAssignment } from "../store/assignments.ts";

/** Makes a user the administrator of a new account. */
export const createAdministrator =
  (deps: { clock: Clock; newId: NewId }) =>
  async (tx: Tx, accountId: Uuid, userId: Uuid): Promise<void> => {
    const [id, at] = [deps.newId(), deps.clock.now()];
    await insertAssignment(tx, accountId, {
      id,
      orgIdentifier: null,
      projectIdentifier: null,
      identifier: `role_assignment_${toWire(id)}`,
      principal: { type: "USER", id: userId, identifier: toWire(userId), level: "account" },
      role: { identifier: ACCOUNT_ADMIN, level: "account", id: null },
      resourceGroup: { identifier: ALL_BELOW, id: null },
      disabled: false,
      createdAt: at,
      updatedAt: at,
    });
  };

/** Called by the first start, in the transaction that creates the account. */
export type CreateAdministrator = ReturnType<typeof createAdministrator>;
