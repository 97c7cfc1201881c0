/** Triggers: they start the runs of pipelines. */
import { findServiceAccount, holdRootKey } from "../identity/index.ts";
import { createSealer } from "../platform/crypto/seal.ts";
import { createTriggers } from "../triggers/index.ts";
import type { AccountAdministration } from "./account.ts";
import type { CommonDeps } from "./deps.ts";
import type { IdentityAndAccess } from "./identity-and-access.ts";
import type { Projects } from "../projects/index.ts";
import type { Running } from "./running.ts";

type TriggersDeps = Pick<IdentityAndAccess, "access" | "identity"> &
  Pick<AccountAdministration, "settings" | "audits" | "limits"> &
  Pick<Running, "pipelines" | "executions"> & { readonly projects: Projects };

export function createTriggersSlice(deps: CommonDeps, slices: TriggersDeps) {
  const { db, audit, keys, clock, newId, publicUrl, onError } = deps;
  const { access, identity, settings, audits, limits, projects, pipelines, executions } = slices;
  return createTriggers({
    db,
    audit,
    clock,
    newId,
    authorize: access.authorize,
    permits: access.permits,
    authenticate: identity.authenticate,
    revalidateActor: identity.revalidateActor,
    requireRunAs: identity.requireRunAs,
    findServiceAccount: (accountId, key) => findServiceAccount(db, accountId, key),
    settingValue: settings.value,
    countAccount: limits.countAccount,
    getPipeline: pipelines.get,
    getProject: projects.getFor,
    prepareRun: pipelines.prepareRun,
    tryInputs: pipelines.tryInputs,
    mergeInputSets: pipelines.mergeInputSets,
    adoptPipeline: pipelines.adopt,
    adoptInputSet: pipelines.adoptInputSet,
    adoptionReads: pipelines.adoptionReads,
    startTransaction: executions.startTransaction,
    getExecution: executions.getSummary,
    refused: audits.recordRefused,
    sealer: createSealer(keys, "webhook tokens"),
    holdRootKey: holdRootKey(keys),
    publicUrl,
    onError,
  });
}
