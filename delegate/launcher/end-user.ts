type Means = {
  /** Returns how many processes of the user the search finds. */
  readonly find: () => number;
  /** Kills all processes of the user in one call. @throws when that cannot be done */
  readonly kill: () => void;
};

/**
 * Ends what a step with a user of its own may have left behind, where that needs no time: the search finds no process,
 * and one call kills those that hide from a search because they fork and exit.
 * @returns true: the user has no process any more. False: the delegate ends the rest, which gets TERM first.
 */
export function hasEndedUser({ find, kill }: Means): boolean {
  try {
    if (find() > 0) return false;
    kill();
    return find() === 0;
  } catch {
    // The delegate tries it again, and reports the error.
    return false;
  }
}
