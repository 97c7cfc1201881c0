/**
 * The ways to borrow a connection: one for each share in use, one without a share, and one beside open transactions.
 */
import {
  currentShare,
  currentTurn,
  isBesideTransaction,
  lendWithin,
  type Lend,
  type Share,
  type ShareLimit,
} from "./budget.ts";
import type { AskFor } from "./lent.ts";
import { readTogether } from "./together.ts";

type Lender = {
  readonly lend: Lend;
  /** Statements of one turn share a connection only within the share: a slow one delays the others. */
  readonly tuples: AskFor;
};

export function createLenders(
  lendAny: Lend,
  {
    most,
    waitMs,
    limitOf,
    isLost,
  }: Pick<ShareLimit, "most" | "waitMs"> & {
    readonly limitOf: (share: Share) => Pick<ShareLimit, "most" | "waitMs" | "mostWaiting">;
    readonly isLost: (error: unknown) => boolean;
  },
): () => Lender {
  const lenderOf = (lend: Lend): Lender => ({ lend, tuples: readTogether(lend, isLost) });
  // More connections than these exist. Only statements beside a transaction and shared reads use the others: if each
  // connection had a transaction that waits for such a statement, none would end.
  const lendFree = lendWithin(lendAny, { most, waitMs, onIdle: () => {} });
  const [beside, unlimited] = [lenderOf(lendAny), lenderOf(lendFree)];
  // A lender exists while a connection is lent, so the number of callers does not matter.
  const shares = new Map<Share, Lender>();
  return () => {
    const share = currentShare();
    if (share === undefined) return isBesideTransaction() ? beside : unlimited;
    const known = shares.get(share);
    if (known) return known;
    const limit = { ...limitOf(share), onIdle: () => void shares.delete(share), turnOf: currentTurn };
    const lender = lenderOf(lendWithin(lendFree, limit));
    shares.set(share, lender);
    return lender;
  };
}
