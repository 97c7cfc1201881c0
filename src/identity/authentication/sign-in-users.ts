/** Data of active users for sign-in. Nothing else reads password hashes. */
import type { Uuid } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import { findFirstAccount } from "../store.ts";
import { findFirstLogin, findLogin, findLoginByEmail, lockLogin, savePassword } from "../store/passwords.ts";

/** For the login slice. Inactive users are not found. */
export const createSignInUsers = ({ db }: { readonly db: Db }) => ({
  firstAccount: async (): Promise<Uuid | undefined> => (await findFirstAccount(db))?.id,
  first: (accountId: Uuid) => findFirstLogin(db, accountId),
  byEmail: (accountId: Uuid, email: string) => findLoginByEmail(db, accountId, email),
  byId: (accountId: Uuid, id: Uuid) => findLogin(db, accountId, id),
  lock: lockLogin,
  savePassword,
});
