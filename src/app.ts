/** The server as a whole: its slices, the HTTP server in front of them and the jobs behind them. */
import { createSlices, type Slices } from "./composition/slices.ts";
import type { PlatformDeps } from "./composition/deps.ts";
import type { ConnectionTests } from "./connectors/index.ts";
import { MAX_FRAME } from "./delegates/index.ts";
import type { Executions } from "./executions/index.ts";
import { firstStart, type FirstFacts, type FirstStart } from "./identity/index.ts";
import { databaseProblem } from "./platform/db/problems.ts";
import { addGraphql } from "./platform/graphql/endpoint.ts";
import { addApiDocs } from "./platform/http/response/api-docs.ts";
import { createFormRooms } from "./platform/http/request/form.ts";
import { createHealth } from "./platform/http/health.ts";
import { createOpenAnswers } from "./platform/http/response/open-answers.ts";
import { addWebPages } from "./platform/http/response/web-pages.ts";
import { createHttp } from "./platform/http/server.ts";
import { every, combineJobs } from "./platform/jobs/every.ts";
import { hourly } from "./platform/jobs/hourly.ts";
import { runSequentially } from "./platform/sequences.ts";
import { DEFAULT_ORGANIZATION } from "./projects/index.ts";
import { buildSchema } from "./schema.ts";

export { DEFAULT_ORGANIZATION, type FirstStart, type PlatformDeps };

/** The whole server, as main.ts and the tests of scenarios run it. */
export type Platform = Awaited<ReturnType<typeof buildPlatform>>;

const SWEEP_MS = 1_000;
/** How often a replica checks whether its hourly jobs are due. */
const HOURLY_CHECK_MS = 60_000;
const RECONCILE_MS = 5_000;
const CREDENTIALS_MS = 500;

/** Builds the server; the caller listens, then calls `firstStart`, `startJobs` and `ready`, in this order. */
export async function buildPlatform(deps: PlatformDeps) {
  const { log } = deps;
  const onError = (error: unknown): void => log.error({ err: error }, "background work failed");
  const stopping = new AbortController();
  const slices = createSlices(deps, onError);
  const { access, identity, audits, connectionTests, delegates, executions, locks, mail, secrets, triggers } = slices;
  const { http, schema, health, openAnswers } = await createInterface(deps, slices, stopping.signal);
  const served = delegates.serve(http.app, withTests(executions.ports, connectionTests));
  const sweeps = createSweeps(deps, slices);

  return {
    http,
    schema,
    /** Runs each sweep once; tests call it instead of waiting for the jobs. */
    sweep: (): Promise<void> => {
      openAnswers.closeStalled();
      return sweeps.sweepAll();
    },
    reconcile: served.reconcile,
    renewLocalPass: delegates.renewLocalPass,
    startLocalDelegate: delegates.startLocal,
    /** Makes /health/ready report success from now on. The caller calls it last. */
    ready: health.ready,
    /** Creates the account in an empty database. `announce` gets its password and API key before the commit. */
    firstStart: (announce: (facts: FirstFacts) => void): Promise<FirstStart> =>
      firstStart({
        db: deps.db,
        clock: deps.clock,
        newId: deps.newId,
        keys: deps.keys,
        createAdministrator: access.createAdministrator,
        seedAccount: runSequentially(slices.projects.seedAccount, secrets.seedAccount),
        announce,
      }),
    /** The stores of what is sealed under root keys. */
    sealed: [secrets.sealed, triggers.sealed, mail.sealed],
    startJobs: () =>
      combineJobs([
        every(SWEEP_MS, sweeps.sweepMost, onError),
        // A separate job, because preparing the runs of webhooks can take long.
        every(SWEEP_MS, triggers.sweep, onError),
        every(SWEEP_MS, mail.sendDue, onError),
        // A separate job, because granting many locks can take long.
        every(SWEEP_MS, locks.sweep, onError),
        every(SWEEP_MS, executions.pollFollowed, onError),
        every(SWEEP_MS, delegates.pollFollowed, onError),
        every(HOURLY_CHECK_MS, sweeps.hourlyJobs, onError),
        every(RECONCILE_MS, served.reconcile, onError),
        // A separate job, because a database that does not answer blocks the others.
        every(RECONCILE_MS, async () => served.closeDead(), onError),
        every(RECONCILE_MS, async () => openAnswers.closeStalled(), onError),
        // A separate job, because sweeps can take long and a revoked credential ends within a second.
        every(CREDENTIALS_MS, sweeps.sweepCredentials, onError),
      ]),
    /** Stops taking work: ends streams, refuses requests and closes the connections of delegates. */
    async stop(): Promise<void> {
      stopping.abort();
      for (const part of [served, executions, triggers, connectionTests, access, identity]) part.stop();
      await Promise.all([http.app.close(), mail.stop(), locks.stop()]);
      await audits.stop();
    },
  };
}

/** The HTTP server with all routes, the GraphQL endpoint, the API documentation and the login pages. */
async function createInterface(deps: PlatformDeps, slices: Slices, stopping: AbortSignal) {
  const schema = buildSchema(slices);
  const openAnswers = createOpenAnswers(deps.clock.elapsed);
  const httpDeps = {
    log: deps.log,
    authenticate: slices.identity.authenticate,
    watch: slices.identity.watch,
    checkBeforeCommit: slices.identity.checkBeforeCommit,
    sessionOf: slices.login.sessionOf,
    sessionOfLink: slices.login.sessionOfLink,
    count: slices.limits.count,
    now: deps.clock.now,
    explain: databaseProblem,
    refused: slices.audits.recordRefused,
    openAnswers,
    stopping,
    maxFrame: MAX_FRAME,
    trustedProxies: deps.trustedProxies,
    forms: createFormRooms(deps.maxSecretFile),
  };
  const http = await createHttp(httpDeps);
  const { pendingMigrations, leaving, clock } = deps;
  const health = createHealth({ pendingMigrations, leaving, stopping, elapsed: clock.elapsed });
  http.add([...health.routes, ...Object.values(slices).flatMap((slice) => ("routes" in slice ? slice.routes : []))]);
  addGraphql(http.app, schema, httpDeps);
  addApiDocs(http.app);
  slices.login.registerPages(http.app, { home: deps.webFolder && "/" });
  if (deps.webFolder) addWebPages(http.app, deps.webFolder);
  return { http, schema, health, openAnswers };
}

/** The background work. Every replica runs all of it. */
function createSweeps({ clock }: PlatformDeps, slices: Slices) {
  const { identity, audits, limits, login, connectionTests, delegates, executions, locks, mail, triggers } = slices;

  async function sweepCredentials(): Promise<void> {
    await identity.checkWatched();
    await delegates.revokeDue();
  }

  /** All sweeps but those of triggers and of stored history. */
  async function sweepMost(): Promise<void> {
    await executions.fireTimers();
    await executions.startQueued();
    await executions.deleteIdempotencyKeys();
    await connectionTests.sweep();
    await limits.sweep();
    await audits.sweep();
    await sweepCredentials();
    await login.sweep();
  }

  /** Deletion of old deliveries and executions. Each replica runs it once an hour, on its own. */
  const hourlyJobs = hourly(clock, [triggers.retain, executions.retain]);

  async function sweepAll(): Promise<void> {
    await triggers.sweep();
    await sweepMost();
    await executions.pollFollowed();
    await delegates.pollFollowed();
    await locks.sweep();
    await locks.idle();
    await mail.sendDue();
    await mail.idle();
    await hourlyJobs();
  }

  return { sweepCredentials, sweepMost, hourlyJobs, sweepAll };
}

type TaskPorts = Executions["ports"];

/** A task belongs to an execution or, if there is no such execution, to a connection test. */
const withTests = ({ advancing, onOutput }: TaskPorts, tests: Pick<ConnectionTests, "lock">): TaskPorts => ({
  onOutput,
  advancing: (work) =>
    advancing((tx, lockRun) =>
      work(tx, async (accountId, id) => (await lockRun(accountId, id)) ?? tests.lock(tx, accountId, id)),
    ),
});
