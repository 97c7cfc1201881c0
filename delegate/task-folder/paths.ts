/** The files of a task's folder. Without other imports: the launcher needs it too. */
import { join } from "node:path";

/** How the lines begin that the launcher and the delegate add to a step's output. They follow an output that may be cut off. */
export const ADDED = {
  cut: "railhead: The output of this step exceeded ",
  outputsTooLarge: "railhead: the output variables are over ",
} as const;

export const paths = (folder: string) => ({
  /** The journal of a task that no launcher has claimed. */
  prepared: join(folder, "prepared"),
  journal: join(folder, "journal"),
  output: join(folder, "output"),
  /** The output as it leaves, and how far it has come; of tasks with secrets only. */
  masked: join(folder, "masked"),
  maskedTo: join(folder, "masked-to"),
  work: join(folder, "work"),
  tmp: join(folder, "tmp"),
});
