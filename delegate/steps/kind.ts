/** A kind of work that this delegate can run. */
import type { z } from "zod";
import type { Work } from "../../protocol/messages.ts";
import type { Lease } from "../output/shipper.ts";
import type { TasksDeps } from "../tasks/start-task.ts";
import type { LeasedTask } from "../tasks/task.ts";

export type StepKind = {
  readonly kind: string;
  /** The versions of the work that `start` reads. */
  readonly versions: readonly number[];
  /** The task has files: it is returned while the delegate is short of disk space. */
  readonly needsFiles: boolean;
  /** Starts the task, or returns why it did not start. */
  readonly start: (deps: TasksDeps, lease: Lease, work: Work) => LeasedTask | string;
};

/** Reads the work, and passes it on; returns what is wrong with it, without its values, which may be secret. */
export function readWork<T>(
  schema: z.ZodType<T>,
  work: Work,
  start: (checked: T) => LeasedTask | string,
): LeasedTask | string {
  const { data, error } = schema.safeParse(work);
  if (data !== undefined) return start(data);
  const wrong = error?.issues.flatMap((issue) =>
    (issue.code === "unrecognized_keys" ? issue.keys : [""]).map((key) =>
      [...issue.path, key].filter((part) => part !== "").join("."),
    ),
  );
  const text = `The delegate cannot read the task of kind '${work.kind}' version ${work.version}: ${wrong?.join(", ")}`;
  return `${text.slice(0, 1000)} is wrong.`;
}
