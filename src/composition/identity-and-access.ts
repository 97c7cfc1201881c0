/** Who may do what: grants, users, service accounts, credentials and sign-in. These slices call each other. */
import { createAccess } from "../access/index.ts";
import {
  anyActive,
  createIdentity,
  createUsers,
  findServiceAccount,
  type RevokeUserAccess,
} from "../identity/index.ts";
import { createLogin } from "../login/index.ts";
import { allowPublicAddresses } from "../platform/outgoing/reach.ts";
import { concatResults } from "../platform/sequences.ts";
import type { Projects } from "../projects/index.ts";
import type { CommonDeps } from "./deps.ts";

export type IdentityAndAccess = ReturnType<typeof createIdentityAndAccess>;

export function createIdentityAndAccess(deps: CommonDeps, { requireScope }: Pick<Projects, "requireScope">) {
  const { db, audit, clock, newId, onError } = deps;

  const access = createAccess({
    db,
    audit,
    clock,
    newId,
    anyActive,
    findServiceAccount,
    requireScope,
    onError,
  });
  const { authorize, dereference } = access;

  const revokeAccess: RevokeUserAccess = concatResults(access.revokeAccess, (tx, user) => login.endSessions(tx, user));
  const identity = createIdentity({
    db,
    audit,
    clock,
    newId,
    authorize,
    grantsOf: access.grantsOf,
    grantsOfAll: access.grantsOfAll,
    onAccessChange: access.onAccessChange,
    preventEscalationToServiceAccount: access.preventEscalationToServiceAccount,
    requireScope,
    revokeAccess: access.revokeAccess,
    dereference,
    selectValidSessions: (...which) => login.findValidSessions(...which),
    onError,
  });
  const users = createUsers({
    db,
    audit,
    clock,
    newId,
    authorize,
    dereference,
    revokeAccess,
    endTokens: identity.endTokens,
    keepAdministrator: access.keepAdministrator,
    preventEscalationToUser: access.preventEscalationToUser,
    setGroupsOf: access.setGroupsOf,
    peopleOfScope: access.peopleOfScope,
    rolesOfPeople: access.rolesOfPeople,
    findLockedUsers: (account, people) => login.findLockedUsers(account, people),
    onEmailChanged: (tx, user) => login.onEmailChanged(tx, user),
  });

  const login = createLogin({
    db,
    audit,
    keys: deps.keys,
    clock,
    newId,
    log: deps.log,
    authorize,
    grantsOf: access.grantsOf,
    preventEscalationToUser: access.preventEscalationToUser,
    people: identity.people,
    revalidateActor: identity.revalidateActor,
    notifyCredentialsEnded: identity.notifyCredentialsEnded,
    onEnded: identity.onEnded,
    oidc: deps.oidc,
    lifetimes: deps.sessions,
    mayReach: allowPublicAddresses(deps.allowPrivateAddresses),
    publicUrl: deps.publicUrl,
  });

  return { access, identity, users, login };
}
