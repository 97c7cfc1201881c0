import assert from "node:assert/strict";
import { randomBytes, randomUUIDv7 } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import type { Uuid } from "../core/ids.ts";
import { createKeyRing } from "../platform/crypto/key-ring.ts";
import { readToken } from "../platform/crypto/tokens.ts";
import { eventually } from "../../test/support/contract.ts";
import { freshDatabase, type TestDatabase } from "../../test/support/database.ts";
import { handClock } from "../../test/support/platform.ts";
import { firstStart, type FirstFacts, type FirstStartDeps } from "./first-start.ts";

let database: TestDatabase;
before(async () => void (database = await freshDatabase()));
after(() => database?.drop());
beforeEach(() =>
  database.db.transaction(async (tx) => {
    // Only the retention setting allows deletions from the audit trail.
    await tx.query("select set_config('railhead.audit_retention', 'on', true)");
    await tx.query("truncate accounts cascade");
  }),
);

const keys = createKeyRing(randomBytes(32));
const deps = (more: Partial<FirstStartDeps> = {}): FirstStartDeps => ({
  db: database.db,
  clock: handClock(),
  newId: () => randomUUIDv7() as Uuid,
  keys,
  seedAccount: async () => {},
  createAdministrator: async () => {},
  announce: () => {},
  ...more,
});
const accounts = async (): Promise<number> =>
  Number((await database.db.query<{ n: number }>("select count(*) as n from accounts"))[0]?.n);

test("an empty database gets an account, announced once; later starts announce nothing", async () => {
  const told: FirstFacts[] = [];
  const { accountId, facts } = await firstStart(deps({ announce: (first) => told.push(first) }));
  assert.deepEqual(told, [facts]);
  assert.equal(facts?.accountId, accountId);
  assert.equal(facts?.adminEmail, "admin@railhead.local");
  assert.ok(Buffer.from(facts?.adminPassword ?? "", "base64url").length >= 15);
  assert.equal(readToken("pat", facts?.apiKey ?? "")?.accountId, accountId);
  const again = await firstStart(deps({ announce: (first) => told.push(first) }));
  assert.deepEqual(again, { accountId, rootKeyId: keys.preferred.id, facts: undefined });
  assert.equal(told.length, 1);
  const [user] = await database.db.query("select name, must_change_password from users");
  assert.deepEqual(user, { name: "admin", must_change_password: true });
});

test("if the announcement fails, the database stays empty, and the next start tries again", async () => {
  const full = new Error("no space");
  const failing = deps({
    announce: () => {
      throw full;
    },
  });
  await assert.rejects(firstStart(failing), full);
  assert.equal(await accounts(), 0);
  assert.ok((await firstStart(deps())).facts);
});

test("a failure while seeding the account rolls everything back", async () => {
  await assert.rejects(firstStart(deps({ seedAccount: () => Promise.reject(new Error("no")) })), /no/);
  assert.equal(await accounts(), 0);
});

test("of two servers that start at once, one creates the account and the other waits for it", async () => {
  let second: ReturnType<typeof firstStart> | undefined;
  const seedAccount = async (): Promise<void> => {
    second = firstStart(deps());
    await eventually(async () => {
      const waiting = await database.db.query("select 1 from pg_locks where locktype = 'advisory' and not granted");
      return waiting[0];
    });
  };
  const first = await firstStart(deps({ seedAccount }));
  assert.ok(first.facts);
  assert.deepEqual(await second, { accountId: first.accountId, rootKeyId: keys.preferred.id, facts: undefined });
  assert.equal(await accounts(), 1);
});

test("another root key is refused by name", async () => {
  await firstStart(deps());
  await assert.rejects(firstStart(deps({ keys: createKeyRing(randomBytes(32)) })), {
    code: "identity.wrong_root_key",
  });
});

test("the account keeps its root key, whichever key the server prefers, and an error names a missing one", async () => {
  const [old, other] = [randomBytes(32), randomBytes(32)];
  const [was, both] = [createKeyRing(old), createKeyRing(other, old)];
  await firstStart(deps({ keys: was }));
  assert.equal((await firstStart(deps({ keys: both }))).rootKeyId, was.preferred.id);
  await assert.rejects(firstStart(deps({ keys: createKeyRing(other) })), (error: Error) => {
    assert.match(
      error.message,
      new RegExp(`sealed under the key ${was.preferred.id}; .* given the root key ${both.preferred.id}`),
    );
    return true;
  });
  // The state that a server without key ids has left.
  await database.db.query("update accounts set root_key_id = ''");
  assert.equal((await firstStart(deps({ keys: both }))).rootKeyId, was.preferred.id);
  assert.deepEqual(await database.db.query("select root_key_id as id from accounts"), [{ id: was.preferred.id }]);
});
