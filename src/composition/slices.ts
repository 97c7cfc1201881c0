/** Builds each slice once, low to high. A lower slice calls a higher one through a callback that is passed here. */
import { createAccess } from "../access/index.ts";
import { createAudit, createTrail } from "../audit/index.ts";
import { createConnectionTests, createConnectors, type ConnectionTests } from "../connectors/index.ts";
import { createDelegates } from "../delegates/index.ts";
import { createEnvironments } from "../environments/index.ts";
import { makeExecutions, type Executions } from "../executions/index.ts";
import {
  anyActive,
  createIdentity,
  createUsers,
  findServiceAccount,
  holdRootKey,
  type RevokeUserAccess,
} from "../identity/index.ts";
import { createLimits } from "../limits/index.ts";
import { createLogin } from "../login/index.ts";
import { makePipelines, makePrincipals } from "../pipelines/index.ts";
import { createSealer } from "../platform/crypto/seal.ts";
import { allowPublicAddresses } from "../platform/outgoing/reach.ts";
import { concatResults } from "../platform/sequences.ts";
import { createProjects, emptyScopeOfAll, type Projects } from "../projects/index.ts";
import { createScim } from "../scim/index.ts";
import { createSecrets } from "../secrets/index.ts";
import { createSettings } from "../settings/index.ts";
import { createTriggers } from "../triggers/index.ts";
import type { PlatformDeps } from "./deps.ts";
import { createScopeFacts } from "./scope-facts.ts";

/** All slices by name. Those with `routes` are served by app.ts. */
export type Slices = ReturnType<typeof createSlices>;

/** Builds all slices. `onError` gets the errors of work in the background. */
// oxlint-disable-next-line max-lines-per-function -- one function, because slices refer to each other; it only lists dependencies
export function createSlices(deps: PlatformDeps, onError: (error: unknown) => void) {
  const { db, keys, clock, newId, log, publicUrl } = deps;
  const mayReach = allowPublicAddresses(deps.allowPrivateAddresses);
  const audit = createAudit({ clock, newId });

  const access = createAccess({
    db,
    audit,
    clock,
    newId,
    anyActive,
    findServiceAccount,
    requireScope: (actor, scope) => projects.requireScope(actor, scope),
    onError,
  });
  const { authorize, permits, dereference } = access;

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
    requireScope: (actor, scope) => projects.requireScope(actor, scope),
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
    onEmailChanged: (tx, user) => login.removeLinkPermission(tx, user),
  });

  const projects: Projects = createProjects({
    db,
    audit,
    clock,
    newId,
    authorize,
    emptyScope: emptyScopeOfAll(() => referenceHolders),
  });
  const { requireScope } = projects;
  const settings = createSettings({
    db,
    audit,
    clock,
    authorize,
    requireScope,
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
    publicUrl,
    log,
  });
  const login = createLogin({
    db,
    audit,
    keys,
    clock,
    newId,
    log,
    authorize,
    grantsOf: access.grantsOf,
    preventEscalationToUser: access.preventEscalationToUser,
    people: identity.people,
    revalidateActor: identity.revalidateActor,
    notifyCredentialsEnded: identity.notifyCredentialsEnded,
    onEnded: identity.onEnded,
    oidc: deps.oidc,
    lifetimes: deps.sessions,
    mayReach,
    publicUrl,
  });

  const environments = createEnvironments({ db, audit, clock, newId, authorize, dereference, requireScope });
  const secrets = createSecrets({
    db,
    audit,
    keys,
    clock,
    newId,
    authorize,
    dereference,
    requireScope,
    revalidateActor: identity.revalidateActor,
    commands: deps.secretCommands,
    maxContent: deps.maxSecretFile,
    facts: createScopeFacts(projects.applicationsExist, environments.findPlaces),
  });
  const connectors = createConnectors({
    db,
    audit,
    clock,
    newId,
    authorize,
    dereference,
    requireScope,
    requireSecret: secrets.require,
    noteSecretUses: secrets.noteUses,
  });

  const delegates = createDelegates({
    db,
    audit,
    clock,
    newId,
    log,
    authorize,
    openConnection: (delivery) => connectionTests.openSecrets(delivery),
    openSecrets: (delivery) => executions.openSecrets(delivery),
    currentSettings: settings.current,
    onError,
  });
  const connectionTests: ConnectionTests = createConnectionTests({
    db,
    audit,
    clock,
    newId,
    authorize,
    permits,
    findAuthorStates: identity.findAuthorStates,
    openTextSecrets: secrets.openTextSecrets,
    tasks: delegates,
    mayReach,
    onError,
  });

  const { findReferences, requirePrincipals } = makePrincipals({
    permits,
    findAuthorStates: identity.findAuthorStates,
    identifySecrets: secrets.identify,
    findIds: {
      environment: environments.findIds.environment,
      service: environments.findIds.service,
      connector: connectors.findIds,
    },
  });
  const pipelines = makePipelines({
    db,
    audit,
    clock,
    newId,
    authorize,
    permits,
    dereference,
    revalidateActor: identity.revalidateActor,
    findReferences,
    requirePrincipals,
    checkScripts: deps.checkScripts,
    getProject: projects.getFor,
    exist: {
      environment: environments.exist.environment,
      service: environments.exist.service,
      connector: connectors.exist,
    },
    checkSecretUses: secrets.checkUses,
    noteSecrets: secrets.noteUses,
    noteConnectors: connectors.noteUses,
    recentRuns: (accountId, pipelineIds) => executions.recentRuns(accountId, pipelineIds),
  });
  const executions: Executions = makeExecutions({
    db,
    audit,
    clock,
    newId,
    log,
    authorize,
    findReferences,
    requirePrincipals,
    getProject: projects.getFor,
    pipelines,
    delegates,
    resolveForStep: secrets.resolveForStep,
    resolveLogin: secrets.resolveLogin,
    settingValue: settings.value,
    runPlace: environments.findRunPlace,
    isTriggerLive: (accountId, id) => triggers.isLive(accountId, id),
    onDeleted: (tx, accountId, ids) => triggers.forgetExecutions(tx, accountId, ids),
    onError,
  });
  const triggers = createTriggers({
    db,
    audit,
    clock,
    newId,
    authorize,
    permits,
    authenticate: identity.authenticate,
    revalidateActor: identity.revalidateActor,
    requireRunAs: identity.requireRunAs,
    findServiceAccount: (accountId, key) => findServiceAccount(db, accountId, key),
    settingValue: settings.value,
    countAccount: limits.countAccount,
    getPipeline: pipelines.get,
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

  /** A slice comes before the slices that its rows refer to. */
  const referenceHolders = [
    triggers,
    executions,
    pipelines,
    environments,
    connectors,
    secrets,
    settings,
    identity,
    access,
  ];

  return {
    access,
    identity,
    users,
    audits,
    projects,
    settings,
    limits,
    login,
    scim,
    secrets,
    connectors,
    connectionTests,
    environments,
    pipelines,
    executions,
    triggers,
    delegates,
  };
}
