/**
 * Runs work that reads the current state, one run at a time. A call during a run starts one more run after it,
 * because the current one may have read too early; one further run serves all calls of the meantime.
 */
export function coalesceRuns(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let again = false;

  async function repeat(): Promise<void> {
    do {
      again = false;
      await run();
    } while (again);
  }

  return () => {
    again = true;
    return (running ??= repeat().finally(() => (running = undefined)));
  };
}
