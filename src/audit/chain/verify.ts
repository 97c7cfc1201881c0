import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import { BEGINNING, contentOf, link, type Head, type NotedHead, type Seal } from "./chain.ts";
import * as store from "../store/chain.ts";
import { NO_TIMES, withTime, type DecreasedTime } from "./times.ts";

/** The first detected manipulation: of an entry, its seal, or the end or beginning of the chain. */
export type Broken = {
  readonly how: "changed" | "missing" | "inserted" | "reordered";
  /** Its number in the chain; null for an entry without a seal. */
  readonly sequence: number | null;
  readonly entryId: Uuid | null;
  readonly what: string;
};

/** The result of a verification. No manipulation was detected if `broken` is undefined. */
export type Verdict = {
  readonly accountId: Uuid;
  /**
   * The head that the verification computed; `at` is the latest time up to it, so that a later entry with an earlier
   * time does not make it older.
   */
  readonly head: NotedHead;
  readonly cut: Head;
  /** Unchanged entries in the chain. */
  readonly entries: number;
  /** Entries without a seal yet: those of the last moments. */
  readonly pending: number;
  /** Noted heads before the cut, whose entries were removed. */
  readonly unchecked: number;
  readonly broken: Broken | undefined;
  /**
   * Decreasing timestamps of entries behind all noted heads; earlier ones were reported when those heads were noted.
   */
  readonly back: DecreasedTime | undefined;
};

const BATCH_SIZE = 1_000;
const DAY_MS = 86_400_000;

/**
 * Verifies the chain of an account from its beginning. `noted` has heads noted outside of the database, `now` is in
 * epoch milliseconds.
 */
export async function verifyChain(
  db: Store,
  accountId: Uuid,
  { now, noted = [] }: { readonly now: number; readonly noted?: readonly NotedHead[] },
): Promise<Verdict> {
  const chain = await store.findChain(db, accountId);
  const cut = chain?.cut ?? BEGINNING;
  const walked = badBeginning(cut, noted) ?? (await walk(db, { accountId, cut }, noted));
  const unsealed = await store.unsealedOf(db, accountId, BATCH_SIZE);
  const unchecked = noted.filter(({ sequence }) => 0 < sequence && sequence < cut.sequence).length;
  const broken =
    walked.broken ??
    (await badCut(db, accountId, { cut, now, noted })) ??
    badEnd(walked.head, chain?.head ?? cut, noted) ??
    insertedOf(unsealed);
  const pending = unsealed.filter(({ late }) => !late).length;
  return { accountId, cut, pending, unchecked, ...walked, broken };
}

type Walked = Pick<Verdict, "head" | "entries" | "broken" | "back">;

/** Compares noted heads without a seal: the beginning of every chain, and the cut. */
function badBeginning(cut: Head, noted: readonly Head[]): Walked | undefined {
  const wrong = noted.find(({ sequence, hash }) =>
    [BEGINNING, cut].some((known) => known.sequence === sequence && !known.hash.equals(hash)),
  );
  if (!wrong) return undefined;
  const { sequence } = wrong;
  const broken = { how: "changed", sequence, entryId: null, what: OTHER_HASH } as const;
  return { head: { ...cut, at: 0 }, entries: 0, broken, back: undefined };
}

const OTHER_HASH = "the hash is not the one that was noted";

async function walk(
  db: Store,
  { accountId, cut }: { readonly accountId: Uuid; readonly cut: Head },
  noted: readonly Head[],
): Promise<Walked> {
  const judgedAfter = Math.max(0, ...noted.map(({ sequence }) => sequence));
  let head: NotedHead = { ...cut, at: 0 };
  let times = NO_TIMES;
  const walked = (broken?: Broken): Walked => ({
    head,
    entries: head.sequence - cut.sequence,
    broken,
    back: times.back,
  });
  for (;;) {
    const piece = await store.nextSeals(db, { accountId, after: head.sequence }, BATCH_SIZE);
    for (const one of piece) {
      const next = link(head, one.seal.content);
      const broken = (await findFault(db, { accountId, head }, one)) ?? findNotedMismatch(next, noted, one.seal);
      if (broken) return walked(broken);
      if (one.entry) times = withTime(times, { ...one.seal, ...one.entry }, next.sequence > judgedAfter);
      head = { ...next, at: times.latest?.at ?? 0 };
    }
    if (piece.length < BATCH_SIZE) return walked();
  }
}

/** The head before the seal that is verified. */
type Predecessor = { readonly accountId: Uuid; readonly head: Head };

async function findFault(
  db: Store,
  { accountId, head }: Predecessor,
  { seal, entry }: store.SealedEntry,
): Promise<Broken | undefined> {
  const { sequence, entryId } = seal;
  if (sequence !== head.sequence + 1)
    return { how: "missing", sequence: head.sequence + 1, entryId: null, what: "its seal is gone" };
  if (!entry) return { how: "missing", sequence, entryId, what: "the entry is gone" };
  if (!contentOf(entry).equals(seal.content))
    return { how: "changed", sequence, entryId, what: "the entry is not what was sealed" };
  if (link(head, seal.content).hash.equals(seal.hash)) return undefined;
  return { ...(await classifySeal(db, { accountId, head }, seal)), sequence, entryId };
}

/**
 * Classifies a seal that does not follow its predecessor. If a later seal does, this one was inserted or replaces
 * another.
 */
async function classifySeal(
  db: Store,
  { accountId, head }: Predecessor,
  seal: Seal,
): Promise<Pick<Broken, "how" | "what">> {
  for (let after = seal.sequence; ;) {
    const piece = await store.nextSeals(db, { accountId, after }, BATCH_SIZE);
    for (const { seal: later } of piece) {
      const here = link(head, later.content);
      if (here.hash.equals(seal.hash)) return REORDERED;
      if (!here.hash.equals(later.hash)) continue;
      const isNext = later.sequence === seal.sequence + 1;
      return isNext && !link(here, seal.content).hash.equals(seal.hash) ? PUT_BETWEEN : REORDERED;
    }
    if (piece.length < BATCH_SIZE) return { how: "changed", what: "the seal is not the one that was made" };
    after = piece.at(-1)?.seal.sequence ?? after;
  }
}

const REORDERED = { how: "reordered", what: "another entry was sealed in this place" } as const;
const PUT_BETWEEN = { how: "inserted", what: "the chain goes on without it" } as const;

const findNotedMismatch = (next: Head, noted: readonly Head[], { entryId }: Seal): Broken | undefined =>
  noted.some(({ sequence, hash }) => sequence === next.sequence && !hash.equals(next.hash))
    ? { how: "changed", sequence: next.sequence, entryId, what: OTHER_HASH }
    : undefined;

function badEnd(walked: Head, stored: Head, noted: readonly Head[]): Broken | undefined {
  const { sequence } = walked;
  const longest = Math.max(stored.sequence, ...noted.map((one) => one.sequence));
  if (sequence < longest)
    return { how: "missing", sequence: sequence + 1, entryId: null, what: `the chain had ${longest} entries` };
  if (sequence > stored.sequence)
    return { how: "inserted", sequence: stored.sequence + 1, entryId: null, what: "the chain ended before it" };
  if (walked.hash.equals(stored.hash)) return undefined;
  return { how: "changed", sequence, entryId: null, what: "the end of the chain is not the one that was stored" };
}

/**
 * Checks the cut against the retention's entry, which is in the chain itself. The retention removes nothing younger
 * than a day, so heads noted within the last day can be checked even if that entry is forged.
 */
async function badCut(
  db: Store,
  accountId: Uuid,
  { cut, now, noted }: { readonly cut: Head; readonly now: number; readonly noted: readonly NotedHead[] },
): Promise<Broken | undefined> {
  if (cut.sequence === 0) return undefined;
  const record = await store.findRetentionRecord(db, accountId, cut);
  const missing = (sequence: number, what: string): Broken => ({ how: "missing", sequence, entryId: null, what });
  // Written so that NaN fails, too.
  if (!(record && record.before <= Math.min(record.at, now) - DAY_MS))
    return missing(cut.sequence, "no retention has said that it took this away");
  const young = noted.find(({ sequence, at }) => sequence <= cut.sequence && at >= record.before);
  return young && missing(young.sequence, "it is gone, and was too young for the retention");
}

function insertedOf([first]: readonly store.Unsealed[]): Broken | undefined {
  if (!first?.late) return undefined;
  return { how: "inserted", sequence: null, entryId: first.id, what: "it came after those beside it were sealed" };
}
