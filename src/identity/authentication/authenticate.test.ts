import assert from "node:assert/strict";
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { mock, test } from "node:test";
import type { Grants } from "../../core/grants.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import { hashSecret, writeToken } from "../../platform/crypto/tokens.ts";
import { adminGrants } from "../../../test/support/access.ts";
import { handClock } from "../../../test/support/platform.ts";
import { createAuthenticator } from "./authenticate.ts";
import type { CredentialRow } from "../store/credentials.ts";

const accountId = "01a1fc75-fee1-7000-8000-000000000001" as Uuid;
const tokenId = "01a1fc75-fee1-7000-8000-000000000002" as Uuid;
const token = (secret: string): string => writeToken("pat", { accountId, tokenId, secret });

const grantsOf = async (): Promise<Grants> => adminGrants;

const row = (secret: string, validTo: number | null = null): CredentialRow => ({
  secretHash: hashSecret(secret),
  validFrom: handClock().now(),
  validTo,
  scheduledEnd: null,
  userId: tokenId,
  serviceAccountId: null,
  identifier: null,
  name: "ada",
  email: "ada@example.com",
});

/** A table with one token. `asked` counts its lookups. */
function store(initial: CredentialRow | undefined) {
  const state = { row: initial, asked: 0 };
  const query = async (): Promise<unknown[]> => {
    state.asked += 1;
    return state.row ? [state.row] : [];
  };
  const clock = handClock();
  return { state, clock, ...createAuthenticator({ db: { query } as unknown as Db, clock, grantsOf }) };
}

test("a token is looked up once a second and authenticates its user", async () => {
  const { state, clock, authenticate } = store(row("s"));
  const actor = {
    kind: "user",
    accountId,
    id: tokenId,
    name: "ada",
    email: "ada@example.com",
    credential: { kind: "token", accountId, id: tokenId },
    grants: adminGrants,
  };
  for (const _ of [1, 2, 3]) assert.deepEqual(await authenticate(token("s")), actor);
  assert.equal(state.asked, 1);
  clock.advance(999);
  await authenticate(token("s"));
  assert.equal(state.asked, 1);
  clock.advance(1);
  await authenticate(token("s"));
  assert.equal(state.asked, 2);
});

test("requests at once look their token up once", async () => {
  const { state, authenticate } = store(row("s"));
  const actors = await Promise.all([1, 2, 3].map(async () => authenticate(token("s"))));
  assert.deepEqual(
    actors.map((actor) => actor?.kind),
    ["user", "user", "user"],
  );
  assert.equal(state.asked, 1);
});

test("a revoked token is refused within a second", async () => {
  const { state, clock, authenticate } = store(row("s"));
  assert.ok(await authenticate(token("s")));
  state.row = undefined;
  clock.advance(1_000);
  assert.equal(await authenticate(token("s")), undefined);
});

test("an expired token is refused from the next millisecond on, with the reason", async () => {
  const end = handClock().now() + 5_000;
  const { clock, authenticate, state } = store(row("s", end));
  clock.advance(4_500);
  assert.ok(await authenticate(token("s")));
  clock.advance(500);
  assert.ok(await authenticate(token("s")), "the last millisecond belongs to it");
  clock.advance(1);
  await assert.rejects(async () => authenticate(token("s")), {
    code: "identity.token_expired",
    status: 401,
    wire: "EXPIRED_TOKEN",
  });
  assert.equal(await authenticate(token("t")), undefined, "a stranger is not told that there is such a token");
  state.row = { ...row("s"), scheduledEnd: end };
  await assert.rejects(async () => authenticate(token("s")), { code: "identity.token_expired" });
});

test("a token that expires while its lookup waits is refused, also for requests that came later", async () => {
  const clock = handClock();
  const answered = Promise.withResolvers<CredentialRow[]>();
  const db = { query: () => answered.promise } as unknown as Db;
  const { authenticate } = createAuthenticator({ db, clock, grantsOf });
  const expires = clock.now() + 10;
  const all = [authenticate(token("s"))];
  clock.advance(500);
  all.push(authenticate(token("s")));
  answered.resolve([row("s", expires)]);
  for (const one of all) await assert.rejects(async () => one, { code: "identity.token_expired" });
});

test("a token is valid from its start on", async () => {
  const { clock, authenticate } = store({ ...row("s"), validFrom: handClock().now() + 2_000 });
  await assert.rejects(async () => authenticate(token("s")), {
    code: "identity.token_not_yet",
    status: 401,
    wire: "INVALID_TOKEN",
  });
  clock.advance(2_000);
  assert.ok(await authenticate(token("s")));
});

test("a service account has tokens of its own kind, and a user's token does not authenticate one", async () => {
  const account = { ...row("s"), userId: null, serviceAccountId: tokenId, identifier: "ci" };
  const { authenticate } = store(account);
  const text = token("s").replace("pat", "sat");
  const credential = { kind: "token", accountId, id: tokenId };
  const who = { accountId, id: tokenId, identifier: "ci", name: "ada", email: "ada@example.com", credential };
  assert.deepEqual(await authenticate(text), { kind: "service_account", ...who, grants: adminGrants });
  assert.equal(await authenticate(token("s")), undefined);
  assert.equal(await store(row("s")).authenticate(text), undefined);
});

test("an ended credential is removed from the cache at once, also when a lookup was under way", async () => {
  const { state, authenticate, clearCache } = store(row("s"));
  assert.ok(await authenticate(token("s")));
  clearCache();
  state.row = undefined;
  assert.equal(await authenticate(token("s")), undefined);
  state.row = row("s");
  const underWay = authenticate(token("s"));
  clearCache();
  assert.ok(await underWay, "it was asked before");
  state.row = undefined;
  assert.equal(await authenticate(token("s")), undefined);
});

test("a wrong secret is refused while the right one is cached, and refusals are not cached", async () => {
  const { state, authenticate } = store(row("s"));
  assert.ok(await authenticate(token("s")));
  assert.equal(await authenticate(token("t")), undefined);
  assert.equal(await authenticate(token("t")), undefined);
  assert.equal(state.asked, 3);
  state.row = row("t");
  assert.ok(await authenticate(token("t")), "made a moment ago");
});

test("an existing id and an unknown id are looked up, hashed and compared alike", async () => {
  const compared = mock.method(crypto, "timingSafeEqual");
  syncBuiltinESMExports();
  try {
    for (const known of [row("s"), undefined]) {
      const { state, authenticate } = store(known);
      const earlier = compared.mock.callCount();
      assert.equal(await authenticate(token("t")), undefined);
      assert.equal(state.asked, 1);
      const [call, ...more] = compared.mock.calls.slice(earlier);
      assert.deepEqual(more, []);
      assert.deepEqual(
        call?.arguments.map((bytes) => (bytes as Buffer).byteLength),
        [32, 32],
      );
    }
  } finally {
    mock.restoreAll();
    syncBuiltinESMExports();
  }
});

test("a text that is not a token causes no database query", async () => {
  const { state, authenticate } = store(row("s"));
  for (const text of ["", "x", "pat...", "x".repeat(10_000), token("s").replace("pat", "dlg"), `${token("s")}.x`])
    assert.equal(await authenticate(text), undefined);
  assert.equal(state.asked, 0);
});

test("at most ten thousand tokens are cached", async () => {
  let asked = 0;
  const clock = handClock();
  const query = async (_text: string, [, id]: readonly unknown[]): Promise<unknown[]> => {
    asked += 1;
    return [{ ...row("s"), userId: id }];
  };
  const { authenticate } = createAuthenticator({ db: { query } as unknown as Db, clock, grantsOf });
  const nth = (n: number): string => {
    const id = `01a1fc75-fee1-7000-8000-${String(n).padStart(12, "0")}` as Uuid;
    return writeToken("pat", { accountId, tokenId: id, secret: "s" });
  };
  for (let n = 0; n <= 10_000; n += 1) await authenticate(nth(n));
  assert.equal(asked, 10_001);
  await authenticate(nth(10_000));
  assert.equal(asked, 10_001, "the last one is remembered");
  await authenticate(nth(0));
  assert.equal(asked, 10_002, "the first one is not");
});
