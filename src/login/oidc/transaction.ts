/**
 * What a browser takes along to the provider and back: sealed in a cookie of its own, so that an answer counts in the
 * browser that asked, and nothing is kept for those who never come back.
 */
import type { Clock } from "../../core/clock.ts";
import type { Uuid } from "../../core/ids.ts";
import type { KeyRing } from "../../platform/crypto/key-ring.ts";
import { createSealer } from "../../platform/crypto/seal.ts";
import type { Checks } from "./provider.ts";

export type Transaction = Checks & {
  readonly accountId: Uuid;
  /** A path of this server. */
  readonly returnTo: string;
  /** The session of the person who links an identity; undefined for whoever signs in. */
  readonly linking: { readonly userId: Uuid; readonly sessionId: Uuid } | undefined;
  readonly until: number;
};

/** So long somebody may take at the provider. */
export const TRANSACTION_MS = 10 * 60_000;

const IDENTITY = "sign-in";
const LONGEST = 4_000;

export function createTransactions({ keys, clock }: { readonly keys: KeyRing; readonly clock: Clock }) {
  const sealer = createSealer(keys, "single sign-on");
  return {
    seal: (transaction: Omit<Transaction, "until">): string => {
      const until = clock.now() + TRANSACTION_MS;
      return sealer.seal(JSON.stringify({ ...transaction, until }), IDENTITY, keys.preferred.id).toString("base64url");
    },
    /** Undefined for what is none of ours, or too old. */
    open: (sealed: string | undefined): Transaction | undefined => {
      if (sealed === undefined || sealed.length > LONGEST) return undefined;
      try {
        const opened = JSON.parse(sealer.open(Buffer.from(sealed, "base64url"), IDENTITY)) as Transaction;
        return opened.until > clock.now() ? opened : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

export type Transactions = ReturnType<typeof createTransactions>;

const HERE = "/login";
const LONGEST_PATH = 1_000;

/** A path of this server, whatever was asked for: nobody is led elsewhere after signing in. */
export function pathHere(asked: unknown): string {
  if (typeof asked !== "string" || asked.length > LONGEST_PATH || !asked.startsWith("/")) return HERE;
  const base = "http://here.invalid";
  const url = URL.parse(asked, base);
  return url?.origin === base && !url.pathname.startsWith("//") ? `${url.pathname}${url.search}${url.hash}` : HERE;
}
