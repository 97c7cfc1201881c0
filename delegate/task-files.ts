/** The files of a task's folder. Without other imports: the launcher needs it too. */
import { join } from "node:path";

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
