/** Runs: started, advanced by the engine, logged, listed, aborted. */
import type { NewId } from "../core/ids.ts";
import type { Clock } from "../core/clock.ts";
import type { Audit } from "../audit/index.ts";
import type { Delegates } from "../delegates/index.ts";
import type { Authorize } from "../identity/index.ts";
import type { PrepareRun } from "../pipelines/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { GetProject } from "../projects/index.ts";
import { makeAbortExecution } from "./abort.ts";
import { makeAdvance } from "./advance.ts";
import { makeGetDetail } from "./detail.ts";
import { makeGetExecution, makeListExecutions, makeListProjectExecutions } from "./get.ts";
import { makeDownloadLog, makeFollowLog, makeTakeOutput } from "./logs.ts";
import { executionRoutes } from "./rest.ts";
import { makeRunPipeline, makeStartExecution } from "./start.ts";
import { makeFireTimers } from "./timers.ts";
import { makeWakeups } from "./wakeups.ts";

export type { Json } from "../engine/index.ts";
export type { ExecutionDetail } from "./execution.ts";
export { addExecutionTypes } from "./graphql.ts";
export type { GetExecution } from "./get.ts";
export type { StartExecution } from "./start.ts";
export { executionSummary } from "./wire/rest.ts";
/** The statement behind GraphQL `executions`, for the benchmark's floor. */
export { listStatement } from "./store/executions.ts";

export type ExecutionsDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly getProject: GetProject;
  readonly prepareRun: PrepareRun;
  readonly delegates: Pick<Delegates, "enqueue" | "cancel" | "waitingTasks" | "delegatesOf">;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly onError: (error: unknown) => void;
};

export type Executions = ReturnType<typeof makeExecutions>;

export function makeExecutions(deps: ExecutionsDeps) {
  const wakeups = makeWakeups({ ...deps, origin: deps.newId() });
  const advance = makeAdvance({ ...deps, ...deps.delegates, wakeups });
  const startExecution = makeStartExecution({ ...deps, advance });
  const get = makeGetExecution(deps);
  const verbs = {
    run: makeRunPipeline({ ...deps, advance, startExecution }),
    get,
    detail: makeGetDetail({ get, delegates: deps.delegates }),
    list: makeListExecutions(deps),
    listOfProject: makeListProjectExecutions(deps),
    abort: makeAbortExecution({ ...deps, get, advance }),
    downloadLog: makeDownloadLog({ ...deps, get, wakeups }),
    followLog: makeFollowLog({ ...deps, get, wakeups }),
  };
  return {
    ...verbs,
    routes: executionRoutes(verbs),
    /** Starts inside the caller's transaction. */
    start: startExecution,
    ports: { lockRun: advance.lockRun, onOutput: makeTakeOutput({ wakeups }) },
    fireTimers: makeFireTimers({ ...deps, advance }),
    stop: (): void => wakeups.stop(),
  };
}
