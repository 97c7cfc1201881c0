/** Who may act on an approval, as groups and service accounts are at that moment. */
import { isMember } from "../access/index.ts";
import { actorEmail, type Actor } from "../core/actor.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import { referred, type Referred } from "../core/reference.ts";
import { findServiceAccount } from "../identity/index.ts";
import type { Tx } from "../platform/db/db.ts";
import type { Approval } from "./approval.ts";
import { problem } from "./problems.ts";

/** The built-in group with every user of the account. */
const ALL_USERS = "_account_all_users";

/**
 * Throws `approval.not_approver`, `approval.own_execution`, `approval.disallowed` (403) and `approval.already_acted`.
 * `executors`: who started the execution.
 */
export async function requireApprover(
  tx: Tx,
  {
    actor,
    approval,
    executors,
  }: { readonly actor: Actor; readonly approval: Approval; readonly executors: readonly Uuid[] },
): Promise<Uuid> {
  const { id, request, actors } = approval;
  const { userGroups, serviceAccounts, disallowPipelineExecutor, disallowedUserEmails } = request.approvers;
  if ((actor.kind !== "user" && actor.kind !== "service_account") || !(await isApprover(tx, actor, approval)))
    throw problem("approval.not_approver", [toWire(id), [...userGroups, ...serviceAccounts].join(", ")]);
  if (disallowPipelineExecutor && executors.includes(actor.id)) throw problem("approval.own_execution", [toWire(id)]);
  const email = (actorEmail(actor) ?? "").toLowerCase();
  if (disallowedUserEmails.some((one) => one.trim().toLowerCase() === email))
    throw problem("approval.disallowed", [toWire(id), email]);
  if (actors.includes(actor.id)) throw problem("approval.already_acted", [toWire(id)]);
  return actor.id;
}

export const keysOf = (references: readonly string[], { request }: Approval): readonly Referred[] =>
  references.flatMap((reference) => referred(reference.trim(), request.place) ?? []);

async function isApprover(
  tx: Tx,
  actor: Extract<Actor, { kind: "user" | "service_account" }>,
  approval: Approval,
): Promise<boolean> {
  const { approvers } = approval.request;
  if (actor.kind === "user") {
    const keys = keysOf(approvers.userGroups, approval);
    if (keys.some(({ identifier, orgIdentifier }) => identifier === ALL_USERS && orgIdentifier === null)) return true;
    return isMember(tx, actor.accountId, { userId: actor.id, keys });
  }
  for (const key of keysOf(approvers.serviceAccounts, approval))
    if ((await findServiceAccount(tx, actor.accountId, key))?.id === actor.id) return true;
  return false;
}
