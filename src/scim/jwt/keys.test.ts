/** Sources of keys: attack class 9, with a real server and real addresses. */
import assert from "node:assert/strict";
import type { lookup } from "node:dns";
import { after, before, beforeEach, test } from "node:test";
import { exportJWK, generateKeyPair } from "jose";
import { handClock } from "../../../test/support/platform.ts";
import {
  signingKey,
  startKeyServer,
  type KeyServer,
  type SigningKey,
} from "../../../test/support/services/key-server.ts";
import { createKeys, readKeys } from "./keys.ts";

let server: KeyServer;
let first: SigningKey;
let second: SigningKey;
before(async () => {
  server = await startKeyServer();
  first = await signingKey("ES256", { kid: "first" });
  second = await signingKey("ES256", { kid: "second" });
});
after(() => server?.close());
beforeEach(() => server.serve([first.jwk]));

function source(allowed: readonly string[] = ["127.0.0.0/8"], names?: typeof lookup) {
  const clock = handClock();
  const failures: string[] = [];
  const onFailure = (_url: string, error: unknown): void =>
    void failures.push(`${(error as { reason?: string }).reason ?? ""}${(error as Error).message}`);
  const { keysOf } = createKeys({ clock, allowed, onFailure, ...(names ? { lookup: names } : {}) });
  const kids = async (again = false, url = server.url): Promise<unknown[]> =>
    (await keysOf(url, again)).map(({ kid }) => kid);
  return { clock, failures, kids };
}

test("a key set is fetched once by concurrent requests and cached for five minutes", async () => {
  const { clock, kids } = source();
  const earlier = server.asked();
  const all = await Promise.all(Array.from({ length: 200 }, () => kids()));
  assert.ok(all.every((one) => one[0] === "first"));
  assert.equal(server.asked() - earlier, 1, "no stampede");
  clock.advance(299_999);
  await kids();
  assert.equal(server.asked() - earlier, 1);
  clock.advance(1);
  await Promise.all(Array.from({ length: 200 }, () => kids()));
  assert.equal(server.asked() - earlier, 2);
});

test("an unknown key causes another fetch, at most once in thirty seconds", async () => {
  const { clock, kids } = source();
  await kids();
  const earlier = server.asked();
  server.serve([second.jwk]);
  for (let nth = 0; nth < 100; nth += 1) assert.deepEqual(await kids(true), ["first"], "looked a moment ago");
  assert.equal(server.asked(), earlier);
  clock.advance(30_000);
  const both = await Promise.all(Array.from({ length: 100 }, () => kids(true)));
  assert.ok(
    both.every((one) => one[0] === "second"),
    "the set is swapped as a whole",
  );
  assert.equal(server.asked(), earlier + 1);
});

test("a failed fetch is repeated only after the pause; the previous keys are valid for a quarter of an hour", async () => {
  const { clock, kids, failures } = source();
  await kids();
  server.answer = (_request, response) => void response.writeHead(500).end();
  const earlier = server.asked();
  clock.advance(300_000);
  for (let nth = 0; nth < 10; nth += 1) assert.deepEqual(await kids(), ["first"]);
  assert.equal(server.asked(), earlier + 1);
  clock.advance(599_999);
  assert.deepEqual(await kids(), ["first"]);
  clock.advance(1);
  assert.deepEqual(await kids(), []);
  assert.equal(failures.length, 2);
});

test("internal addresses in any spelling, other schemes, redirects and names that resolve to them are not connected to", async () => {
  const [, port] = server.place.split(":");
  const earlier = server.asked();
  const inner = ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "[::ffff:127.0.0.1]", "[::1]", "localhost", "0"];
  for (const scheme of ["http", "https"])
    for (const host of inner) {
      const { kids, failures } = source([]);
      assert.deepEqual(await kids(false, `${scheme}://${host}:${port}/keys`), [], host);
      assert.match(failures[0] ?? "", /^Address not allowed/, `${scheme} ${host}`);
    }
  for (const url of [
    "http://169.254.169.254/latest/meta-data",
    "https://169.254.169.254/",
    "https://10.0.0.1/",
    "https://[fd00::1]/",
  ])
    assert.match((await failing(url))[0] ?? "", /^Address not allowed/, url);
  for (const url of [
    "file:///etc/passwd",
    "gopher://127.0.0.1:70/x",
    "ftp://example.com/",
    "https://u:p@example.com/",
    "data:,{}",
  ])
    assert.match((await failing(url))[0] ?? "", /^Address/, url);
  const inside = ((_host: string, _options: object, answer: (error: null, found: object[]) => void) =>
    answer(null, [{ address: "127.0.0.1", family: 4 }])) as unknown as typeof lookup;
  assert.match((await failing(`https://rebind.example.com:${port}/`, inside))[0] ?? "", /^Address not allowed/);
  assert.equal(server.asked(), earlier);

  async function failing(url: string, names?: typeof lookup): Promise<string[]> {
    const { kids, failures } = source([], names);
    assert.deepEqual(await kids(false, url), []);
    return failures;
  }
});

test("a redirect is checked like the address itself", async () => {
  const outer = await startKeyServer();
  try {
    outer.answer = (_request, response) => void response.writeHead(302, { location: server.url }).end();
    const { kids, failures } = source([outer.place]);
    const earlier = server.asked();
    assert.deepEqual(await kids(false, outer.url), []);
    assert.match(failures[0] ?? "", /^Address not allowed/);
    assert.equal(server.asked(), earlier);
  } finally {
    await outer.close();
  }
});

test("keys without TLS are fetched from configured addresses only, never from public ones", async () => {
  const outside = ((_host: string, _options: object, answer: (error: null, found: object[]) => void) =>
    answer(null, [{ address: "93.184.216.34", family: 4 }])) as unknown as typeof lookup;
  const { kids, failures } = source(["10.0.0.0/8"], outside);
  assert.deepEqual(await kids(false, "http://keys.example.com/"), []);
  assert.match(failures[0] ?? "", /^Address not allowed/);
});

test("a key set beyond the limits, and an invalid one, has no keys", async () => {
  const many = Array.from({ length: 10_000 }, (_, nth) => ({ kty: "RSA", kid: String(nth), n: "AQAB", e: "AQAB" }));
  for (const [body, why] of [
    ["x".repeat(300_000), /larger|more than/],
    [JSON.stringify({ keys: many }), /more than/],
    [JSON.stringify({ keys: many.slice(0, 101) }), /more than 100 keys/],
    ["", /JSON/],
    ["null", /no list/],
    ["[]", /no list/],
    ['{"keys":{"__proto__":[]}}', /no list/],
  ] as const) {
    server.answer = (_request, response) => void response.end(body);
    const { kids, failures } = source();
    assert.deepEqual(await kids(), [], body.slice(0, 30));
    assert.match(failures[0] ?? "", why);
  }
  server.answer = (_request, response) =>
    void response.end(JSON.stringify({ keys: [null, 7, {}, { kty: "RSA", use: "enc" }, first.jwk] }));
  assert.deepEqual(await source().kids(), ["first"]);
  // An endless response is aborted at the limit.
  server.answer = (_request, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
    };
    response.on("drain", more);
    more();
  };
  const { kids, failures } = source();
  assert.deepEqual(await kids(), []);
  assert.match(failures[0] ?? "", /^Answer too large/);
});

test("a key set with a status other than 200 is ignored", async () => {
  for (const status of [201, 403, 500]) {
    server.answer = (_request, response) => void response.writeHead(status).end(JSON.stringify({ keys: [first.jwk] }));
    const { kids, failures } = source();
    assert.deepEqual(await kids(), []);
    assert.deepEqual(failures, [`its status is ${status}`]);
  }
});

test("a server that does not answer, or never ends its response, is aborted after five seconds", async (t) => {
  const asked: number[] = [];
  let over = new AbortController();
  t.mock.method(AbortSignal, "timeout", (ms: number) => {
    asked.push(ms);
    return over.signal;
  });
  for (const begin of [false, true]) {
    over = new AbortController();
    const came = Promise.withResolvers<void>();
    server.answer = (_request, response) => {
      if (begin) response.write('{"keys":[');
      came.resolve();
    };
    const { kids, failures } = source();
    const waiting = kids();
    await came.promise;
    over.abort(new DOMException("the time is up", "TimeoutError"));
    assert.deepEqual(await waiting, []);
    assert.equal(failures.length, 1);
  }
  assert.deepEqual(asked, [5_000, 5_000]);
});

test("a private key, a secret, and a key for another use are ignored for that reason alone", async () => {
  const own = { ...first.jwk };
  const pair = await generateKeyPair("ES256", { extractable: true });
  const mine = await exportJWK(pair.privateKey);
  for (const key of [
    mine,
    { kty: "oct", k: "c2VjcmV0", alg: "HS256" },
    { ...own, use: "enc" },
    { ...own, key_ops: ["sign"] },
    { ...own, alg: "none" },
    { ...own, alg: "HS256" },
  ])
    assert.deepEqual(readKeys({ keys: [key] }), [], JSON.stringify(key).slice(0, 80));
  const { d: _, ...open } = mine;
  assert.equal(readKeys({ keys: [open, own] }).length, 2);
});
