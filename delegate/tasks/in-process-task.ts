/**
 * A task that the delegate runs in its own process, without a script. It has a folder like a script: the folder
 * prevents a second start, and holds the output and, as soon as it is known, the end. A delegate that restarts in
 * between cannot know how far the task came: it reports it as lost.
 */
import { randomBytes } from "node:crypto";
import type { SecretUses } from "../../protocol/work/secrets.ts";
import { codeOf, textOf } from "../fault.ts";
import { unstartedRunner } from "../launcher/client/recorded.ts";
import { openOutputChannel, type OutputChannel } from "../output/output-channel.ts";
import type { StepMask } from "../output/masking.ts";
import type { End, Lease } from "../output/shipper.ts";
import { appendToFile } from "../regular-file.ts";
import { claimForDelegate, type Meta } from "../task-folder/journal.ts";
import { paths } from "../task-folder/paths.ts";
import { readEnd, recordEnd } from "../task-folder/recorded-end.ts";
import type { Timers } from "../timers.ts";
import { describeCutOutput } from "./outcome.ts";
import { removeTaskFolders } from "./remove-task.ts";
import { ALREADY_STARTED, returnTask, startTimesOf, type TasksDeps } from "./start-task.ts";
import type { LeasedTask } from "./task.ts";

export type Surroundings = {
  readonly timers: Timers;
  /** Aborts when the task is cancelled or the delegate ends. */
  readonly signal: AbortSignal;
  /** In the order of the uses. */
  readonly secretValues: readonly string[];
  /** Adds a line to the output, masked. */
  readonly log: (line: string) => void;
  /** Masks a text of the result. */
  readonly mask: (text: string) => string;
};

export type InProcessStep = {
  readonly kind: string;
  readonly version: number;
  readonly uses: SecretUses;
  /** Resolves with the result, as this version of the kind defines it. */
  readonly run: (around: Surroundings) => Promise<CompletedResult>;
};

type CompletedResult = Extract<End["outcome"], { kind: "completed" }>["result"];

/** Starts the task, or returns why it did not start. */
export function startInProcessTask(deps: TasksDeps, lease: Lease, step: InProcessStep): LeasedTask | string {
  const { runtimeFolder, intervals, masking } = deps;
  const missing = step.uses.length > 0 ? runtimeFolder.findMissing(lease, step.uses) : undefined;
  if (missing !== undefined) return missing;
  const { timers } = intervals;
  const meta: Meta = {
    ...lease,
    cookie: randomBytes(24).toString("base64url"),
    ...{ receivedAt: timers.now(), receivedElapsed: timers.elapsed() },
    ...{ bootId: deps.bootId, owner: null, ending: "search", outputs: [] },
    kind: step.kind,
  };
  let folder: string | undefined;
  try {
    folder = deps.folders.create(meta, undefined);
    claimForDelegate(folder);
  } catch (error) {
    deps.log.error({ ...lease, error: textOf(error) }, "a task could not be prepared");
    if (["EEXIST", "ENOTEMPTY"].includes(codeOf(error) ?? "")) return ALREADY_STARTED;
    if (folder !== undefined) removeTaskFolders(deps, { lease, folder, owner: undefined, isClean: () => true });
    return returnTask(deps, lease, error);
  }
  const values = step.uses.map((_, nth) => runtimeFolder.valueOf(lease, nth));
  const refusal = masking.findRefusal(values);
  const state = createState(deps, { lease, folder, meta }, refusal ? [] : values);
  if (refusal) finish(state, { kind: "refused", message: refusal.message });
  else void runStep(state, step, values.map(String));
  return taskOf(state);
}

/** A task of an earlier delegate: its recorded end, or lost. */
export function recoverInProcessTask(
  deps: TasksDeps,
  task: { readonly lease: Lease; readonly folder: string; readonly meta: Meta },
): LeasedTask {
  const state = createState(deps, task, []);
  const end = readEnd(task.folder);
  if (end) report(state, end);
  else finish(state, { kind: "lost", message: RESTARTED });
  return taskOf(state);
}

const RESTARTED =
  "The delegate was restarted during the step. Whether the step had an effect is not known, and it is not repeated.";

type TaskState = {
  readonly deps: TasksDeps;
  readonly lease: Lease;
  readonly folder: string;
  readonly meta: Meta;
  readonly channel: OutputChannel;
  readonly stepMask: StepMask;
  readonly abortController: AbortController;
  phase: "running" | "ended" | "detached";
  /** The code of the error that has cut the output off. */
  cut: string | undefined;
};

function createState(
  deps: TasksDeps,
  task: Pick<TaskState, "lease" | "folder" | "meta">,
  values: readonly Buffer[],
): TaskState {
  return {
    ...{ ...task, deps },
    // Lines are masked before they are written.
    channel: openOutputChannel(deps, { ...task, masks: "none", runner: unstartedRunner }),
    stepMask: deps.masking.createStepMask(values.length > 0 ? values : "none"),
    abortController: new AbortController(),
    phase: "running",
    cut: undefined,
  };
}

const taskOf = (state: TaskState): LeasedTask => {
  const { lease, folder, channel, abortController } = state;
  return {
    lease,
    folder,
    owner: undefined,
    connect: channel.connect,
    disconnect: channel.disconnect,
    acknowledge: channel.acknowledge,
    hasEnded: () => state.phase === "ended",
    isClean: () => state.phase === "ended",
    cancel: async () => {
      finish(state, { kind: "cancelled", survivors: 0 });
      abortController.abort();
    },
    drop: async () => {
      channel.disconnect();
      finish(state, { kind: "cancelled", survivors: 0 });
      abortController.abort();
    },
    detach: () => {
      // Nothing is recorded any more: the next delegate reports the task.
      if (state.phase === "running") state.phase = "detached";
      abortController.abort();
      release(state);
      channel.disconnect();
    },
  };
};

async function runStep(state: TaskState, step: InProcessStep, secretValues: readonly string[]): Promise<void> {
  const { deps, lease, stepMask, abortController } = state;
  try {
    await stepMask.ready;
    const result = await step.run({
      timers: deps.intervals.timers,
      signal: abortController.signal,
      secretValues,
      log: (line) => addLine(state, line),
      mask: stepMask.maskText,
    });
    finish(state, { kind: "completed", version: step.version, result });
  } catch (error) {
    const message = stepMask.maskText(textOf(error));
    if (state.phase === "running") deps.log.error({ ...lease, error: message }, "a task failed unexpectedly");
    finish(state, { kind: "refused", message: `The delegate could not run the step: ${message}`.slice(0, 1024) });
  }
}

function addLine(state: TaskState, line: string): void {
  if (state.phase !== "running" || state.cut !== undefined) return;
  try {
    appendToFile(paths(state.folder).output, Buffer.from(`${state.stepMask.maskText(line)}\n`));
  } catch (error) {
    state.cut = codeOf(error) ?? "unknown";
  }
  state.channel.sendAvailable();
}

/** The only transition from running to ended. As with scripts, a task with an incomplete log fails. */
function finish(state: TaskState, outcome: End["outcome"]): void {
  if (state.phase !== "running") return;
  const { deps, meta, cut } = state;
  const isComplete = cut === undefined || outcome.kind === "cancelled";
  const { startedAt, startedElapsed } = startTimesOf(meta, deps);
  const { timers } = deps.intervals;
  const elapsed = startedElapsed === undefined ? timers.now() - startedAt : timers.elapsed() - startedElapsed;
  const end: End = {
    startedAt,
    endedAt: startedAt + Math.max(0, Math.round(elapsed)),
    outcome: isComplete ? outcome : { kind: "refused", message: describeCutOutput(cut) },
  };
  try {
    recordEnd(state.folder, end);
  } catch (error) {
    // The end is lost only if the delegate restarts before the server has it.
    deps.log.warn({ ...state.lease, error: textOf(error) }, "the end of a task could not be recorded");
  }
  report(state, end);
}

function report(state: TaskState, end: End): void {
  state.phase = "ended";
  release(state);
  state.channel.end(end);
}

function release({ channel, stepMask }: TaskState): void {
  channel.stop();
  stepMask.release();
}
