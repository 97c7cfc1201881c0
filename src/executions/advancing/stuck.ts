import { isDatabaseError } from "../../platform/db/problems.ts";
import type { RunKey } from "../store/advance.ts";

/** An execution that cannot be advanced, as far as anybody can tell for good; the cause says why. */
export class Stuck extends Error {
  readonly run: RunKey;

  constructor(run: RunKey, cause: unknown) {
    super(`execution ${run.id} cannot be advanced`, { cause });
    this.run = run;
  }
}

/** Throws `error` again: as Stuck when it is this execution's own, as it is when the database is at fault. */
export function throwStuck(run: RunKey, error: unknown): never {
  throw isDatabaseError(error) ? error : new Stuck(run, error);
}
