/** The ways to borrow a connection: one for each share in use, and one without a limit. */
import { lendWithin, type Lend, type Share, type ShareLimit } from "./budget.ts";
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
    limitOf,
    isLost,
  }: {
    readonly limitOf: (share: Share) => Omit<ShareLimit, "onIdle">;
    readonly isLost: (error: unknown) => boolean;
  },
): (share: Share | undefined) => Lender {
  const lenderOf = (lend: Lend): Lender => ({ lend, tuples: readTogether(lend, isLost) });
  const unlimited = lenderOf(lendAny);
  // A lender exists while a connection is lent, so the number of callers does not matter.
  const shares = new Map<Share, Lender>();
  return (share) => {
    if (share === undefined) return unlimited;
    const known = shares.get(share);
    if (known) return known;
    const lender = lenderOf(lendWithin(lendAny, { ...limitOf(share), onIdle: () => void shares.delete(share) }));
    shares.set(share, lender);
    return lender;
  };
}
