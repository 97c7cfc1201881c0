/** What an account sets, records and limits, and the directories that manage its users and groups. */
import { createTrail } from "../audit/index.ts";
import { createLimits } from "../limits/index.ts";
import type { Projects } from "../projects/index.ts";
import { createScim } from "../scim/index.ts";
import { createSettings } from "../settings/index.ts";
import type { CommonDeps } from "./deps.ts";
import type { IdentityAndAccess } from "./identity-and-access.ts";

type AccountDeps = Pick<IdentityAndAccess, "access" | "identity" | "users"> & { readonly projects: Projects };

export function createAccountAdministration(deps: CommonDeps, { access, identity, users, projects }: AccountDeps) {
  const { db, audit, clock, newId, onError } = deps;
  const { authorize } = access;

  const settings = createSettings({
    db,
    audit,
    clock,
    authorize,
    requireScope: projects.requireScope,
    preventEscalationToServiceAccount: access.preventEscalationToServiceAccount,
    requireAllPermissions: access.requireAllPermissions,
  });
  const audits = createTrail({ db, audit, clock, newId, authorize, settingValue: settings.value, onError });
  const limits = createLimits({ db, clock, settingValue: settings.value });

  const scim = createScim({
    db,
    clock,
    authorize,
    users,
    userGroups: access.userGroups,
    authenticate: identity.authenticate,
    actAs: identity.actAs,
    settings: settings.current,
    allowPrivateAddresses: deps.allowPrivateAddresses,
    publicUrl: deps.publicUrl,
    log: deps.log,
  });

  return { settings, audits, limits, scim };
}

export type AccountAdministration = ReturnType<typeof createAccountAdministration>;
