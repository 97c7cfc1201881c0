/** Runs: started, advanced by the engine, logged, listed, aborted. */
import type { NewId, Uuid } from "../core/ids.ts";
import type { Json, TaskOutcome } from "../engine/index.ts";
import type { Clock } from "../core/clock.ts";
import type { Audit } from "../audit/index.ts";
import type { Advancing as AdvancingTasks, Delegates, EndedTask, TaskEnd } from "../delegates/index.ts";
import type { Authorize } from "../access/index.ts";
import type { Mail } from "../mail/index.ts";
import type { Pipelines } from "../pipelines/index.ts";
import type { HoldRootKey } from "../identity/index.ts";
import type { Sealer } from "../platform/crypto/seal.ts";
import type { Db } from "../platform/db/db.ts";
import type { Log } from "../platform/log/log.ts";
import type { GetProject } from "../projects/index.ts";
import { runSequentially } from "../platform/sequences.ts";
import type { SettingValue } from "../settings/index.ts";
import { engine } from "../steps/engine.ts";
import { makeAdvance, type Advance } from "./advancing/advance.ts";
import { makeGetNodeInputs, makeSubmitInputs } from "./inputs/submit.ts";
import { makeInterruptExecution } from "./interrupt.ts";
import type { AnswerServices } from "./advancing/perform.ts";
import { makeLockToAnswer } from "./answers.ts";
import { createPlans } from "./advancing/plans.ts";
import { makeAdvancing } from "./advancing/quarantine.ts";
import { makeGetDetail, makeGetNode, type FindLockReasons } from "./detail.ts";
import type { FindProductionEnvironments } from "./deployments/measures.ts";
import { createReports } from "./reports.ts";
import { makeEmptyScope } from "./empty-scope.ts";
import {
  makeGetExecution,
  makeGetInputs,
  makeGetListed,
  makeGetSummary,
  makeListExecutions,
  makeListOutlines,
  makeListProjectExecutions,
} from "./get.ts";
import { createExecutionFeeds } from "./following/execution-feeds.ts";
import { makeFollowExecution } from "./following/follow-execution.ts";
import { makeFollowProject } from "./following-project/follow-project.ts";
import { createProjectFeeds } from "./following-project/project-feeds.ts";
import { logTailOf } from "./logs/tail.ts";
import { makeDeleteIdempotencyKeys, makeStartOnce } from "./idempotency.ts";
import { makeLogService } from "./logs/service.ts";
import { makeDownloadLines, makeDownloadLog, makeFollowLog, makeTakeOutput } from "./logs/logs.ts";
import { listGroups } from "./logs/viewer/list-groups.ts";
import { readLines } from "./logs/viewer/read-lines.ts";
import { searchLog } from "./logs/viewer/search-log.ts";
import { makeGetNodeNames } from "./node-names.ts";
import { openSecrets, type OpenSecretsDeps } from "./open-secrets.ts";
import { findQueueReason } from "./queue/reason.ts";
import { createStartQueue, type StartQueue } from "./queue/serve.ts";
import { makeRecentRuns } from "./recent.ts";
import { makeExecutionRetention, type OnExecutionsDeleted } from "./retention.ts";
import { makeRerunPipeline } from "./rerun.ts";
import { executionRoutes } from "./rest.ts";
import { findRunningSteps } from "./running-steps.ts";
import { makeGetCanRetry, makeGetRetryHistory, makeGetRetryStages } from "./retry/read.ts";
import { makeRetryExecution } from "./retry/retry.ts";
import { makeStartPipelineById } from "./start-by-id.ts";
import { makeRunPipeline } from "./start.ts";
import { makeStartExecution } from "./starts/start-execution.ts";
import { makeStartTransaction } from "./starts/start-transaction.ts";
import { resolveSecretOutput, sealOutputs } from "./secret-outputs/seal.ts";
import { makeFireTimers } from "./timers.ts";
import { makeListStages, makeReadStages } from "./stages.ts";
import { makeWakeups } from "./wakeups.ts";

export type { Json } from "../engine/index.ts";
export type { AnswerService, LockService } from "./advancing/perform.ts";
export type { AnswerableExecution, LockToAnswer } from "./answers.ts";
export type { FindLockReasons } from "./detail.ts";
export { createMailService, reportMailEnd } from "./mails.ts";
export type { ExecutionSummary } from "./execution.ts";
export { addExecutionTypes, type TriggerNode } from "./graphql.ts";
export { addExecutionMutations } from "./graphql-mutations.ts";
export type { GetListed, GetSummary } from "./get.ts";
export type { GetNodeNames } from "./node-names.ts";
export type { StartTransaction } from "./starts/start-transaction.ts";
export { executionSummary } from "./wire/rest.ts";
/** Advances executions without tasks and followers, for the benchmark of the cost of an event. */
export const createAdvance = (): Pick<Advance, "lock"> =>
  makeAdvance({
    ...{ engine, plans: createPlans(), services: {}, wakeups: { wake: () => {} } },
    sealOutputs: async (_tx, _execution, event) => event,
    clock: { now: Date.now, elapsed: () => performance.now() },
    onEnded: () => {},
    enqueue: async () => {},
    cancel: async () => "over",
  });
export { createSealedOutputs } from "./secret-outputs/sealed-outputs.ts";
/** For checks of the stored executions. */
export { readExecution } from "./read-execution.ts";
/** For the benchmark of logs. */
export { appendLog } from "./store/logs.ts";
/** The statement behind GraphQL `executions`, for the benchmark's floor. */
export { listStatement } from "./store/lists.ts";

export type ExecutionsDeps = Omit<OpenSecretsDeps, "audit" | "plans" | "resolveSecretOutput"> & {
  /** Seals output variables of the type Secret. */
  readonly sealer: Sealer;
  readonly holdRootKey: HoldRootKey;
  /** What answers nodes that wait for something beside a task. */
  readonly services: AnswerServices;
  readonly findLockReasons: FindLockReasons;
  readonly findDelayedMails: Mail["findDelayed"];
  readonly findProductionEnvironments: FindProductionEnvironments;
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly getProject: GetProject;
  readonly pipelines: Pick<
    Pipelines,
    "get" | "prepareRun" | "mergeInputSets" | "readInputTemplate" | "listStageChoices"
  >;
  readonly delegates: Pick<
    Delegates,
    "enqueue" | "cancel" | "cancelRun" | "waitingTasks" | "delegatesOf" | "forgetRuns" | "openRuns" | "forgetEndedRuns"
  >;
  readonly settingValue: SettingValue;
  /** Removes what refers to executions that the retention deletes. */
  readonly onDeleted: OnExecutionsDeleted;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly onError: (error: unknown) => void;
};

export type Executions = ReturnType<typeof makeExecutions>;

/** A guest that answers a script with the end of something else. */
const NO_SCRIPT = { kind: "refused", message: "the delegate did not say how the script ended" } as const;

function outcomeOf(end: TaskEnd): TaskOutcome {
  if (end.kind === "tested") return NO_SCRIPT;
  // The delegates slice has checked that it is JSON; the step type reads it.
  return end.kind === "completed" ? { kind: "result", result: end.result as Json } : end;
}

const delegateOf = ({ delegateId: id, delegateName: name }: EndedTask) =>
  id !== null && name !== undefined ? { delegate: { id, name } } : {};

export function makeExecutions(deps: ExecutionsDeps) {
  const wakeups = makeWakeups({ ...deps, origin: deps.newId() });
  const plans = createPlans();
  const onEnded = (accountId: Uuid): void => startQueue.onEnded(accountId);
  const advance = makeAdvance({
    ...{ ...deps, ...deps.delegates, engine, plans, wakeups, onEnded },
    sealOutputs: sealOutputs(deps),
  });
  const advancing = makeAdvancing({ ...deps, ...deps.delegates, advance, wakeups, onEnded });
  const startQueue: StartQueue = createStartQueue({ ...deps, advancing, plans });
  const { prepareRun, mergeInputSets, readInputTemplate, listStageChoices, get: getPipeline } = deps.pipelines;
  const startExecution = makeStartExecution({ ...deps, advance, wakeups, plans, serveQueue: startQueue.serveSoon });
  const get = makeGetExecution(deps);
  const getListed = makeGetListed(deps);
  const readStages = makeReadStages(deps);
  const startOnce = makeStartOnce(deps);
  const startTransaction = makeStartTransaction({ ...deps, startExecution });
  const run = makeRunPipeline({ ...deps, prepareRun, mergeInputSets, startTransaction, startOnce });
  const queueReason = findQueueReason(deps);
  const detail = makeGetDetail({ ...deps, get, findQueueReason: queueReason });
  const node = makeGetNode({ ...deps, plans, detail });
  const nodeInputs = makeGetNodeInputs({ node });
  const feeds = createExecutionFeeds({ ...deps, wakeups, findQueueReason: queueReason });
  const projectFeeds = createProjectFeeds({ ...deps, wakeups, readStages });
  const downloadLines = makeDownloadLines({ ...deps, get, wakeups });
  const verbs = {
    run,
    rerun: makeRerunPipeline({ ...deps, get, run }),
    listStageChoices,
    retry: makeRetryExecution({ ...deps, get, run }),
    retryStages: makeGetRetryStages({ ...deps, get }),
    retryHistory: makeGetRetryHistory({ ...deps, getListed }),
    canRetry: makeGetCanRetry({ ...deps, getListed }),
    startById: makeStartPipelineById({ ...deps, run }),
    get,
    getListed,
    getSummary: makeGetSummary({ ...deps, getListed, readStages }),
    detail,
    node,
    nodeInputs,
    submitInputs: makeSubmitInputs({ ...deps, nodeInputs, advancing }),
    nodeNames: makeGetNodeNames({ get }),
    inputs: makeGetInputs({ ...deps, get, getPipeline, readInputTemplate }),
    list: makeListExecutions(deps),
    stages: makeListStages({ readStages }),
    listOutlines: makeListOutlines(deps),
    listOfProject: makeListProjectExecutions({ ...deps, readStages }),
    ...createReports({ ...deps, getListed, findQueueReason: queueReason }),
    interrupt: makeInterruptExecution({ ...deps, get, advancing }),
    downloadLog: makeDownloadLog({ ...deps, get, wakeups }),
    downloadLines,
    logService: makeLogService({ db: deps.db, get, downloadLines }),
    followLog: makeFollowLog({ ...deps, get, wakeups }),
    readLines: readLines({ ...deps, get }),
    searchLog: searchLog({ ...deps, get }),
    listGroups: listGroups({ ...deps, get }),
    followExecution: makeFollowExecution({ ...deps, getListed, feeds }),
    followProject: makeFollowProject({ ...deps, readStages, projectFeeds }),
  };
  // What delegates say of a task becomes an event of its execution.
  const advancingTasks: AdvancingTasks = (work) =>
    advancing((tx, lock) =>
      work(tx, async (accountId, id) => {
        const run = await lock({ accountId, id });
        if (!run) return undefined;
        return async (task, end) => {
          const { nodeId: node, attempt } = task;
          const outcome = outcomeOf(end);
          const log = await logTailOf(tx, task, outcome);
          const known = { ...(log && { log }), ...delegateOf(task) };
          await run.give({ kind: "taskEnded", at: deps.clock.now(), node, attempt, outcome, ...known });
        };
      }),
    );
  return {
    ...verbs,
    routes: executionRoutes({ ...deps, ...verbs }),
    startTransaction,
    findRunningSteps: findRunningSteps({ ...deps, plans }),
    lockToAnswer: makeLockToAnswer({ advancing, clock: deps.clock }),
    openSecrets: openSecrets({ ...deps, plans, resolveSecretOutput: resolveSecretOutput(deps) }),
    /** For the lists of pipelines. */
    recentRuns: makeRecentRuns(deps),
    ports: { advancing: advancingTasks, onOutput: makeTakeOutput({ wakeups, clock: deps.clock }) },
    emptyScope: makeEmptyScope(deps),
    /** Deletes what is old or too much, a bounded part; answers whether nothing is left. */
    retain: makeExecutionRetention(deps),
    deleteIdempotencyKeys: makeDeleteIdempotencyKeys(deps),
    fireTimers: makeFireTimers({ ...deps, advancing }),
    startQueued: startQueue.sweep,
    /** The task of a node was taken by a delegate or given back, which followers see. */
    onTaskLeaseChanged: (executionId: Uuid): void => wakeups.wake(executionId),
    /** Finds what followers were not woken for. */
    pollFollowed: runSequentially(feeds.poll, projectFeeds.poll),
    stop: (): void => {
      startQueue.stop();
      feeds.stop();
      projectFeeds.stop();
      wakeups.stop();
    },
  };
}
