/** The files of a task's folder. Without other imports: the launcher needs it too. */
import { join } from "node:path";

/** Beginnings of the lines that the launcher and the delegate append to a step's output, which may be cut off. */
export const ADDED = {
  cut: "railhead: The output of this step exceeded ",
  outputsTooLarge: "railhead: the output variables are over ",
} as const;

/** Paths in a task's folder; not every task has all of these files. */
export const paths = (folder: string) => ({
  /** The journal of a task that no launcher has claimed. */
  prepared: join(folder, "prepared"),
  journal: join(folder, "journal"),
  /** How a task without a script ended. */
  end: join(folder, "end"),
  output: join(folder, "output"),
  /** The masked output, and the progress of the masking; for tasks with secrets only. */
  masked: join(folder, "masked"),
  maskedTo: join(folder, "masked-to"),
  work: join(folder, "work"),
  tmp: join(folder, "tmp"),
});
