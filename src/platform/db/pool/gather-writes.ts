import type { Lent } from "./lent.ts";

/**
 * Collects what one turn of the event loop sends on a connection into one write to its socket. A write wakes the
 * database, which takes more time than the rest of a short statement (decision 0016).
 */
export const gatherWrites = (lent: Pick<Lent, "client">): void => process.nextTick(bufferWrites(lent));

/** Buffers what is written to the connection. Returns a function that sends it. */
export function bufferWrites({ client }: Pick<Lent, "client">): () => void {
  const { stream } = (client as unknown as Inner).connection;
  stream.cork();
  return () => stream.uncork();
}

/** Members that the driver's types omit. */
type Inner = { readonly connection: { readonly stream: { readonly cork: () => void; readonly uncork: () => void } } };
