/** Messages between the delegate and its launcher, over Node's channel between parent and child. */

/** A step to start. All paths are absolute. */
export type StepOrder = {
  /** Names the task in all messages about it. */
  readonly key: string;
  /** The task's folder, with the file `prepared`. */
  readonly folder: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Undefined: the launcher's own user. */
  readonly ids: { readonly uid: number; readonly gid: number } | undefined;
  /** Bytes of output that are stored. */
  readonly maxStepOutput: number;
  /** The user in `ids` is the step's alone, and none of its processes can change it: the launcher ends them. */
  readonly endsUser: boolean;
};

export type ToLauncher =
  /** The first message. `fifos`: an existing folder of this launcher alone. */
  | { readonly kind: "setup"; readonly fifos: string; readonly mkfifo: string }
  | { readonly kind: "start"; readonly order: StepOrder }
  /**
   * Sends KILL to every process of the user at once. Answered by `killed`. `until`: on the machine's monotonic clock in
   * milliseconds; later another task may have the user.
   */
  | { readonly kind: "kill"; readonly id: number; readonly uid: number; readonly until: number }
  /** The task's processes have ended: reads the rest of its output and closes it. Answered by `released`. */
  | { readonly kind: "release"; readonly key: string };

export type FromLauncher =
  /** `startTime` as the kernel counts it: with it the pid names one process for ever. */
  | { readonly kind: "started"; readonly key: string; readonly pid: number; readonly startTime: string }
  /** The step was not started, or its status could not be recorded. */
  | { readonly kind: "failed"; readonly key: string; readonly message: string }
  /** Words of the journal for which the disk has no space. They are tried again. */
  | { readonly kind: "unrecorded"; readonly key: string; readonly words: string }
  /**
   * Its status is in the journal, or `unrecorded`. `isClean`: its user has no process. `isComplete`: its output file is
   * complete, and the launcher has nothing to release.
   */
  | { readonly kind: "exited"; readonly key: string; readonly isClean: boolean; readonly isComplete: boolean }
  | { readonly kind: "released"; readonly key: string }
  | { readonly kind: "killed"; readonly id: number; readonly error: string | undefined };
