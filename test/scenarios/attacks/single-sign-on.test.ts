/**
 * Attack class 11: repeated, swapped, forged or foreign responses of a provider, and redirects to other sites after
 * signing in. The provider sends what an attacker would want.
 */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, before, test } from "node:test";
import { pretendBrowser, type PretendBrowser } from "../../support/clients/browser.ts";
import { CLIENT, startFakeProvider, type FakeProvider, type Token } from "../../support/services/fake-provider.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../support/platform.ts";
import { ADMIN } from "../../support/sessions.ts";

let provider: FakeProvider;
let platform: TestPlatform;
before(async () => {
  provider = await startFakeProvider();
  const oidc = { ...CLIENT, issuer: provider.issuer, scopes: "openid", name: "Example", linkByEmail: true };
  platform = await startTestPlatform({ oidc });
  await platform.db.query(
    `insert into user_identities (account_id, id, user_id, issuer, subject, linked_at)
     select account_id, gen_random_uuid(), id, $1, 'subject-1', 0 from users where email = $2`,
    [provider.issuer, ADMIN],
  );
});
after(async () => {
  await platform?.stop();
  await provider?.stop();
});

const MANUAL = { account: null, redirect: "manual" } as const;

/** Begins the sign-in and returns the request to the provider. */
async function begin(browser: PretendBrowser, query = ""): Promise<URLSearchParams> {
  const start = await browser.send("GET", `/auth/oidc/start${query}`, undefined, MANUAL);
  const asked = new URL(start.headers.get("location") ?? "").searchParams;
  provider.nonce = asked.get("nonce") ?? "";
  return asked;
}

const back = (browser: PretendBrowser, query: Readonly<Record<string, string>>): Promise<Answer> =>
  browser.send("GET", `/auth/oidc/callback?${new URLSearchParams(query).toString()}`, undefined, MANUAL);

const right = (asked: URLSearchParams) => ({ code: "a code", state: asked.get("state") ?? "", iss: provider.issuer });

function assertRefused(browser: PretendBrowser, answer: Answer, what: string): void {
  assert.equal(answer.headers.get("location"), "/login?failure=refused", what);
  assert.equal(browser.cookies()["railhead_session"], undefined, what);
}
function assertSignedIn(browser: PretendBrowser, answer: Answer, to = "/login"): void {
  assert.equal(answer.headers.get("location"), to, answer.text);
  assert.ok(browser.cookies()["railhead_session"]);
}

test("a valid response signs in, with PKCE and a new state and nonce each time", async () => {
  const [one, two] = [pretendBrowser(platform), pretendBrowser(platform)];
  const [first, second] = [await begin(one), await begin(two)];
  for (const name of ["state", "nonce", "code_challenge"]) {
    assert.ok((first.get(name) ?? "").length >= 43, name);
    assert.notEqual(first.get(name), second.get(name));
  }
  assert.deepEqual([first.get("code_challenge_method"), first.get("response_type")], ["S256", "code"]);
  assertSignedIn(two, await back(two, right(second)));
  assert.ok((provider.tokenRequests.at(-1)?.get("code_verifier") ?? "").length >= 43);
});

test("the sign-in cookie is short-lived, inaccessible to scripts, sealed, and removed after the response", async () => {
  const browser = pretendBrowser(platform);
  const start = await browser.send("GET", "/auth/oidc/start", undefined, MANUAL);
  const [cookie = ""] = start.headers.getSetCookie();
  assert.match(cookie, /^railhead_sign_in=[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
  const asked = new URL(start.headers.get("location") ?? "").searchParams;
  const opened = Buffer.from(browser.cookies()["railhead_sign_in"] ?? "", "base64url").toString("latin1");
  for (const name of ["state", "nonce"]) assert.ok(!opened.includes(asked.get(name) ?? "?"));
  provider.nonce = asked.get("nonce") ?? "";
  assertSignedIn(browser, await back(browser, right(asked)));
  assert.equal(browser.cookies()["railhead_sign_in"], undefined);
});

test("a response counts once, in the browser that asked, and for ten minutes", async () => {
  const browser = pretendBrowser(platform);
  const asked = await begin(browser);
  const cookie = browser.cookies()["railhead_sign_in"] ?? "";
  const replica = await platform.replica();
  assertSignedIn(browser, await back(browser, right(asked)));
  const repeated = await replica.send("GET", `/auth/oidc/callback?${new URLSearchParams(right(asked)).toString()}`, {
    apiKey: null,
    headers: { cookie: `railhead_sign_in=${cookie}` },
    ...MANUAL,
  });
  assert.equal(repeated.headers.get("location"), "/login?failure=refused");
  const [attacker, victim] = [pretendBrowser(platform), pretendBrowser(platform)];
  const theirs = await begin(attacker);
  assertRefused(victim, await back(victim, right(theirs)), "a browser without a sign-in");
  await begin(victim);
  assertRefused(victim, await back(victim, right(theirs)), "the response for another browser");
  const late = pretendBrowser(platform);
  const old = await begin(late);
  platform.clock.advance(10 * 60_000);
  assertRefused(late, await back(late, right(old)), "too late");
});

test("of many concurrent uses of one response one counts", async () => {
  const browser = pretendBrowser(platform);
  const asked = await begin(browser);
  const headers = { cookie: `railhead_sign_in=${browser.cookies()["railhead_sign_in"]}` };
  const path = `/auth/oidc/callback?${new URLSearchParams(right(asked)).toString()}`;
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => platform.send("GET", path, { apiKey: null, headers, ...MANUAL })),
  );
  assert.equal(answers.filter((one) => one.headers.get("location") === "/login").length, 1);
});

test("incomplete responses and responses of another provider are refused", async () => {
  const changes: readonly ((query: Record<string, string>) => Record<string, string>)[] = [
    ({ code, iss }) => ({ code: code ?? "", iss: iss ?? "" }),
    (query) => ({ ...query, state: "" }),
    (query) => ({ ...query, state: `${query["state"]}x` }),
    ({ state, iss }) => ({ state: state ?? "", iss: iss ?? "" }),
    // Mix-up (RFC 9207): the response of another provider, or one without an issuer.
    (query) => ({ ...query, iss: "https://other.example.com" }),
    ({ code, state }) => ({ code: code ?? "", state: state ?? "" }),
    ({ state, iss }) => ({ state: state ?? "", iss: iss ?? "", error: "access_denied" }),
    (query) => ({ ...query, id_token: "a.b.c" }),
  ];
  for (const change of changes) {
    const browser = pretendBrowser(platform);
    const query = change(right(await begin(browser)));
    const answer = await back(browser, query);
    if ("id_token" in query && answer.headers.get("location") === "/login") continue;
    assertRefused(browser, answer, JSON.stringify(query));
  }
});

test("ID tokens of other issuers or for other requests are refused", async () => {
  const other = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const pem = Buffer.from(provider.publicKey.export({ type: "spki", format: "pem" }));
  const now = Math.floor(Date.now() / 1_000);
  const withClaims =
    (claims: Record<string, unknown>) =>
    (token: Token): Token => ({ ...token, claims: { ...token.claims, ...claims } });
  const withHeader =
    (header: Record<string, unknown>, key?: Token["key"]) =>
    (token: Token): Token => ({ ...token, header: { ...token.header, ...header }, key: key ?? token.key });
  const wrongTokens: Readonly<Record<string, (token: Token) => Token>> = {
    "another nonce": withClaims({ nonce: "x" }),
    "no nonce": withClaims({ nonce: undefined }),
    "another issuer": withClaims({ iss: "https://other.example.com" }),
    "another audience": withClaims({ aud: "another-client" }),
    "several audiences, for another": withClaims({ aud: ["railhead", "other"], azp: "other" }),
    expired: withClaims({ exp: now - 120 }),
    "without an end": withClaims({ exp: undefined }),
    "no subject": withClaims({ sub: undefined }),
    "no signature": (token) => ({ ...token, header: { alg: "none" }, key: undefined }),
    "the public key as a secret": withHeader({ alg: "HS256" }, pem),
    "another key": withHeader({}, other),
    "a key of its own": withHeader({ jwk: other.export({ format: "jwk" }), kid: "two" }, other),
    "an unknown critical header": withHeader({ crit: ["exp"], exp: 1 }),
  };
  for (const [what, changeToken] of Object.entries(wrongTokens)) {
    provider.changeToken = changeToken;
    const browser = pretendBrowser(platform);
    assertRefused(browser, await back(browser, right(await begin(browser))), what);
  }
  provider.changeToken = (token) => token;
  const browser = pretendBrowser(platform);
  assertSignedIn(browser, await back(browser, right(await begin(browser))));
});

test("sign-in never redirects to another site", async () => {
  for (const [asked, to] of [
    ["/graphql-explorer?a=1#b", "/graphql-explorer?a=1#b"],
    ["https://example.com/", "/login"],
    ["//example.com/", "/login"],
    ["/\\example.com", "/login"],
    ["\\\\example.com", "/login"],
    ["/\t/example.com", "/login"],
    ["/.//example.com", "/login"],
    ["/x/..//example.com", "/login"],
    ["data:text/html,x", "/login"],
    [`/${"x".repeat(2_000)}`, "/login"],
    ["", "/login"],
  ] as const) {
    const browser = pretendBrowser(platform);
    const begun = await begin(browser, `?returnTo=${encodeURIComponent(asked)}`);
    assertSignedIn(browser, await back(browser, right(begun)), to);
  }
  const twice = pretendBrowser(platform);
  assertSignedIn(twice, await back(twice, right(await begin(twice, "?returnTo=/a&returnTo=//example.com"))));
});

test("discovered endpoints are checked: none in a private network, and no other issuer", async () => {
  // On the same machine at another port. It would accept the client's secret.
  const inner = await startFakeProvider();
  for (const change of [
    { token_endpoint: `${inner.issuer}/token` },
    { issuer: "https://other.example.com" },
    { jwks_uri: `${inner.issuer}/jwks` },
  ]) {
    provider.changeDiscovery = (document) => ({ ...document, ...change });
    const fresh = await startTestPlatform({
      oidc: { ...CLIENT, issuer: provider.issuer, scopes: "openid", name: "Example", linkByEmail: true },
    });
    try {
      const browser = pretendBrowser(fresh);
      const start = await browser.send("GET", "/auth/oidc/start", undefined, MANUAL);
      const to = new URL(start.headers.get("location") ?? "", "http://here");
      if (to.pathname === "/login") continue;
      provider.nonce = to.searchParams.get("nonce") ?? "";
      assertRefused(browser, await back(browser, right(to.searchParams)), JSON.stringify(change));
    } finally {
      await fresh.stop();
    }
  }
  provider.changeDiscovery = (document) => document;
  assert.deepEqual(inner.requestPaths, [], "nothing was sent there");
  await inner.stop();
});

test("a response with another state is ignored, and the valid one still counts", async () => {
  const browser = pretendBrowser(platform);
  const asked = await begin(browser);
  const headers = { cookie: `railhead_sign_in=${browser.cookies()["railhead_sign_in"]}` };
  const answered = async (query: Readonly<Record<string, string>>): Promise<string | null> => {
    const path = `/auth/oidc/callback?${new URLSearchParams(query).toString()}`;
    return (await platform.send("GET", path, { apiKey: null, headers, ...MANUAL })).headers.get("location");
  };
  const redeemed = provider.tokenRequests.length;
  assert.equal(await answered({ ...right(asked), state: "x" }), "/login?failure=refused");
  assert.equal(provider.tokenRequests.length, redeemed, "the provider was not asked");
  assert.equal(await answered(right(asked)), "/login");
});
