/**
 * The composition: the one file that knows everything. Each slice is built
 * once, low to high; what has to go up is passed down as a port.
 */
import { createAccess } from "./access/index.ts";
import { createAudit, createTrail } from "./audit/index.ts";
import { createConnectionTests, createConnectors, type ConnectionTests } from "./connectors/index.ts";
import type { Clock } from "./core/clock.ts";
import type { NewId } from "./core/ids.ts";
import { createDelegates, MAX_FRAME } from "./delegates/index.ts";
import { createEnvironments, type PlacesOf } from "./environments/index.ts";
import { makeExecutions, type Executions } from "./executions/index.ts";
import {
  anyActive,
  findServiceAccount,
  firstStart,
  holdRootKey,
  createIdentity,
  createUsers,
  type FirstFacts,
  type FirstStart,
  type OnLeave,
} from "./identity/index.ts";
import { makePipelines, makePrincipals, type CheckScripts } from "./pipelines/index.ts";
import type { OidcConfig } from "./platform/config/oidc.ts";
import type { KeyRing } from "./platform/crypto/key-ring.ts";
import { createSealer } from "./platform/crypto/seal.ts";
import type { Db } from "./platform/db/db.ts";
import { databaseProblem } from "./platform/db/problems.ts";
import { concatResults, runSequentially } from "./platform/sequences.ts";
import { addGraphql } from "./platform/graphql/endpoint.ts";
import { addApiDocs } from "./platform/http/api-docs.ts";
import { createHealth } from "./platform/http/health.ts";
import { createFormRooms } from "./platform/http/form.ts";
import { createHttp } from "./platform/http/server.ts";
import { createLimits } from "./limits/index.ts";
import { createLogin, type Lifetimes } from "./login/index.ts";
import { buildSchema } from "./schema.ts";
import { createScim } from "./scim/index.ts";
import { createSettings } from "./settings/index.ts";
import { hourly } from "./platform/jobs/hourly.ts";
import { every, together } from "./platform/jobs/every.ts";
import { reachPublic } from "./platform/outgoing/reach.ts";
import type { Log } from "./platform/log/log.ts";
import { DEFAULT_ORGANIZATION, eachOf, createProjects, type Projects } from "./projects/index.ts";
import { createSecrets, type SecretsDeps } from "./secrets/index.ts";
import { createTriggers } from "./triggers/index.ts";

export { DEFAULT_ORGANIZATION, type FirstStart };

export type PlatformDeps = {
  readonly db: Db;
  readonly keys: KeyRing;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  /** How callers reach the server; asked for once it listens. */
  readonly publicUrl: () => string;
  /** Names of the migrations that are still to come; for readiness. */
  readonly pendingMigrations: () => Promise<readonly string[]>;
  readonly oidc: OidcConfig | undefined;
  /** How long people stay signed in. */
  readonly sessions: Lifetimes;
  /** Bytes of a secret file at most. */
  readonly maxSecretFile: number;
  readonly secretCommands: SecretsDeps["commands"];
  /** Whether scripts parse; the server's own Bash unless told otherwise. */
  readonly checkScripts?: CheckScripts | undefined;
  /** Aborted once the end is near: whoever asks for readiness is told so at once, while requests are still served. */
  readonly leaving: AbortSignal;
  /** What the server itself may connect to besides public addresses (`parseReach`). */
  readonly allowPrivateAddresses: readonly string[];
  /** Networks of the proxies in front of the server (`parseNetwork`). */
  readonly trustedProxies: readonly string[];
};

export type Platform = Awaited<ReturnType<typeof buildPlatform>>;

const SWEEP_MS = 1_000;
const RETENTION_MS = 60_000;
const RECONCILE_MS = 5_000;
const CREDENTIALS_MS = 500;

/** Each slice, built once, low to high. */
function makeSlices(deps: PlatformDeps, onError: (error: unknown) => void) {
  const { db, clock, newId, log } = deps;
  const audit = createAudit({ clock, newId });
  const access = createAccess({
    ...{ db, audit, clock, newId, anyActive, findServiceAccount, onError },
    requireScope: (actor, place) => projects.requireScope(actor, place),
  });
  const { authorize, leaveGroups } = access;
  const base = { db, audit, authorize, leaveGroups, clock, newId };
  const identity = createIdentity({
    ...{ ...base, ...access, onError },
    requireScope: (actor, scope) => projects.requireScope(actor, scope),
    standingSessions: (sessions, now) => login.standing(sessions, now),
  });
  const revokeAccess: OnLeave = concatResults(access.revokeAccess, (tx, user) => login.endSessions(tx, user));
  const users = createUsers({
    ...{ ...base, ...identity, ...access, revokeAccess },
    onEmailChanged: (tx, user) => login.endAllowance(tx, user),
    lockedAmong: (account, people) => login.locked(account, people),
  });
  const projects: Projects = createProjects({ ...base, emptyScope: eachOf(() => referenceHolders) });
  const settings = createSettings({ ...base, ...access, requireScope: projects.requireScope });
  const audits = createTrail({ ...base, settingValue: settings.value, onError });
  const scim = createScim({ ...base, ...deps, ...access, ...identity, users, settings: settings.current });
  const limits = createLimits({ db, clock, settingValue: settings.value });
  const mayReach = reachPublic(deps.allowPrivateAddresses);
  const login = createLogin({ ...base, ...deps, ...access, ...identity, mayReach, lifetimes: deps.sessions });
  const scoped = { ...base, permits: access.permits, requireScope: projects.requireScope };
  const environments = createEnvironments(scoped);
  const secrets = secretsOver(deps, { ...scoped, stillActor: identity.stillActor }, projects, environments.placesOf);
  const connectors = createConnectors({ ...scoped, requireSecret: secrets.require, noteSecretUses: secrets.noteUses });
  const delegates = createDelegates({
    ...{ ...base, log, onError },
    openConnection: (delivery) => connectionTests.openSecrets(delivery),
    openSecrets: (delivery) => executions.openSecrets(delivery),
    currentSettings: settings.current,
  });
  const connectionTests: ConnectionTests = createConnectionTests({
    ...{ ...scoped, ...identity, openTextSecrets: secrets.openTextSecrets, tasks: delegates, mayReach, onError },
  });
  const findIds = { ...environments.findIds, connector: connectors.findIds };
  const principals = makePrincipals({ ...access, ...identity, identifySecrets: secrets.identify, findIds });
  const pipelines = makePipelines({
    ...{ ...base, ...principals, ...identity, permits: access.permits, checkScripts: deps.checkScripts },
    getProject: projects.getFor,
    exist: { ...environments.exist, connector: connectors.exist },
    checkSecretUses: secrets.checkUses,
    noteSecrets: secrets.noteUses,
    noteConnectors: connectors.noteUses,
    recentRuns: (accountId, pipelineIds) => executions.recentRuns(accountId, pipelineIds),
  });
  const executions: Executions = makeExecutions({
    ...{ ...base, ...principals, getProject: projects.getFor, pipelines, delegates, log, onError },
    ...{ resolveForStep: secrets.resolveForStep, resolveLogin: secrets.resolveLogin, settingValue: settings.value },
    runPlace: environments.runPlace,
    isTriggerLive: (accountId, id) => triggers.isLive(accountId, id),
    onDeleted: (tx, accountId, ids) => triggers.forgetExecutions(tx, accountId, ids),
  });
  const triggers = createTriggers({
    ...base,
    permits: access.permits,
    authenticate: identity.authenticate,
    settingValue: settings.value,
    countAccount: limits.countAccount,
    getPipeline: pipelines.get,
    prepareRun: pipelines.prepareRun,
    tryInputs: pipelines.tryInputs,
    mergeInputSets: pipelines.mergeInputSets,
    startExecution: executions.start,
    getExecution: executions.getSummary,
    requireRunAs: identity.requireRunAs,
    findServiceAccount: (accountId, key) => findServiceAccount(db, accountId, key),
    ...{ adoptPipeline: pipelines.adopt, adoptInputSet: pipelines.adoptInputSet },
    ...{ adoptionReads: pipelines.adoptionReads, stillActor: identity.stillActor },
    refused: audits.refused,
    sealer: createSealer(deps.keys, "webhook tokens"),
    holdRootKey: holdRootKey(deps.keys),
    publicUrl: deps.publicUrl,
    onError,
  });
  // Whoever names another goes first: the higher slice before the lower.
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
    ...{ access, identity, users, audits, projects, settings, limits, login, scim, secrets, connectors },
    ...{ connectionTests, environments, pipelines, executions, triggers, delegates },
  };
}

export async function buildPlatform(deps: PlatformDeps) {
  const { db, clock, newId, log } = deps;
  const onError = (error: unknown): void => log.error({ err: error }, "something failed that nobody waited for");
  const stopping = new AbortController();
  const slices = makeSlices(deps, onError);
  const { access, identity, projects, limits, login, secrets, connectionTests, delegates, executions, triggers } =
    slices;

  const schema = buildSchema(slices);
  const httpDeps = {
    log,
    authenticate: identity.authenticate,
    watch: identity.watch,
    sessionOf: login.sessionOf,
    count: limits.count,
    now: deps.clock.now,
    explain: databaseProblem,
    refused: slices.audits.refused,
    stopping: stopping.signal,
    maxFrame: MAX_FRAME,
    trustedProxies: deps.trustedProxies,
    forms: createFormRooms(deps.maxSecretFile),
  };
  const http = await createHttp(httpDeps);
  const health = createHealth({ ...deps, stopping: stopping.signal });
  http.add([...health.routes, ...Object.values(slices).flatMap((slice) => ("routes" in slice ? slice.routes : []))]);
  addGraphql(http.app, schema, httpDeps);
  addApiDocs(http.app);
  login.serve(http.app);
  const served = delegates.serve(http.app, withTests(executions.ports, connectionTests));

  const lookAtCredentials = async (): Promise<void> => {
    await identity.look();
    await delegates.revokeDue();
  };
  const sweepOthers = async (): Promise<void> => {
    await executions.fireTimers();
    await executions.deleteIdempotencyKeys();
    await connectionTests.sweep();
    for (const slice of [limits, slices.audits]) await slice.sweep();
    await lookAtCredentials();
    await login.sweep();
  };
  const retain = hourly(clock, [triggers.retain, executions.retain]);
  /** Everything that is looked at again and again; tests call it instead of waiting. */
  const sweep = async (): Promise<void> => {
    await triggers.sweep();
    await sweepOthers();
    await retain();
  };

  return {
    http,
    schema,
    sweep,
    reconcile: served.reconcile,
    renewLocalPass: delegates.renewLocalPass,
    startLocalDelegate: delegates.startLocal,
    /** From now on /health/ready says so; to be called last. */
    ready: health.ready,
    /** Makes the account of an empty database. `announce` gets what only this call knows, before the commit. */
    firstStart: (announce: (facts: FirstFacts) => void): Promise<FirstStart> =>
      firstStart({
        db,
        clock,
        newId,
        keys: deps.keys,
        makeAdministrator: access.makeAdministrator,
        seedAccount: runSequentially(projects.seedAccount, secrets.seedAccount),
        announce,
      }),
    /** What is sealed under root keys. */
    sealed: [secrets.sealed, triggers.sealed],
    startJobs: () =>
      together([
        every(SWEEP_MS, sweepOthers, onError),
        // Apart, since what a webhook runs may take long to prepare.
        every(SWEEP_MS, triggers.sweep, onError),
        every(RETENTION_MS, retain, onError),
        every(RECONCILE_MS, served.reconcile, onError),
        // Apart, since a database that does not answer holds up everything else.
        every(RECONCILE_MS, async () => served.closeDead(), onError),
        // Apart from the sweep, which may take its time: what has ended is over within a second.
        every(CREDENTIALS_MS, lookAtCredentials, onError),
      ]),
    /** Takes no new work: streams end, requests are refused, delegates are let go. */
    async stop(): Promise<void> {
      stopping.abort();
      for (const one of [served, executions, connectionTests, access, identity]) one.stop();
      await http.app.close();
      await slices.audits.stop();
    },
  };
}

type TaskPorts = Executions["ports"];

/** A task belongs to an execution; otherwise to the test of a connection. */
const withTests = ({ advancing, onOutput }: TaskPorts, tests: Pick<ConnectionTests, "lock">): TaskPorts => ({
  onOutput,
  advancing: (work) =>
    advancing((tx, lockRun) =>
      work(tx, async (accountId, id) => (await lockRun(accountId, id)) ?? tests.lock(tx, accountId, id)),
    ),
});

const secretsOver = (
  { keys, secretCommands: commands, maxSecretFile }: PlatformDeps,
  base: Omit<SecretsDeps, "requireScope" | "keys" | "commands" | "maxContent" | "facts">,
  { requireScope, applicationsExist }: Projects,
  placesOf: PlacesOf,
): ReturnType<typeof createSecrets> =>
  createSecrets({
    ...base,
    requireScope,
    keys,
    commands,
    maxContent: maxSecretFile,
    facts: {
      applications: applicationsExist,
      environments: async (actor, ids) => {
        const places = [...(await placesOf(actor, ids)).values()];
        return new Map(places.map(({ id, projectId, production }) => [id, { applicationId: projectId, production }]));
      },
      usable: async (actor, { applications, environments }) =>
        new Set([
          ...(await applicationsExist(actor, applications, "core_environment_access")),
          ...(await placesOf(actor, environments, "used")).keys(),
        ]),
    },
  });
