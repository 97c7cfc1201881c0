type Results<Work extends readonly (() => Promise<unknown>)[]> = {
  readonly [n in keyof Work]: Awaited<ReturnType<Work[n]>>;
};

/**
 * Starts all work in its order and waits for all of it. Inside a transaction the statements then travel in one write,
 * and none follows after the transaction has ended. Throws the error of the first work that failed: a statement after a
 * failed one only reports that the transaction has failed.
 */
export async function sendTogether<const Work extends readonly (() => Promise<unknown>)[]>(
  ...work: Work
): Promise<Results<Work>> {
  const begun = work.map(async (start) => start());
  await Promise.allSettled(begun);
  return (await Promise.all(begun)) as Results<Work>;
}
