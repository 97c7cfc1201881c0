/** Those of the engine's `isFinal` as a list of SQL. */
export const FINAL_STATUSES = `('succeeded', 'ignored', 'failed', 'errored', 'aborted', 'expired', 'rejected', 'skipped')`;
