/** Who may act on an approval, as groups and service accounts are at that moment. */
import { findGroupsOfUser, isMember } from "../access/index.ts";
import { actorEmail, type Actor } from "../core/actor.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import { referred, type Referred } from "../core/reference.ts";
import { findServiceAccount, findServiceAccountsById } from "../identity/index.ts";
import type { Store, Tx } from "../platform/db/db.ts";
import type { Approval, Refusal } from "./approval.ts";
import { problem } from "./problems.ts";

/** The built-in group with every user of the account. */
const ALL_USERS = "_account_all_users";

type Person = Extract<Actor, { kind: "user" | "service_account" }>;

/** Whether the actor is among the approvers that an approval names. */
type IsApprover = (approval: Approval) => boolean | Promise<boolean>;

type Asked = { readonly approval: Approval; /** Who started the execution. */ readonly executors: readonly Uuid[] };

const isPerson = (actor: Actor): actor is Person => actor.kind === "user" || actor.kind === "service_account";

async function refusalOf(
  actor: Actor,
  { approval, executors }: Asked,
  isApprover: IsApprover,
): Promise<Refusal | undefined> {
  const { disallowPipelineExecutor, disallowedUserEmails } = approval.request.approvers;
  if (!isPerson(actor) || !(await isApprover(approval))) return "NOT_APPROVER";
  if (disallowPipelineExecutor && executors.includes(actor.id)) return "OWN_EXECUTION";
  const email = emailOf(actor);
  if (disallowedUserEmails.some((one) => one.trim().toLowerCase() === email)) return "DISALLOWED";
  return approval.actors.includes(actor.id) ? "ALREADY_ACTED" : undefined;
}

const emailOf = (actor: Actor): string => (actorEmail(actor) ?? "").toLowerCase();

/** Throws `approval.not_approver`, `approval.own_execution`, `approval.disallowed` (403) and `approval.already_acted`. */
export async function requireApprover(tx: Tx, { actor, ...asked }: Asked & { readonly actor: Actor }): Promise<Uuid> {
  const { id, request } = asked.approval;
  const refusal = await refusalOf(actor, asked, (approval) => isPerson(actor) && isApproverNow(tx, actor, approval));
  switch (refusal) {
    case undefined:
      return isPerson(actor) ? actor.id : throwNotApprover(id, request.approvers);
    case "NOT_APPROVER":
      return throwNotApprover(id, request.approvers);
    case "OWN_EXECUTION":
      throw problem("approval.own_execution", [toWire(id)]);
    case "DISALLOWED":
      throw problem("approval.disallowed", [toWire(id), emailOf(actor)]);
    case "ALREADY_ACTED":
      throw problem("approval.already_acted", [toWire(id)]);
  }
}

function throwNotApprover(id: Uuid, { userGroups, serviceAccounts }: Approval["request"]["approvers"]): never {
  throw problem("approval.not_approver", [toWire(id), [...userGroups, ...serviceAccounts].join(", ")]);
}

/**
 * Tells of many approvals why the actor may not decide them; undefined for those that it may. Reads the groups of the
 * actor once.
 */
export async function createRefusalCheck(
  db: Store,
  actor: Actor,
): Promise<(asked: Asked) => Promise<Refusal | undefined>> {
  const own = new Set((await keysOfActor(db, actor)).map(textOf));
  const isApprover: IsApprover = (approval) => {
    const { userGroups, serviceAccounts } = approval.request.approvers;
    return keysOf(actor.kind === "user" ? userGroups : serviceAccounts, approval).some((key) => own.has(textOf(key)));
  };
  return (asked) => refusalOf(actor, asked, isApprover);
}

/** What approvals may name for the actor: the groups of a user, or a service account itself. */
async function keysOfActor(db: Store, actor: Actor): Promise<readonly Referred[]> {
  if (actor.kind === "service_account") return findServiceAccountsById(db, actor.accountId, [actor.id]);
  if (actor.kind !== "user") return [];
  return [EVERYBODY, ...(await findGroupsOfUser(db, actor.accountId, actor.id))];
}

const EVERYBODY: Referred = { orgIdentifier: null, projectIdentifier: null, identifier: ALL_USERS };

/** One text for each place and identifier. */
export const textOf = ({ orgIdentifier, projectIdentifier, identifier }: Referred): string =>
  [orgIdentifier, projectIdentifier, identifier].join(" ");

export const keysOf = (references: readonly string[], { request }: Approval): readonly Referred[] =>
  references.flatMap((reference) => referred(reference.trim(), request.place) ?? []);

async function isApproverNow(tx: Tx, actor: Person, approval: Approval): Promise<boolean> {
  const { approvers } = approval.request;
  if (actor.kind === "user") {
    const keys = keysOf(approvers.userGroups, approval);
    if (keys.some((key) => textOf(key) === textOf(EVERYBODY))) return true;
    return isMember(tx, actor.accountId, { userId: actor.id, keys });
  }
  for (const key of keysOf(approvers.serviceAccounts, approval))
    if ((await findServiceAccount(tx, actor.accountId, key))?.id === actor.id) return true;
  return false;
}
