import type { Uuid } from "../../../core/ids.ts";
import type { Db } from "../../../platform/db/db.ts";
import { problem } from "../../problems.ts";
import { findPeopleByEmail } from "../../store/members.ts";

/** Returns the ids of the users with these email addresses. Throws `access.no_person`. */
export const getPeopleByEmail =
  ({ db }: { readonly db: Db }) =>
  async (accountId: Uuid, emails: readonly string[]): Promise<readonly Uuid[]> => {
    const found = await findPeopleByEmail(db, accountId, emails);
    const known = new Set(found.map(({ email }) => email.toLowerCase()));
    const missing = emails.find((email) => !known.has(email.toLowerCase()));
    if (missing !== undefined) throw problem("access.no_person", [missing]);
    return found.map(({ id }) => id);
  };
