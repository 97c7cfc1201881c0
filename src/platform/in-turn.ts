/** One work made of several with the same arguments, each after the one before it. */
export const inTurn =
  <A extends readonly unknown[]>(...all: readonly ((...args: A) => Promise<void>)[]) =>
  async (...args: A): Promise<void> => {
    for (const one of all) await one(...args);
  };
