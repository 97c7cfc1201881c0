import type { Uuid } from "../../core/ids.ts";
import { referred, type Place, type Referred } from "../../core/reference.ts";
import { MAX_RECIPIENTS } from "../limits.ts";
import type { Recipients } from "../smtp/message.ts";
import type { MailContent } from "./mail.ts";

/** Name and addresses of user groups, by their index in the list; groups that do not exist are missing. */
export type FindGroupAddresses = (
  accountId: Uuid,
  which: { readonly keys: readonly Referred[]; readonly limit: number },
) => Promise<ReadonlyMap<number, { readonly name: string; readonly addresses: readonly string[] }>>;

const NONE: Awaited<ReturnType<FindGroupAddresses>> = new Map();

type Addressed = Pick<MailContent, "to" | "cc" | "toUserGroups" | "ccUserGroups"> &
  Place & { readonly accountId: Uuid };

/**
 * Finds the members of the mail's user groups at this time. No permission to view the groups is needed: recipients see
 * the names of groups, and not the members.
 */
export async function resolveRecipients(
  find: FindGroupAddresses,
  mail: Addressed,
): Promise<{ readonly to: Recipients; readonly cc: Recipients } | { readonly fault: string }> {
  const references = [...mail.toUserGroups, ...mail.ccUserGroups];
  const keys = references.flatMap((reference) => referred(reference, mail) ?? []);
  // One more than allowed shows that the limit is exceeded.
  const found = keys.length === 0 ? NONE : await find(mail.accountId, { keys, limit: MAX_RECIPIENTS + 1 });
  const missing = references.find((_, nth) => !found.has(nth));
  if (missing !== undefined) return { fault: `User group '${missing}' does not exist, or is a built-in one.` };
  const groups = references.flatMap((_, nth) => found.get(nth) ?? []);
  const first = mail.toUserGroups.length;
  return {
    to: { addresses: mail.to, groups: groups.slice(0, first) },
    cc: { addresses: mail.cc, groups: groups.slice(first) },
  };
}
