/**
 * The identity provider from the configuration. Discovery finds its addresses and keys. openid-client checks its
 * answers (state, nonce, PKCE, issuer of the answer by RFC 9207, signature, audience, times).
 */
import { hash, randomBytes } from "node:crypto";
import type * as Oidc from "openid-client";
import type { OidcConfig } from "../../platform/config/oidc.ts";
import { sendRequest } from "../../platform/outgoing/get.ts";
import type { MayReach } from "../../platform/outgoing/reach.ts";

/** The authenticated user. Only issuer and subject identify a user. */
export type Claims = {
  readonly issuer: string;
  readonly subject: string;
  /**
   * The address, if the provider says that it is verified. Reads the userinfo endpoint if the token does not say so.
   */
  readonly verifiedEmail: () => Promise<string | undefined>;
};

/** Values that an answer of the provider has to match. */
export type Checks = { readonly state: string; readonly nonce: string; readonly verifier: string };

export type Provider = {
  readonly name: string;
  /** The address of the provider's page. */
  readonly addressOf: (checks: Checks, redirectUri: string) => Promise<string>;
  /**
   * Checks the answer in the address and exchanges its code. Rejects if it does not match the checks or is not the
   * provider's.
   */
  readonly redeem: (answer: URL, checks: Checks) => Promise<Claims>;
};

const TIMEOUT_SECONDS = 10;
/** How long discovered addresses are cached. openid-client reloads the keys when an unknown key appears. */
const DISCOVERED_MS = 60 * 60_000;
/** Allowed difference between the clocks. */
const TOLERANCE_SECONDS = 60;

const random = (): string => randomBytes(32).toString("base64url");
export const newChecks = (): Checks => ({ state: random(), nonce: random(), verifier: random() });

/** openid-client is loaded on first use: most servers never need it. */
type Client = { readonly oidc: typeof Oidc; readonly config: Oidc.Configuration };

export function createProvider(config: OidcConfig, mayReach: MayReach, now: () => number): Provider {
  let known: { readonly client: Promise<Client>; readonly until: number } | undefined;

  function client(): Promise<Client> {
    if (known && known.until > now()) return known.client;
    const found = discover(config, reachIssuer(config.issuer, mayReach));
    known = { client: found, until: now() + DISCOVERED_MS };
    // A failed discovery is repeated.
    found.catch(() => (known = undefined));
    return found;
  }

  return {
    name: config.name,
    addressOf: async ({ state, nonce, verifier }, redirectUri) => {
      const { oidc, config: discovered } = await client();
      const parameters = {
        redirect_uri: redirectUri,
        scope: config.scopes,
        state,
        nonce,
        code_challenge: hash("sha256", verifier, "base64url"),
        code_challenge_method: "S256",
      };
      return oidc.buildAuthorizationUrl(discovered, parameters).href;
    },
    redeem: async (answer, checks) => redeem(await client(), answer, checks),
  };
}

async function redeem({ oidc, config }: Client, answer: URL, { state, nonce, verifier }: Checks): Promise<Claims> {
  const tokens = await oidc.authorizationCodeGrant(config, answer, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (!claims) throw new Error("the provider has sent no ID token");
  return {
    issuer: claims.iss,
    subject: claims.sub,
    verifiedEmail: async () => {
      const has = claims["email"] !== undefined || !config.serverMetadata().userinfo_endpoint;
      return verified(has ? { ...claims } : await oidc.fetchUserInfo(config, tokens.access_token, claims.sub));
    },
  };
}

/** `email_verified` has to be the value true. Some providers send it as text, which is no proof. */
const verified = (claims: { readonly email?: unknown; readonly email_verified?: unknown }): string | undefined =>
  typeof claims.email === "string" && claims.email_verified === true ? claims.email : undefined;

async function discover(config: OidcConfig, mayReach: MayReach): Promise<Client> {
  const oidc = await import("openid-client");
  const issuer = new URL(config.issuer);
  const metadata = {
    ...(config.clientSecret === undefined ? {} : { client_secret: config.clientSecret }),
    [oidc.clockTolerance]: TOLERANCE_SECONDS,
  };
  const found = await oidc.discovery(issuer, config.clientId, metadata, authentication(oidc, config.clientSecret), {
    timeout: TIMEOUT_SECONDS,
    [oidc.customFetch]: boundedFetch(mayReach),
    // Only an issuer on this machine may be without TLS; the configuration checks that.
    // oxlint-disable-next-line typescript/no-deprecated -- marked so that it stands out, not because it goes away
    execute: issuer.protocol === "http:" ? [oidc.allowInsecureRequests] : [],
  });
  // The token comes directly from the provider; its signature is checked nevertheless.
  oidc.enableNonRepudiationChecks(found);
  return { oidc, config: found };
}

/** Client authentication as the provider announces it: in the header by default (RFC 8414, section 2). */
function authentication(oidc: typeof Oidc, secret: string | undefined): Oidc.ClientAuth {
  if (secret === undefined) return oidc.None();
  const [basic, post] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    (methods.includes("client_secret_basic") ? basic : post)(server, client, body, headers);
  };
}

/**
 * The operator chose the issuer, so its address is always allowed. Addresses from its document are checked as any other
 * address.
 */
function reachIssuer(issuer: string, mayReach: MayReach): MayReach {
  const url = new URL(issuer);
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return (target) => (target.host === host && target.port === port) || mayReach(target);
}

/** A fetch with limits on time and bytes, without redirects, to allowed addresses only. */
const boundedFetch =
  (mayReach: MayReach): Oidc.CustomFetch =>
  async (url, { method, headers, body, signal }) => {
    const limit = AbortSignal.timeout(TIMEOUT_SECONDS * 1_000);
    const options = { mayReach, signal: signal ? AbortSignal.any([signal, limit]) : limit };
    const text = body instanceof URLSearchParams ? body.toString() : body;
    if (text instanceof ReadableStream || text instanceof ArrayBuffer) throw new Error("such a body is not sent");
    const got = await sendRequest(options, new URL(url), { method, headers, body: text ?? undefined });
    const found = new Headers();
    for (const [name, value] of Object.entries(got.headers)) if (value !== undefined) found.set(name, String(value));
    const isEmpty = got.status === 204 || got.status === 304;
    return new Response(isEmpty ? null : got.body, { status: got.status, headers: found });
  };
