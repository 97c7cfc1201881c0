/** What runs: pipelines, their executions, and the delegates that execute tasks and test connections. */
import { createApprovals, createApprovalService } from "../approvals/index.ts";
import { createConnectionTests, type ConnectionTests } from "../connectors/index.ts";
import { createDelegates } from "../delegates/index.ts";
import { createMailService, makeExecutions, type Executions, type ExecutionsDeps } from "../executions/index.ts";
import { holdRootKey } from "../identity/index.ts";
import { createLocks, type Locks } from "../locks/index.ts";
import type { Mail } from "../mail/index.ts";
import { makePipelines, makePrincipals, type CountTriggers } from "../pipelines/index.ts";
import { createSealer } from "../platform/crypto/seal.ts";
import { allowPublicAddresses } from "../platform/outgoing/reach.ts";
import type { Projects } from "../projects/index.ts";
import { triggerDocument } from "../triggers/index.ts";
import type { AccountAdministration } from "./account.ts";
import type { Configuration } from "./configuration.ts";
import type { CommonDeps } from "./deps.ts";
import type { IdentityAndAccess } from "./identity-and-access.ts";

export type Running = ReturnType<typeof createRunning>;

type RunningDeps = Pick<IdentityAndAccess, "access" | "identity"> &
  Pick<AccountAdministration, "settings"> &
  Configuration &
  // Callbacks to the triggers, which are built later.
  Pick<ExecutionsDeps, "isTriggerLive" | "onDeleted"> & {
    readonly countTriggers: CountTriggers;
    readonly projects: Projects;
    readonly mail: Mail;
  };

export function createRunning(deps: CommonDeps, slices: RunningDeps) {
  const { db, audit, clock, newId, onError } = deps;
  const { access, identity, settings, projects, environments, secrets, mail } = slices;
  const { authorize, permits } = access;

  const delegates = createDelegates({
    db,
    audit,
    clock,
    newId,
    log: deps.log,
    authorize,
    openTestSecrets: (delivery) => connectionTests.openSecrets(delivery),
    resolveSecrets: (delivery) => executions.openSecrets(delivery),
    currentSettings: settings.current,
    findRunningSteps: (actor, nodes) => executions.findRunningSteps(actor, nodes),
    publicUrl: deps.publicUrl,
    onLeaseChanged: (executionId) => executions.onTaskLeaseChanged(executionId),
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
    mayReach: allowPublicAddresses(deps.allowPrivateAddresses),
    onError,
  });

  const principals = makePrincipals({
    permits,
    findAuthorStates: identity.findAuthorStates,
    identifySecrets: secrets.identify,
    findTargets: environments.findTargets,
    findUsedConnectors: slices.connectors.findUsed,
  });
  const pipelines = createPipelines(deps, slices, {
    principals,
    recentRuns: (accountId, pipelineIds) => executions.recentRuns(accountId, pipelineIds),
    countTriggers: slices.countTriggers,
  });
  const locks: Locks = createLocks({
    db,
    clock,
    lockToAnswer: (key, work) => executions.lockToAnswer(key, work),
    getExecution: (actor, id, scope) => executions.getListed(actor, id, scope),
    onError,
  });
  const executions: Executions = makeExecutions({
    services: { approval: createApprovalService({ clock, newId }), lock: locks.service, mail: createMailService(mail) },
    findLockReasons: locks.findReasons,
    findDelayedMails: mail.findDelayed,
    findProductionEnvironments: environments.findProduction,
    sealer: createSealer(deps.keys, "secret outputs"),
    holdRootKey: holdRootKey(deps.keys),
    db,
    audit,
    clock,
    newId,
    log: deps.log,
    authorize,
    findReferences: principals.findReferences,
    requirePrincipals: principals.requirePrincipals,
    getProject: projects.getFor,
    pipelines,
    delegates,
    resolveForStep: secrets.resolveForStep,
    resolveLogin: secrets.resolveLogin,
    resolveCluster: slices.connectors.resolveCluster,
    settingValue: settings.value,
    runPlace: environments.findRunPlace,
    isTriggerLive: slices.isTriggerLive,
    onDeleted: slices.onDeleted,
    onError,
  });

  const approvals = createApprovals({
    db,
    audit,
    clock,
    getExecution: executions.getListed,
    getNodeNames: executions.nodeNames,
    getProject: projects.getFor,
    lockToAnswer: executions.lockToAnswer,
  });

  return { delegates, connectionTests, pipelines, executions, approvals, locks };
}

type PipelinesDeps = {
  readonly principals: ReturnType<typeof makePrincipals>;
  readonly recentRuns: Executions["recentRuns"];
  readonly countTriggers: CountTriggers;
};

function createPipelines(
  deps: CommonDeps,
  slices: RunningDeps,
  { principals, recentRuns, countTriggers }: PipelinesDeps,
) {
  const { db, audit, clock, newId } = deps;
  const { access, identity, projects, environments, secrets, connectors } = slices;
  const { authorize, permits, dereference } = access;
  return makePipelines({
    db,
    audit,
    clock,
    newId,
    authorize,
    permits,
    dereference,
    revalidateActor: identity.revalidateActor,
    findReferences: principals.findReferences,
    requirePrincipals: principals.requirePrincipals,
    checkScripts: deps.checkScripts,
    getProject: projects.getFor,
    exist: {
      environment: environments.exist.environment,
      service: environments.exist.service,
      connector: connectors.exist,
    },
    findUsedConnectors: connectors.findUsed,
    checkSecretUses: secrets.checkUses,
    noteSecrets: secrets.noteUses,
    noteConnectors: connectors.noteUses,
    noteTargets: environments.noteUses,
    recentRuns,
    countTriggers,
    triggerDocument,
  });
}
