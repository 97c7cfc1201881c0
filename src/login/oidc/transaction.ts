/**
 * The state of a sign-in at the provider, sealed in a cookie of its own. An answer counts only in the browser that
 * asked, and the server stores nothing for users who never return.
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
  /** The session that links an identity; undefined for a sign-in. */
  readonly linking: { readonly userId: Uuid; readonly sessionId: Uuid } | undefined;
  readonly until: number;
};

/** How long a user may take at the provider. */
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
    /** Undefined if the text was not sealed here, or is too old. */
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

/** A path of this server for every input, so that sign-in never redirects to another site. */
export function localPathOf(asked: unknown): string {
  if (typeof asked !== "string" || asked.length > LONGEST_PATH || !asked.startsWith("/")) return HERE;
  const base = "http://here.invalid";
  const url = URL.parse(asked, base);
  return url?.origin === base && !url.pathname.startsWith("//") ? `${url.pathname}${url.search}${url.hash}` : HERE;
}
