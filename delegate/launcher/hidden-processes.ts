/** Kills processes of an ended step that the delegate cannot find by searching. The launcher calls it (step.ts). */
type UserProcesses = {
  /** Returns how many processes of the user the search finds. */
  readonly find: () => number;
  /** Kills all processes of the user in one call. @throws when that cannot be done */
  readonly kill: () => void;
};

/**
 * Kills processes that hide from a search because they fork and exit, after a step with a user of its own. Kills
 * nothing if the search finds processes: the delegate terminates these, and they get TERM first.
 * @returns whether the user has no process any more
 */
export function killHiddenProcesses({ find, kill }: UserProcesses): boolean {
  try {
    if (find() > 0) return false;
    kill();
    return find() === 0;
  } catch {
    // The delegate tries it again, and reports the error.
    return false;
  }
}
