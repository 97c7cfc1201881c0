import assert from "node:assert/strict";
import { test } from "node:test";
import type { Grants } from "../core/grants.ts";
import type { Uuid } from "../core/ids.ts";
import type { Db } from "../platform/db/db.ts";
import { hashSecret, writeToken } from "../platform/crypto/tokens.ts";
import { adminGrants } from "../../test/harness/access.ts";
import { handClock } from "../../test/harness/platform.ts";
import { makeAuthenticate } from "./authenticate.ts";

const accountId = "01a1fc75-fee1-7000-8000-000000000001" as Uuid;
const tokenId = "01a1fc75-fee1-7000-8000-000000000002" as Uuid;
const token = (secret: string): string => writeToken("pat", { accountId, tokenId, secret });

const grantsOf = async (): Promise<Grants> => adminGrants;

type Row = { secretHash: Buffer; expiresAt: number | null; userId: Uuid; name: string; email: string };
const row = (secret: string, expiresAt: number | null = null): Row => ({
  secretHash: hashSecret(secret),
  expiresAt,
  userId: tokenId,
  name: "ada",
  email: "ada@example.com",
});

/** A table of one token; `asked` counts how often it was looked at. */
function store(initial: Row | undefined) {
  const state = { row: initial, asked: 0 };
  const query = async (): Promise<unknown[]> => {
    state.asked += 1;
    return state.row ? [state.row] : [];
  };
  const clock = handClock();
  return { state, clock, authenticate: makeAuthenticate({ db: { query } as unknown as Db, clock, grantsOf }) };
}

test("a token is looked up once a second, and is its user", async () => {
  const { state, clock, authenticate } = store(row("s"));
  const actor = {
    kind: "user",
    accountId,
    id: tokenId,
    name: "ada",
    email: "ada@example.com",
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

test("a token that was revoked is refused within a second", async () => {
  const { state, clock, authenticate } = store(row("s"));
  assert.ok(await authenticate(token("s")));
  state.row = undefined;
  clock.advance(1_000);
  assert.equal(await authenticate(token("s")), undefined);
});

test("a token that has expired is refused within a second, and at the very moment when it was not in use", async () => {
  const { clock, authenticate } = store(row("s", handClock().now() + 5_000));
  assert.ok(await authenticate(token("s")));
  clock.advance(4_999);
  assert.ok(await authenticate(token("s")));
  clock.advance(1_000);
  assert.equal(await authenticate(token("s")), undefined);
  const fresh = store(row("s", handClock().now() + 5_000));
  fresh.clock.advance(5_000);
  assert.equal(await fresh.authenticate(token("s")), undefined);
});

test("a wrong secret is refused also while the right one is remembered, and refusals are not remembered", async () => {
  const { state, authenticate } = store(row("s"));
  assert.ok(await authenticate(token("s")));
  assert.equal(await authenticate(token("t")), undefined);
  assert.equal(await authenticate(token("t")), undefined);
  assert.equal(state.asked, 3);
  state.row = row("t");
  assert.ok(await authenticate(token("t")), "made a moment ago");
});

test("what is no token costs no look at the database", async () => {
  const { state, authenticate } = store(row("s"));
  for (const text of ["", "x", "pat...", "x".repeat(10_000), token("s").replace("pat", "dlg"), `${token("s")}.x`])
    assert.equal(await authenticate(text), undefined);
  assert.equal(state.asked, 0);
});

test("no more than ten thousand tokens are remembered", async () => {
  let asked = 0;
  const clock = handClock();
  const query = async (_text: string, [, id]: readonly unknown[]): Promise<unknown[]> => {
    asked += 1;
    return [{ ...row("s"), userId: id }];
  };
  const authenticate = makeAuthenticate({ db: { query } as unknown as Db, clock, grantsOf });
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
