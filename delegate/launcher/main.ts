/**
 * The launcher: one process beside the delegate that starts the steps, copies
 * their output into files and records how they ended. It outlives the delegate:
 * when its channel closes it goes on until its last step has ended. The files
 * are all that a later delegate knows about its steps.
 *
 * It holds the files of all its tasks, so no step may look into it: with steps
 * of other users the kernel keeps them apart, otherwise a namespace of
 * processes does (docs/decisions/0019-step-isolation.md).
 *
 * Arguments: the files that are mounted over /etc/passwd and /etc/group, if there are any.
 *
 * Everything is synchronous on purpose. While a user is killed, the process
 * has that user's rights (kill-user.ts), and nothing else may happen meanwhile.
 */
import { closeInheritedDescriptors } from "../processes/inherited-descriptors.ts";
import { createFifos } from "./fifos.ts";
import { killUser } from "./kill-user.ts";
import type { FromLauncher, ToLauncher } from "./messages.ts";
import { keepMounted } from "./mounted-files.ts";
import { type Step, startStep } from "./step.ts";
import { systemTimers } from "../timers.ts";

/** How often a launcher without a delegate checks whether a task with open output was collected. */
const ORPHAN_CHECK_MS = 1_000;

closeInheritedDescriptors();
process.title = "railhead launcher";
// A signal to the delegate's process group must not end the recording of steps.
for (const signal of ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"] as const) process.on(signal, () => {});

const [passwd, group] = process.argv.slice(2);
const restoreMounts = keepMounted(
  passwd === undefined || group === undefined
    ? []
    : [
        { source: passwd, target: "/etc/passwd" },
        { source: group, target: "/etc/group" },
      ],
);
const steps = new Map<string, Step>();
let fifos: ReturnType<typeof createFifos> | undefined;

process.on("message", (message: ToLauncher) => handleMessage(message));
process.on("disconnect", () => {
  fifos?.close();
  // From now on only steps keep the process running.
  setInterval(releaseCollected, ORPHAN_CHECK_MS).unref();
});

function handleMessage(message: ToLauncher): void {
  switch (message.kind) {
    case "setup":
      fifos = createFifos(message.fifos, message.mkfifo);
      return;
    case "start":
      return start(message.order);
    case "kill":
      return send({ kind: "killed", id: message.id, error: runAndDescribeError(() => killInTime(message)) });
    case "release":
      steps.get(message.key)?.release();
      return send({ kind: "released", key: message.key });
  }
}

function killInTime({ uid, until }: Extract<ToLauncher, { kind: "kill" }>): void {
  if (systemTimers.elapsed() > until) throw new Error("the launcher was held up for too long");
  killUser(uid);
}

function start(order: Extract<ToLauncher, { kind: "start" }>["order"]): void {
  const { key } = order;
  const error = runAndDescribeError(() => {
    if (!fifos) throw new Error("the launcher was not set up");
    restoreMounts();
    const step = startStep(order, fifos.take, {
      exited: (end) => send({ kind: "exited", key, ...end }),
      unrecorded: (words) => send({ kind: "unrecorded", key, words }),
      failed: (why) => send({ kind: "failed", key, message: why }),
      finished: () => void steps.delete(key),
    });
    steps.set(key, step);
    if (step.process) send({ kind: "started", key, ...step.process });
  });
  if (error !== undefined) send({ kind: "failed", key, message: `The delegate could not start the script: ${error}` });
}

/** Runs the function; returns its error message or undefined. */
function runAndDescribeError(run: () => void): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function send(message: FromLauncher): void {
  // Without a delegate the records in the files are enough.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

function releaseCollected(): void {
  for (const step of steps.values()) if (step.isCollected()) step.release();
}
