/**
 * New root keys and new data keys, on a real database, beside readers and writers; the programs are tested in
 * test/scenarios/.
 */
import assert from "node:assert/strict";
import { randomBytes, randomUUIDv7 } from "node:crypto";
import { after, before, test } from "node:test";
import { create, made, pipelineYaml, projectYaml, triggerYaml } from "../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { adminOf, dumpOf, secretsOf } from "../../test/support/secrets.ts";
import { createAudit } from "../audit/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import { changeRootKey, holdRootKey } from "../identity/index.ts";
import { CHUNK, contentOf } from "../platform/crypto/chunks.ts";
import { createKeyRing, type KeyRing } from "../platform/crypto/key-ring.ts";
import { createSealer } from "../platform/crypto/seal.ts";
import type { SealedStore, BatchResult } from "../platform/crypto/sealed-store.ts";
import { createSealedPasswords } from "../mail/index.ts";
import { createSealedTokens } from "../triggers/index.ts";
import { createSecretStorage } from "../secrets/index.ts";

const HERE = { orgIdentifier: null, projectIdentifier: null };
const FILE = randomBytes(3 * CHUNK + 5);
const TEXTS = 230;

const [first, second] = [randomBytes(32), randomBytes(32)];
const was = createKeyRing(first);
const is = createKeyRing(second);
const both = createKeyRing(second, first);
const newId = (): Uuid => randomUUIDv7() as Uuid;

let platform: TestPlatform;
let admin: Actor;
before(async () => {
  platform = await startTestPlatform({ keys: was });
  admin = adminOf(platform);
  await made(create.project(platform, projectYaml()));
  await made(create.pipeline(platform, pipelineYaml()));
  await made(create.trigger(platform, "deploy", triggerYaml()));
  await made(create.smtpConfig(platform));
  const secrets = secretsWith(was);
  for (let nth = 0; nth < TEXTS; nth += 1) await secrets.create(admin, secretOf(`text_${nth}`));
  await secrets.create(admin, {
    ...secretOf("file"),
    type: "ENCRYPTED_FILE",
    content: { size: FILE.length, pages: [FILE] },
  });
});
after(() => platform?.stop());

const secretsWith = (keys: KeyRing, more: object = {}): ReturnType<typeof secretsOf> =>
  secretsOf(platform, { keys, maxContent: 4 * CHUNK, ...more });
const secretOf = (identifier: string) =>
  ({
    ...HERE,
    identifier,
    name: identifier,
    description: "",
    tags: {},
    type: "ENCRYPTED_TEXT",
    scoping: {},
    content: contentOf(`value of ${identifier}`),
  }) as const;

function keysOf(keys: KeyRing) {
  const deps = {
    db: platform.db,
    clock: platform.clock,
    newId,
    keys,
    commands: new Map(),
    holdRootKey: holdRootKey(keys),
  };
  const audit = createAudit(deps);
  const keeping = createSecretStorage({ ...deps, audit });
  const tokens = createSealedTokens({ ...deps, sealer: createSealer(keys, "webhook tokens") });
  const passwords = createSealedPasswords({ ...deps, sealer: createSealer(keys, "mail passwords") });
  return {
    ...keeping,
    stores: [keeping.sealed, tokens, passwords],
    change: changeRootKey({ ...deps, audit, requireKeys: async () => undefined }),
  };
}

async function sum(swept: AsyncGenerator<BatchResult>): Promise<BatchResult> {
  const all = await Array.fromAsync(swept);
  const lacks = all.flatMap(({ missingKeyIds = [] }) => missingKeyIds);
  return {
    done: all.reduce((total, { done }) => total + done, 0),
    failed: all.flatMap(({ failed }) => failed),
    ...(lacks.length > 0 ? { missingKeyIds: lacks } : {}),
  };
}
const verified = (keys: KeyRing): Promise<BatchResult[]> =>
  Promise.all(keysOf(keys).stores.map((store: SealedStore) => sum(store.verify(admin.accountId))));
const keyIds = async (): Promise<unknown> =>
  platform.db.query("select key_id as key, count(*) as contents from secret_contents group by 1 order by 2");
const code = (wanted: string) => (error: unknown) => (error as { code?: string }).code === wanted;

test("a new root key: in batches, again after an interruption, and the former one opens nothing any more", async () => {
  const { change, sealed, stores } = keysOf(both);
  await assert.rejects(keysOf(is).change(admin.accountId), code("identity.wrong_root_key"));
  assert.equal(await change(admin.accountId), was.preferred.id);
  assert.equal(await change(admin.accountId), is.preferred.id);

  const interrupted = sealed.reseal(admin.accountId, is.preferred.id);
  assert.deepEqual((await interrupted.next()).value, { done: 200, failed: [] });
  await interrupted.return(undefined);
  assert.deepEqual(await keyIds(), [
    { key: was.preferred.id, contents: TEXTS + 1 - 200 },
    { key: is.preferred.id, contents: 200 },
  ]);
  // In the middle: who knows both reads everything, and what is made is under the new one.
  assert.equal(await secretsWith(both).openText(admin, HERE, "text_0"), "value of text_0");
  assert.equal(await secretsWith(both).openText(admin, HERE, `text_${TEXTS - 1}`), `value of text_${TEXTS - 1}`);
  await secretsWith(both).create(admin, secretOf("between"));
  await assert.rejects(secretsWith(was).create(admin, secretOf("nowhere")), code("secret.no_root_key"));

  const again = await Promise.all(stores.map((store) => sum(store.reseal(admin.accountId, is.preferred.id))));
  assert.deepEqual(again, [
    { done: TEXTS + 1 - 200, failed: [] },
    { done: 1, failed: [] },
    { done: 1, failed: [] },
  ]);
  assert.deepEqual(await keyIds(), [{ key: is.preferred.id, contents: TEXTS + 2 }]);
  assert.deepEqual(await verified(is), [
    { done: TEXTS + 2, failed: [] },
    { done: 1, failed: [] },
    { done: 1, failed: [] },
  ]);
  const byFormer = await verified(was);
  assert.deepEqual(
    byFormer.map(({ done, failed, missingKeyIds = [] }) => [
      done,
      failed,
      missingKeyIds.length,
      new Set(missingKeyIds),
    ]),
    [
      [0, [], TEXTS + 2, new Set([is.preferred.id])],
      [0, [], 1, new Set([is.preferred.id])],
      [0, [], 1, new Set([is.preferred.id])],
    ],
  );
  const audited = await platform.db.query("select operation from audit_entries where operation like 'account.%'");
  assert.deepEqual(audited, [{ operation: "account.change-root-key" }]);
});

test("what was sealed before the change and is stored after it is sealed again", async () => {
  const third = createKeyRing(randomBytes(32), second);
  const { db } = platform;
  const late = {
    ...db,
    transaction: async (work: never) => {
      await keysOf(third).change(admin.accountId);
      return db.transaction(work);
    },
  };
  const created = await secretsWith(third, { db: late }).create(admin, secretOf("late"));
  const key = async (): Promise<unknown> =>
    (await db.query("select key_id as key from secret_contents where secret_id = $1", [created.id]))[0]?.["key"];
  assert.equal(await key(), third.preferred.id);
  const back = createKeyRing(second, third.preferred.key);
  const lateBack = {
    ...db,
    transaction: async (work: never) => {
      await keysOf(back).change(admin.accountId);
      return db.transaction(work);
    },
  };
  await secretsWith(back, { db: lateBack }).update(
    admin,
    { by: "identifier", key: { ...HERE, identifier: "late" } },
    { changes: { content: contentOf("later") } },
  );
  assert.equal(await key(), is.preferred.id);
  assert.equal(await secretsWith(is).openText(admin, HERE, "late"), "later");
});

test("new data keys: a reader in the middle of a file goes on, an interrupted rotation too, and no former key is left", async () => {
  const secrets = secretsWith(is);
  const former = await platform.db.query("select id, wrapped_key as key from secret_contents");
  const total = former.length;
  const reading = (await secrets.resolve(admin, HERE, "file")).read();
  const pieces = [(await reading.next()).value];

  const interrupted = keysOf(is).rotateDataKeys(admin.accountId);
  const { done } = (await interrupted.next()).value as BatchResult;
  await interrupted.return(undefined);
  assert.ok(done > 0 && done < total);
  assert.deepEqual(await sum(keysOf(is).rotateDataKeys(admin.accountId)), { done: total - done, failed: [] });

  for await (const piece of reading) pieces.push(piece);
  assert.ok(Buffer.concat(pieces as Buffer[]).equals(FILE));
  const now = await platform.db.query("select id, wrapped_key as key from secret_contents");
  assert.equal(now.length, total);
  for (const row of former)
    assert.ok(!now.some(({ id, key }) => id === row["id"] || (key as Buffer).equals(row["key"] as Buffer)));
  assert.deepEqual((await verified(is))[0], { done: total, failed: [] });
  assert.equal(await secrets.openText(admin, HERE, "text_7"), "value of text_7");
  // Done is done: the next one is another rotation, of everything.
  assert.deepEqual(await sum(keysOf(is).rotateDataKeys(admin.accountId)), { done: total, failed: [] });
  const rotations = await platform.db.query("select count(*) as n from key_rotations where finished_at is not null");
  assert.deepEqual(rotations, [{ n: 2 }]);
});

test("what cannot be opened is named and left alone, and holds up nothing", async () => {
  await platform.db.query(
    "update secret_contents set wrapped_key = '\\x00' where secret_id = (select id from secrets where identifier = 'text_3')",
  );
  await platform.db.query(
    "update secret_chunks set sealed = overlay(sealed placing '\\xff' from 30) where content_id = (select c.id from secret_contents c join secrets s on s.id = c.secret_id where s.identifier = 'file') and nth = 2",
  );
  await platform.db.query(
    "delete from secret_contents where secret_id = (select id from secrets where identifier = 'text_4')",
  );
  const n = (await platform.db.query("select 1 from secret_contents")).length;
  assert.deepEqual((await verified(is))[0], { done: n - 2, failed: ["text_4", "text_3", "file"] });
  assert.deepEqual(await sum(keysOf(is).rotateDataKeys(admin.accountId)), { done: n - 2, failed: ["text_3", "file"] });
  const back = keysOf(createKeyRing(first, second));
  await back.change(admin.accountId);
  assert.deepEqual(await sum(back.sealed.reseal(admin.accountId, was.preferred.id)), {
    done: n - 1,
    failed: ["text_3"],
  });
  await assert.rejects(sum(back.sealed.reseal(admin.accountId, is.preferred.id)), /Another rotation/);
  assert.ok(!(await dumpOf(platform)).includes("value of text"));
});
