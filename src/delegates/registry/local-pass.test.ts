import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import { localClaimFile, renewLocalPass, type LocalClaim, type LocalClaimFile } from "./local-pass.ts";
import { claimDelegateToken, saveDelegate } from "../store/delegates.ts";
import { deleteToken, revokeToken } from "../store/registry.ts";
import { authenticateDelegate } from "./tokens.ts";

let platform: TestPlatform;
let deps: Parameters<typeof renewLocalPass>[0];

before(async () => {
  platform = await startTestPlatform();
  deps = { db: platform.db, clock: platform.clock, newId };
});
after(() => platform?.stop());

const newId = (): Uuid => randomUUIDv7() as Uuid;
const newAccount = async (): Promise<Uuid> => fromWire((await platform.addAccount()).accountId) ?? assert.fail();

function inMemory(): LocalClaimFile & { readonly claim: () => LocalClaim } {
  let claim: LocalClaim | undefined;
  return { read: () => claim, save: (made) => void (claim = made), claim: () => claim ?? assert.fail("no claim") };
}

/** As a session leaves it. */
async function register(accountId: Uuid, name: string, tokenId: Uuid): Promise<void> {
  const at = platform.clock.now();
  const facts = {
    host: "h",
    version: "1",
    bootId: "b",
    slots: 1,
    tags: [],
    unavailable: null,
    at,
    needsApproval: false,
    capabilities: [],
  };
  await saveDelegate(platform.db, { accountId, id: newId(), tokenId, name, identityHash: Buffer.alloc(32), ...facts });
}

test("two data directories that start at once get two names, and both tokens count", async () => {
  const accountId = await newAccount();
  const replica = await platform.replica();
  const both = await Promise.all(
    [platform, replica].map(({ db }) => renewLocalPass({ ...deps, db }, accountId, inMemory())),
  );
  const names = both.map((pass) => pass?.name ?? "").toSorted();
  assert.equal(names[0], "local");
  assert.match(names[1] ?? "", /^local-[0-9a-f]{6}$/);
  for (const pass of both) assert.ok(await authenticateDelegate(platform, pass?.token ?? ""));
});

test("one data directory keeps its name; only the newest text of its token counts", async () => {
  const [accountId, file] = [await newAccount(), inMemory()];
  const first = await renewLocalPass(deps, accountId, file);
  const { tokenId } = file.claim();
  const second = await renewLocalPass(deps, accountId, file);
  assert.deepEqual([first?.name, second?.name], ["local", "local"]);
  assert.equal(await authenticateDelegate(platform, first?.token ?? ""), undefined);
  assert.deepEqual(await authenticateDelegate(platform, second?.token ?? ""), { accountId, tokenId });
});

test("a name that a delegate has by another token is left to it", async () => {
  const accountId = await newAccount();
  const other = { accountId, id: newId(), name: "hosts", secretHash: Buffer.alloc(32), createdBy: null, at: 1 };
  assert.equal(await claimDelegateToken(platform.db, other, undefined), true);
  await register(accountId, "local", other.id);
  assert.match((await renewLocalPass(deps, accountId, inMemory()))?.name ?? "", /^local-[0-9a-f]{6}$/);
  await platform.db.query("update delegates set status = 'DELETED' where account_id = $1", [accountId]);
  assert.equal((await renewLocalPass(deps, accountId, inMemory()))?.name, "local");
});

test("a revoked token stays revoked; once it is deleted the name comes again with another", async () => {
  const [accountId, file] = [await newAccount(), inMemory()];
  await renewLocalPass(deps, accountId, file);
  const former = file.claim();
  await register(accountId, "local", former.tokenId);
  await revokeToken(platform.db, { accountId, name: "local" }, 5);
  assert.equal(await renewLocalPass(deps, accountId, file), undefined);
  assert.equal(file.claim(), former);
  assert.equal(await deleteToken(platform.db, { accountId, name: "local" }, 6), "deleted");
  const pass = await renewLocalPass(deps, accountId, file);
  assert.equal(pass?.name, "local");
  assert.notEqual(file.claim().tokenId, former.tokenId);
  assert.ok(await authenticateDelegate(platform, pass.token));
});

test("a claim that cannot be saved is not made", async () => {
  const accountId = await newAccount();
  const full = { read: () => undefined, save: () => assert.fail("the disk is full") };
  await assert.rejects(renewLocalPass(deps, accountId, full), /the disk is full/);
  assert.equal((await renewLocalPass(deps, accountId, inMemory()))?.name, "local");
});

test("the file: closed to others, read as it was kept, and named when it is damaged", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "railhead-claim-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const file = localClaimFile(dir);
  assert.equal(file.read(), undefined);
  const claim = { name: "local", tokenId: newId() };
  file.save(claim);
  assert.deepEqual(localClaimFile(dir).read(), claim);
  const path = join(dir, "local-delegate.json");
  assert.equal(statSync(path).mode & 0o777, 0o600);
  for (const damaged of ["{", JSON.stringify({ name: "local", tokenId: toWire(claim.tokenId).slice(1) })]) {
    writeFileSync(path, damaged);
    assert.throws(file.read, /local-delegate\.json is damaged; delete it/);
  }
});
