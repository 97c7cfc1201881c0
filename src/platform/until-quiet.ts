/**
 * One run at a time of what looks at the state of things. Whoever asks while one is under way gets another after it, for
 * that one may have looked too early; however many ask meanwhile, one is enough for all.
 */
export function untilQuiet(run: () => Promise<void>): () => Promise<void> {
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
