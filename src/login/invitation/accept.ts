/** A person opens the link of an invitation: reads for whom it is, chooses a password, and is signed in. */
import type { GrantsOf, PreventEscalationTo } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import { Problem } from "../../core/problem.ts";
import { hashPassword } from "../../platform/crypto/passwords.ts";
import type { Tx } from "../../platform/db/db.ts";
import { subjectOfInvitation } from "../password/back-off.ts";
import { passwordFault } from "../password/password-rules.ts";
import {
  actorOf,
  enter,
  recordRefusal,
  type RefusedSignIn,
  type SignedIn,
  type SignInDeps,
} from "../password/sign-in.ts";
import type { Person } from "../people.ts";
import { problem } from "../problems.ts";
import type { OpenedSession, Visitor } from "../session/open-session.ts";
import { listIdentities } from "../store/identities.ts";
import { findInvitation, useInvitation } from "../store/invitations.ts";
import { hashOfInvitation, type Invitation, type InvitationAuthor } from "./invitation.ts";

export type AcceptDeps = Omit<SignInDeps, "devices"> & {
  readonly grantsOf: GrantsOf;
  readonly preventEscalationToUser: PreventEscalationTo;
};

/** Whom an invitation is for. */
export type Invited = Pick<Person, "name" | "email" | "accountName"> & Pick<Invitation, "expiresAt">;

type Found = { readonly accountId: Uuid; readonly invitation: Invitation; readonly person: Person };

/** Tells whom an invitation is for, without using it up. Throws `login.bad_invitation`, `login.blocked`. */
export const checkInvitation =
  (deps: AcceptDeps) =>
  async (token: string, visitor: Visitor): Promise<Invited> => {
    const { invitation, person } = await findInvited(deps, token, visitor);
    const { name, email, accountName } = person;
    return { name, email, accountName, expiresAt: invitation.expiresAt };
  };

export type CheckInvitation = ReturnType<typeof checkInvitation>;

/**
 * Sets the first password of the invited user and opens a session. Throws `login.bad_invitation`, the same for each
 * cause, `login.weak_password`, which leaves the invitation valid, `login.blocked`, `login.busy`.
 */
export const acceptInvitation =
  (deps: AcceptDeps) =>
  async (
    { token, newPassword }: { readonly token: string; readonly newPassword: string },
    visitor: Visitor,
  ): Promise<SignedIn> => {
    const { accountId, invitation, person } = await findInvited(deps, token, visitor);
    const fault = passwordFault(newPassword, person);
    if (fault !== undefined) throw problem("login.weak_password", [fault]);
    const visiting = { kind: "visitor", address: visitor.facts.remoteAddress } as const;
    const hash = await deps.enqueueHash(visiting, () => hashPassword(newPassword));
    const withPassword = { ...person, passwordHash: hash, mustChangePassword: false };
    const use = async (tx: Tx): Promise<OpenedSession> => {
      if (!(await useInvitation(tx, accountId, { secretHash: hashOfInvitation(token), now: deps.clock.now() })))
        throw problem("login.bad_invitation");
      // A password that was set meanwhile counts, and so does an identity, which is read after this lock.
      const isSaved = await deps.people.savePassword(tx, accountId, {
        id: person.id,
        hash,
        mustChange: false,
        was: "",
      });
      if (!isSaved || (await listIdentities(tx, accountId, person.id)).length > 0)
        throw problem("login.bad_invitation");
      await requireAuthorHoldsAll(deps, tx, { accountId, author: invitation.author, person });
      await deps.audit.record(tx, actorOf(accountId, person, visitor), {
        operation: "invitation.accept",
        resourceType: "USER",
        resourceId: toWire(person.id),
        scope: {},
        before: { invitedUntil: invitation.expiresAt },
        after: { invitedUntil: null, passwordChangedAt: deps.clock.now() },
      });
      const session = await enter(tx, deps, { accountId, person: withPassword, method: "PASSWORD", visitor });
      if (!session) throw problem("login.bad_invitation");
      return session;
    };
    try {
      return { opened: await deps.db.transaction(use), person: withPassword };
    } catch (error) {
      if (error instanceof Problem && error.code === "login.bad_invitation")
        await refuse(deps, { accountId, typed: person.email, visitor });
      throw error;
    }
  };

export type AcceptInvitation = ReturnType<typeof acceptInvitation>;

/** Counts the attempt, and records a refused one. As passwords, invitations are of the first account. */
async function findInvited(deps: AcceptDeps, token: string, visitor: Visitor): Promise<Found> {
  const accountId = await deps.people.firstAccount();
  if (!accountId) throw problem("login.bad_invitation");
  const subjects = [subjectOfInvitation(visitor.facts.remoteAddress)];
  await deps.attempts.begin(accountId, subjects);
  const found = await findValid(deps, accountId, token);
  if (!found) {
    await refuse(deps, { accountId, typed: "", visitor });
    throw problem("login.bad_invitation");
  }
  await deps.attempts.succeed(accountId, subjects);
  return { accountId, ...found };
}

const refuse = (deps: AcceptDeps, refusal: Omit<RefusedSignIn, "refused">): Promise<void> =>
  deps.db.transaction((tx) => recordRefusal(tx, deps, { ...refusal, refused: problem("login.bad_invitation") }));

async function findValid(
  deps: AcceptDeps,
  accountId: Uuid,
  token: string,
): Promise<Omit<Found, "accountId"> | undefined> {
  const invitation = await findInvitation(deps.db, accountId, {
    secretHash: hashOfInvitation(token),
    now: deps.clock.now(),
  });
  const person = invitation && (await deps.people.byId(accountId, invitation.userId));
  return invitation && person?.passwordHash === null ? { invitation, person } : undefined;
}

type Accepted = { readonly accountId: Uuid; readonly author: InvitationAuthor; readonly person: Person };

/**
 * The author knows the link, so the user must still not hold more than the author: roles may have been assigned to the
 * user, or taken from the author, since the invitation was made.
 */
async function requireAuthorHoldsAll(
  deps: AcceptDeps,
  tx: Tx,
  { accountId, author: { kind, id }, person }: Accepted,
): Promise<void> {
  const isActive = kind === "service_account" || (await deps.people.byId(accountId, id)) !== undefined;
  if (!isActive) throw problem("login.bad_invitation");
  const grants = await deps.grantsOf(accountId, { type: kind === "user" ? "USER" : "SERVICE_ACCOUNT", id });
  // Only its grants are compared.
  const author: Actor = { kind: "user", accountId, id, name: "", email: "", grants };
  try {
    await deps.preventEscalationToUser(tx, author, person.id);
  } catch (error) {
    if (error instanceof Problem && error.code === "access.beyond_own")
      throw problem("login.bad_invitation", [], { cause: error });
    throw error;
  }
}
