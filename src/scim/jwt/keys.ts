/**
 * Key sets for signatures, by their URL. The sender of a token has no influence: the URL is a setting; a fetch is
 * limited in time and bytes, and its address is checked like every user-supplied address; an unknown key causes at most
 * one fetch in a period, which concurrent requests share.
 */
import { importJWK, type CryptoKey, type JWK } from "jose";
import type { Clock } from "../../core/clock.ts";
import { createLru } from "../../platform/lru.ts";
import { outgoingGet } from "../../platform/outgoing/get.ts";
import { allowListedAddresses, allowPublicAddresses } from "../../platform/outgoing/reach.ts";
import type { lookup } from "node:dns";

/** A public key, and its allowed algorithms. */
export type Key = {
  readonly kid: string | undefined;
  readonly algorithms: readonly string[];
  readonly open: (algorithm: string) => Promise<CryptoKey | Uint8Array>;
};

export type KeySource = {
  /** The keys of the URL. `again` requests another fetch, since a token names an unknown key. */
  readonly keysOf: (url: string, again: boolean) => Promise<readonly Key[]>;
  /** Why the last fetch failed; undefined after a successful one, and before the first one. */
  readonly failureOf: (url: string) => string | undefined;
};

export type KeysDeps = {
  readonly clock: Clock;
  /** Allowed networks and hosts besides public addresses. */
  readonly allowed: readonly string[];
  /** Logs why a set could not be fetched. */
  readonly onFailure: (url: string, error: unknown) => void;
  readonly lookup?: typeof lookup;
};

const FETCH_MS = 5_000;
const MAX_BODY = 256 * 1024;
const MAX_KEYS = 100;
const MAX_SETS = 1_000;
/** How long a set is used without another fetch, in milliseconds. */
const FRESH_MS = 5 * 60_000;
/** How long a set is used while fetches fail. A withdrawn key is accepted no longer than that. */
const STALE_MS = 15 * 60_000;
/** The pause between two fetches, successful or not. */
const COOL_DOWN_MS = 30_000;

type CachedSet = {
  keys: readonly Key[];
  succeededAt: number;
  fetchedAt: number;
  fetching: Promise<void> | undefined;
  failure: string | undefined;
};

export function createKeys(deps: KeysDeps): KeySource {
  const { clock } = deps;
  const sets = createLru<string, CachedSet>(MAX_SETS);

  async function fetchInto(url: string, cached: CachedSet): Promise<void> {
    cached.fetchedAt = clock.now();
    try {
      cached.keys = await fetchKeys(deps, url);
      cached.succeededAt = clock.now();
      cached.failure = undefined;
    } catch (error) {
      cached.failure = error instanceof Error ? error.message : String(error);
      deps.onFailure(url, error);
    } finally {
      cached.fetching = undefined;
    }
  }

  return {
    keysOf: async (url, again) => {
      const cached = sets.get(url) ?? {
        keys: [],
        succeededAt: Number.NEGATIVE_INFINITY,
        fetchedAt: Number.NEGATIVE_INFINITY,
        fetching: undefined,
        failure: undefined,
      };
      sets.set(url, cached);
      const now = clock.now();
      const isDue = again || now - cached.succeededAt >= FRESH_MS;
      if (isDue && now - cached.fetchedAt >= COOL_DOWN_MS) cached.fetching ??= fetchInto(url, cached);
      // A request with a cached key does not wait for another fetch.
      if (isDue && cached.fetching) await cached.fetching;
      return now - cached.succeededAt < STALE_MS ? cached.keys : [];
    },
    failureOf: (url) => sets.get(url)?.failure,
  };
}

async function fetchKeys({ allowed, lookup }: KeysDeps, url: string): Promise<readonly Key[]> {
  // Keys without TLS can be forged in transit, so they are accepted only from configured internal addresses.
  const mayReach = url.toLowerCase().startsWith("https:")
    ? allowPublicAddresses(allowed)
    : allowListedAddresses(allowed);
  const signal = AbortSignal.timeout(FETCH_MS);
  const get = outgoingGet({ mayReach, signal, maxBody: MAX_BODY, ...(lookup ? { lookup } : {}) });
  const { status, body } = await get(url);
  if (status !== 200) throw new Error(`its status is ${status}`);
  return readKeys(parseJson(body));
}

/** The error of the parser would quote the answer. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error("it is not JSON", { cause: error });
  }
}

export function readKeys(set: unknown): readonly Key[] {
  const keys = (set as { readonly keys?: unknown } | null)?.keys;
  if (!Array.isArray(keys)) throw new Error("it contains no list of keys");
  if (keys.length > MAX_KEYS) throw new Error(`it contains more than ${MAX_KEYS} keys`);
  return keys.flatMap((key: JWK) => readKey(key) ?? []);
}

/** Undefined for keys that verify no signatures: secrets, private keys, keys for other uses. */
function readKey(jwk: JWK): Key | undefined {
  if (typeof jwk !== "object" || jwk === null) return undefined;
  const possible = algorithmsOf(jwk);
  const algorithms = jwk.alg === undefined ? possible : possible.filter((one) => one === jwk.alg);
  const isForThis = (jwk.use ?? "sig") === "sig" && (jwk.key_ops?.includes("verify") ?? true);
  if (algorithms.length === 0 || !isForThis || jwk.d !== undefined) return undefined;
  const opened = new Map<string, Promise<CryptoKey | Uint8Array>>();
  return {
    kid: typeof jwk.kid === "string" ? jwk.kid : undefined,
    algorithms,
    open: (algorithm) => {
      const known = opened.get(algorithm) ?? importJWK(jwk, algorithm);
      opened.set(algorithm, known);
      return known;
    },
  };
}

const RSA = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] as const;
const CURVES: Readonly<Record<string, string>> = { "P-256": "ES256", "P-384": "ES384", "P-521": "ES512" };

/** The algorithms follow from the key, not from the token. They never include HMAC or `none`. */
function algorithmsOf({ kty, crv }: JWK): readonly string[] {
  if (kty === "RSA") return RSA;
  if (kty === "EC") return [CURVES[crv ?? ""]].filter((one) => one !== undefined);
  return kty === "OKP" && crv === "Ed25519" ? ["EdDSA", "Ed25519"] : [];
}
