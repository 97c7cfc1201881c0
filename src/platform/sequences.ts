/** One work made of several with the same arguments, each after the one before it. */
export const runSequentially =
  <A extends readonly unknown[]>(...all: readonly ((...args: A) => Promise<void>)[]) =>
  async (...args: A): Promise<void> => {
    for (const one of all) await one(...args);
  };

/** The same of works that answer lists: one list of all. */
export const concatResults =
  <A extends readonly unknown[], T>(...all: readonly ((...args: A) => Promise<readonly T[]>)[]) =>
  async (...args: A): Promise<readonly T[]> => {
    const found: T[] = [];
    for (const one of all) found.push(...(await one(...args)));
    return found;
  };
