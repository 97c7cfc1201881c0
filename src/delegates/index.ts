/** Delegates: registration, sessions and the queue of tasks. Knows tasks, not pipelines. */
import type { FastifyInstance } from "fastify";
import type { NewId, Uuid } from "../core/ids.ts";
import type { Clock } from "../core/clock.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize } from "../access/index.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import type { CurrentSettings } from "../settings/index.ts";
import type { Log } from "../platform/log/log.ts";
import { approveDelegate, deleteDelegate } from "./registry/approval.ts";
import { CANCEL_CHANNEL, createCancels } from "./tasks/cancel.ts";
import { createConnections } from "./session/connections.ts";
import { LOST_AFTER_MS } from "./delegate.ts";
import { createDelegateFeeds } from "./following/delegate-feeds.ts";
import { followDelegates } from "./following/follow-delegates.ts";
import { deliver } from "./tasks/deliver.ts";
import { createDispatch, READY_CHANNEL } from "./tasks/dispatch.ts";
import {
  localDelegateDir,
  startLocalDelegate,
  type LocalDelegate,
  type LocalDelegateConfig,
} from "./registry/local-delegate.ts";
import { localClaimFile, renewLocalPass, type LocalClaimFile } from "./registry/local-pass.ts";
import { createSilenceTracker } from "./session/silence-tracker.ts";
import { createReconcile } from "./tasks/reconcile.ts";
import { getDelegate } from "./registry/get.ts";
import { listDelegates } from "./registry/list.ts";
import { listDelegateTasks, type FindRunningSteps } from "./registry/list-tasks.ts";
import { getStartCommand } from "./registry/start-command.ts";
import { delegateRoutes } from "./rest/delegate.ts";
import { listRoutes } from "./rest/registry.ts";
import { tagRoutes } from "./rest/tags.ts";
import { tokenRoutes } from "./rest/tokens.ts";
import { createStateRefresher, STATES_CHANNEL } from "./session/state-refresher.ts";
import { changeTags, getTags } from "./registry/tags.ts";
import { createSessions } from "./session/sessions.ts";
import { addDelegateSocket } from "./socket.ts";
import { existsConnected } from "./store/delegates.ts";
import { findLease } from "./store/leases.ts";
import { anyUnfinished, delegatesOf, deleteTasks, openRuns } from "./store/runs.ts";
import { waitingTasks } from "./store/waiting.ts";
import type { Advancing, OnTaskOutput, OpenTestSecrets, ResolveSecrets } from "./task.ts";
import {
  createDelegateToken,
  deleteDelegateToken,
  getDelegateToken,
  listDelegateTokens,
  revokeDelegateToken,
  revokeDue,
} from "./registry/tokens.ts";

export { MAX_FRAME } from "../../protocol/messages.ts";
export type { LocalClaim, LocalClaimFile } from "./registry/local-pass.ts";
export { addDelegateTypes } from "./graphql.ts";
export type { CancelRun, CancelTask } from "./tasks/cancel.ts";
export type { Enqueue } from "./tasks/dispatch.ts";
export type { FindRunningSteps, RunningStep } from "./registry/list-tasks.ts";
export type { WaitingTask } from "./store/waiting.ts";
export type {
  Advancing,
  EndedTask,
  OnTaskOutput,
  ResolvedSecrets,
  ResolveSecrets,
  SecretDelivery,
  TaskEnd,
} from "./task.ts";

export type DelegatesDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly openTestSecrets: OpenTestSecrets;
  readonly resolveSecrets: ResolveSecrets;
  readonly currentSettings: CurrentSettings;
  readonly findRunningSteps: FindRunningSteps;
  /** The address at which callers reach the server. */
  readonly publicUrl: () => string;
  /** A task of the run was taken by a delegate, or is ready again. */
  readonly onLeaseChanged: (runId: Uuid) => void;
  readonly onError: (error: unknown) => void;
};

/** Operations on delegates and their tokens, the queue of tasks, and `serve`. */
export type Delegates = ReturnType<typeof createDelegates>;

/** Accepts no delegate before `serve`. */
export function createDelegates(deps: DelegatesDeps) {
  const { db } = deps;
  const connections = createConnections();
  const sessions = createSessions();
  const deliverTo = deliver({ ...deps, findLease: (lease) => findLease(db, lease) });
  const dispatch = createDispatch({ ...deps, sessions, deliver: deliverTo });
  const cancels = createCancels({ ...deps, sessions });
  const stateRefresher = createStateRefresher({ ...deps, connections, sessions, dispatch });
  const delegateFeeds = createDelegateFeeds(deps);
  const get = getDelegate(deps);
  const operations = {
    createToken: createDelegateToken(deps),
    listTokens: listDelegateTokens(deps),
    getToken: getDelegateToken(deps),
    revokeToken: revokeDelegateToken({ ...deps, onTokenRevoked: stateRefresher.changed }),
    deleteToken: deleteDelegateToken(deps),
    getTags: getTags(deps),
    changeTags: changeTags({ ...deps, onTagsChanged: ({ id }) => stateRefresher.applyChange(id) }),
    get,
    list: listDelegates(deps),
    listTasks: listDelegateTasks({ ...deps, get }),
    follow: followDelegates({ ...deps, delegateFeeds }),
    getStartCommand: getStartCommand(deps),
    approve: approveDelegate({ ...deps, onStatusChanged: stateRefresher.changed }),
    remove: deleteDelegate({ ...deps, onStatusChanged: stateRefresher.changed }),
  };

  return {
    routes: [
      ...tagRoutes(operations),
      ...tokenRoutes(operations),
      ...listRoutes(operations),
      ...delegateRoutes(operations),
    ],
    ...operations,
    enqueue: dispatch.enqueue,
    /** Revokes the tokens that have expired. The credentials job calls it. */
    revokeDue: revokeDue({ ...deps, onTokenRevoked: stateRefresher.changed }),
    cancel: cancels.cancel,
    cancelRun: cancels.cancelRun,
    /** Finds the changes of delegates that are followed. */
    pollFollowed: async (): Promise<void> => delegateFeeds.wake(),
    renewLocalPass: (accountId: Uuid, file: LocalClaimFile) => renewLocalPass(deps, accountId, file),
    startLocal: ({ url, accountId, ...config }: LocalDelegateConfig): LocalDelegate =>
      startLocalDelegate({
        url,
        ...localDelegateDir(config),
        stepPath: config.stepPath,
        knownHosts: config.knownHosts,
        pass: () => renewLocalPass(deps, accountId, localClaimFile(config.dataDir)),
        log: deps.log,
      }),
    /** Whether any replica has a delegate that can take a task with these selectors. */
    isThereFor: (accountId: Uuid, selectors: readonly string[]): Promise<boolean> =>
      existsConnected(db, accountId, { selectors, since: deps.clock.now() - LOST_AFTER_MS }),
    ...createRunOperations(deps),
    /**
     * Starts to serve delegates; the callbacks receive output and ends of tasks. Returns the slow polls and a
     * function that stops.
     */
    serve(app: FastifyInstance, callbacks: { onOutput: OnTaskOutput; advancing: Advancing }) {
      const serving = {
        ...deps,
        ...callbacks,
        connections,
        sessions,
        dispatch,
        deliver: deliverTo,
        stateRefresher,
        silenceTracker: createSilenceTracker(deps.clock),
      };
      addDelegateSocket(app, serving);
      const stops = [
        db.listen(READY_CHANNEL, dispatch.readyNotified),
        db.listen(STATES_CHANNEL, (payload) => {
          stateRefresher.notified(payload);
          delegateFeeds.wake();
        }),
        db.listen(CANCEL_CHANNEL, cancels.notified),
      ];
      return {
        ...createReconcile(serving),
        stop: (): void => {
          for (const stop of stops) stop();
          dispatch.stop();
          delegateFeeds.stop();
          for (const connection of connections.all()) connection.end();
        },
      };
    },
  };
}

/** Reads and removes tasks of runs for the slices that start them. */
function createRunOperations({ db, clock }: Pick<DelegatesDeps, "db" | "clock">) {
  return {
    /** The tasks of a run, or of some of its nodes, that no delegate has taken yet, with their selectors. */
    waitingTasks: (accountId: Uuid, runId: Uuid, nodes?: readonly string[]) =>
      waitingTasks(db, { accountId, runId, nodes }, clock.now() - LOST_AFTER_MS),
    delegatesOf: (accountId: Uuid, runId: Uuid, nodes?: readonly string[]) =>
      delegatesOf(db, { accountId, runId, nodes }),
    /**
     * Removes the tasks of runs inside the caller's transaction. Returns false and removes nothing while one has not
     * ended.
     */
    forgetRuns: async (tx: Tx, accountId: Uuid, runIds: readonly Uuid[]): Promise<boolean> => {
      if (await anyUnfinished(tx, accountId, runIds)) return false;
      await deleteTasks(tx, accountId, runIds);
      return true;
    },
    /** Filters the runs that have an unfinished task. */
    openRuns: (accountId: Uuid, runIds: readonly Uuid[]) => openRuns(db, accountId, runIds),
    /** Removes the tasks of runs whose tasks have all ended, inside the caller's transaction. Returns these runs. */
    forgetEndedRuns: async (tx: Tx, accountId: Uuid, runIds: readonly Uuid[]): Promise<readonly Uuid[]> => {
      const open = new Set(await openRuns(tx, accountId, runIds));
      const ended = runIds.filter((id) => !open.has(id));
      await deleteTasks(tx, accountId, ended);
      return ended;
    },
  };
}
