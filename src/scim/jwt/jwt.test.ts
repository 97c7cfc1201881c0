/** Signed tokens for SCIM: attack class 8, with real keys from a real server. */
import assert from "node:assert/strict";
import { createHmac, randomUUIDv7 } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import { exportSPKI, type JWK } from "jose";
import type { Actor } from "../../core/actor.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import { handClock } from "../../../test/support/platform.ts";
import {
  signToken,
  signingKey,
  startKeyServer,
  type KeyServer,
  type SigningKey,
} from "../../../test/support/services/key-server.ts";
import { createJwtAuthenticate } from "./authenticate.ts";
import { createKeys } from "./keys.ts";

const accountId = randomUUIDv7() as Uuid;
const actor = { kind: "system", accountId } as Actor;

let server: KeyServer;
let rsa: SigningKey;
let ec: SigningKey;
before(async () => {
  server = await startKeyServer();
  rsa = await signingKey("RS256", { kid: "rsa" });
  ec = await signingKey("ES256", { kid: "ec" });
});
after(() => server?.close());
beforeEach(() => server.serve([rsa.jwk, ec.jwk]));

const SETTINGS = (): string[] => [server.url, "client", "directory", "scim"];

function reader(settings = SETTINGS()) {
  const clock = handClock();
  const refusals: string[] = [];
  const failures: unknown[] = [];
  const keys = createKeys({ clock, allowed: ["127.0.0.0/8"], onFailure: (_url, error) => failures.push(error) });
  const authenticate = createJwtAuthenticate({
    clock,
    keys,
    settings: async () => settings,
    serviceAccount: async (_account, identifier) => (identifier === "scim" ? actor : undefined),
    onRefusal: (reason) => refusals.push(reason),
  });
  const is = async (token: string): Promise<boolean> => (await authenticate(token, toWire(accountId))) === actor;
  return { clock, refusals, failures, settings, is, now: () => clock.now() / 1_000 };
}

const claims = (now: number, more: object = {}): object => ({ client: "directory", exp: now + 300, ...more });
const byRsa = (now: number, more: object = {}, header: object = {}): Promise<string> =>
  signToken(rsa.privateKey, { alg: "RS256", kid: "rsa", ...header }, claims(now, more));

test("a token with a signature of the key set, a valid period and the claim authenticates the service account", async () => {
  const { is, now } = reader();
  assert.ok(await is(await byRsa(now())));
  assert.ok(await is(await signToken(ec.privateKey, { alg: "ES256", kid: "ec" }, claims(now()))));
  // Without a kid, the one key that fits is used.
  assert.ok(await is(await signToken(ec.privateKey, { alg: "ES256" }, claims(now()))));
});

test("without one of the four settings, for another account, and for an unknown service account, the token is refused", async () => {
  for (const missing of [0, 1, 2, 3]) {
    const { is, now } = reader(SETTINGS().with(missing, ""));
    assert.equal(await is(await byRsa(now())), false, String(missing));
  }
  const { is, now } = reader(SETTINGS().with(3, "other"));
  assert.equal(await is(await byRsa(now())), false);
});

test("exp and nbf are checked with 60 seconds of skew; a token without an end is refused", async () => {
  const { is, now, refusals } = reader();
  assert.ok(await is(await byRsa(now(), { exp: now() - 59 })));
  assert.equal(await is(await byRsa(now(), { exp: now() - 60 })), false);
  assert.ok(await is(await byRsa(now(), { nbf: now() + 60 })));
  assert.equal(await is(await byRsa(now(), { nbf: now() + 61 })), false);
  for (const exp of [undefined, "never", null]) assert.equal(await is(await byRsa(now(), { exp })), false);
  assert.equal(await is(await byRsa(now(), { nbf: "soon" })), false);
  assert.deepEqual(refusals.length, 6);
});

test("the configured claim must have exactly the value: no other, no list, no part, no inherited name", async () => {
  const { is, now } = reader();
  for (const client of ["Directory", "directory ", ["directory"], { directory: 1 }, true, undefined, ""])
    assert.equal(await is(await byRsa(now(), { client })), false, JSON.stringify(client));
  const inherited = reader([server.url, "toString", "function", "scim"]);
  assert.equal(await inherited.is(await byRsa(now())), false);
});

const b64 = (value: object | string): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

test("alg none is refused in any spelling, with and without a signature", async () => {
  const { is, now } = reader();
  const [, , signature] = (await byRsa(now())).split(".");
  for (const alg of ["none", "None", "NONE", "nOnE", ""])
    for (const end of ["", signature, "x"])
      assert.equal(await is(`${b64({ alg, kid: "rsa" })}.${b64(claims(now()))}.${end}`), false, `${alg} ${end}`);
});

test("a public key is not accepted as an HMAC secret in any format", async () => {
  const { is, now } = reader();
  const spki = await exportSPKI(rsa.publicKey);
  const secrets = [
    spki,
    spki.trim(),
    `\n${spki}`,
    spki.replace(/-----[^-]+-----|\n/g, ""),
    JSON.stringify(rsa.jwk),
    rsa.jwk.n ?? "",
  ];
  for (const alg of ["HS256", "HS384", "HS512"])
    for (const secret of secrets) {
      const head = `${b64({ alg, kid: "rsa" })}.${b64(claims(now()))}`;
      const signature = createHmac(alg.replace("HS", "sha"), secret).update(head).digest("base64url");
      assert.equal(await is(`${head}.${signature}`), false, alg);
    }
});

test("a key verifies only its own algorithms, and secrets, private keys and encryption keys verify nothing", async () => {
  const fixed = await signingKey("RS256", { kid: "fixed", alg: "RS256" });
  const secret: JWK = { kty: "oct", k: b64("x".repeat(64)), kid: "secret", alg: "HS256" };
  const forEncryption = { ...rsa.jwk, kid: "enc", use: "enc" };
  const unverifying = { ...rsa.jwk, kid: "ops", key_ops: ["sign"] };
  const leaked = { ...rsa.jwk, kid: "leaked", d: "AQAB" };
  server.serve([fixed.jwk, secret, forEncryption, unverifying, leaked, ec.jwk, rsa.jwk]);
  const { is, now } = reader();
  assert.ok(await is(await signToken(fixed.privateKey, { alg: "RS256", kid: "fixed" }, claims(now()))));
  const head = `${b64({ alg: "HS256", kid: "secret" })}.${b64(claims(now()))}`;
  assert.equal(await is(`${head}.${createHmac("sha256", "x".repeat(64)).update(head).digest("base64url")}`), false);
  for (const kid of ["enc", "ops", "leaked"]) assert.equal(await is(await byRsa(now(), {}, { kid })), false, kid);
  // The same text with another algorithm: of another family, and of the same family but not of this key.
  const [, payload, signature] = (await byRsa(now())).split(".");
  for (const [alg, kid] of [
    ["ES256", "rsa"],
    ["RS256", "ec"],
    ["PS256", "fixed"],
    ["RS512", "fixed"],
    ["EdDSA", "rsa"],
  ])
    assert.equal(await is(`${b64({ alg, kid })}.${payload}.${signature}`), false, `${alg} ${kid}`);
});

test("crit is refused, and key locations in a token are ignored", async () => {
  const { is, now } = reader();
  const mallory = await startKeyServer();
  try {
    const own = await signingKey("RS256", { kid: "rsa" });
    mallory.serve([own.jwk]);
    for (const header of [
      { jku: mallory.url },
      { x5u: mallory.url },
      { jwk: own.jwk },
      { x5c: ["MIIB"] },
      { kid: mallory.url },
      { kid: "../../etc/passwd" },
      { kid: "' or 1=1 --" },
      { kid: "__proto__" },
      { kid: "" },
    ])
      assert.equal(
        await is(await signToken(own.privateKey, { alg: "RS256", kid: "rsa", ...header }, claims(now()))),
        false,
        JSON.stringify(header).slice(0, 60),
      );
    assert.equal(mallory.asked(), 0);
  } finally {
    await mallory.close();
  }
  // A valid signature does not help.
  const { subtle } = globalThis.crypto;
  // The library understands the second one, so that our check refuses it.
  for (const more of [{ crit: ["exp"] }, { crit: ["b64"], b64: true }]) {
    const head = `${b64({ alg: "RS256", kid: "rsa", ...more })}.${b64(claims(now()))}`;
    const bytes = await subtle.sign("RSASSA-PKCS1-v1_5", rsa.privateKey, Buffer.from(head));
    assert.equal(await is(`${head}.${Buffer.from(bytes).toString("base64url")}`), false, JSON.stringify(more));
  }
});

test("duplicate claims, texts that are not JSON, and a token of a megabyte are refused", async () => {
  const { is, now, refusals } = reader();
  const twice = `{"client":"other","client":"directory","exp":${now() + 300}}`;
  for (const payload of [twice, "[]", "null", "{", '"x"', "\u00ff"]) {
    const head = `${b64({ alg: "RS256", kid: "rsa" })}.${b64(payload)}`;
    const bytes = await globalThis.crypto.subtle.sign("RSASSA-PKCS1-v1_5", rsa.privateKey, Buffer.from(head));
    assert.equal(await is(`${head}.${Buffer.from(bytes).toString("base64url")}`), false, payload);
  }
  const before = refusals.length;
  assert.equal(await is(await byRsa(now(), { more: "x".repeat(1_000_000) })), false);
  for (const text of ["", ".", "..", "a.b", "a.b.c.d", "a.b.c.d.e", "\u0000.a.b", " a.b.c"])
    assert.equal(await is(text), false);
  assert.equal(refusals.length, before, "what is no token is not even read");
});

test("two keys with the same kid verify nothing", async () => {
  const other = await signingKey("RS256", { kid: "rsa" });
  server.serve([rsa.jwk, other.jwk]);
  const { is, now } = reader();
  assert.equal(await is(await byRsa(now())), false);
});

test("the log has the failure of the key set at each token, and the token's own fault once the set is available", async () => {
  const inner = ["https://10.0.0.1/keys", "client", "directory", "scim"];
  const { is, now, refusals } = reader(inner);
  for (let nth = 0; nth < 2; nth += 1) assert.equal(await is(await byRsa(now())), false);
  assert.equal(refusals.length, 2);
  for (const reason of refusals)
    assert.match(reason, /^no key fits, and the key set could not be fetched: .*10\.0\.0\.1/);
  const found = reader();
  server.answer = (_request, response) => void response.writeHead(503).end();
  assert.equal(await found.is(await byRsa(found.now())), false);
  server.serve([ec.jwk]);
  found.clock.advance(30_000);
  assert.equal(await found.is(await byRsa(found.now())), false);
  assert.deepEqual(found.refusals, [
    "no key fits, and the key set could not be fetched: its status is 503",
    "no key of the set fits",
  ]);
});
