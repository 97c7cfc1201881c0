import assert from "node:assert/strict";
import { createCipheriv, hkdfSync, randomBytes } from "node:crypto";
import { test } from "node:test";
import type { Uuid } from "../../core/ids.ts";
import { hashPassword } from "./passwords.ts";
import { createKeyRing } from "./key-ring.ts";
import { createSealer, sealedPrefix, UnknownRootKey } from "./seal.ts";
import { hashSecret, newTokenSecret, readToken, secretMatches, writeToken } from "./tokens.ts";

const accountId = "01a1fc75-fee1-7000-8000-000000000001" as Uuid;
const tokenId = "01a1fc75-fee1-7000-8000-000000000002" as Uuid;

test("a sealed value opens with its key, its purpose and its record, and with nothing else", () => {
  const keys = createKeyRing(randomBytes(32));
  const { id } = keys.preferred;
  const sealer = createSealer(keys, "webhook tokens");
  const sealed = sealer.seal("plain ä", "trigger:1", id);
  assert.equal(sealer.open(sealed, "trigger:1"), "plain ä");
  assert.equal(createSealer(keys, "webhook tokens").open(sealed, "trigger:1"), "plain ä");
  assert.throws(() => sealer.open(sealed, "trigger:2"));
  assert.throws(() => createSealer(keys, "root key check").open(sealed, "trigger:1"));
  assert.throws(
    () => createSealer(createKeyRing(randomBytes(32)), "webhook tokens").open(sealed, "trigger:1"),
    /root key/,
  );
  assert.throws(() => sealer.open(Buffer.alloc(0), "trigger:1"), /unknown version/);
  assert.throws(() => sealer.open(sealed.subarray(0, 20), "trigger:1"));
});

test("no byte of a sealed value may change", () => {
  const keys = createKeyRing(randomBytes(32));
  const { id } = keys.preferred;
  const sealer = createSealer(keys, "x");
  const sealed = sealer.seal("plain", "r", id);
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.throws(() => sealer.open(changed, "r"), `byte ${at}`);
  }
  assert.notDeepEqual(sealer.seal("plain", "r", id), sealed, "a nonce serves once");
  assert.equal(sealed.includes("plain"), false);
});

test("with two keys known, either opens its own, sealing takes the one that is named, and an unknown one is told", () => {
  const [old, fresh] = [randomBytes(32), randomBytes(32)];
  const [was, is, both] = [createKeyRing(old), createKeyRing(fresh), createKeyRing(fresh, old)];
  const sealer = createSealer(both, "x");
  const byOld = createSealer(was, "x").seal("a", "r", was.preferred.id);
  assert.equal(sealer.open(byOld, "r"), "a");
  const byNew = sealer.seal("b", "r", is.preferred.id);
  assert.equal(createSealer(is, "x").open(byNew, "r"), "b");
  assert.ok(byNew.subarray(0, 9).equals(sealedPrefix(is.preferred.id)));
  assert.throws(() => createSealer(was, "x").open(byNew, "r"), UnknownRootKey);
  assert.throws(() => createSealer(was, "x").seal("c", "r", is.preferred.id), UnknownRootKey);
  assert.deepEqual(createKeyRing(fresh, fresh).all.length, 1);
});

test("what was sealed before values said which key they need still opens", () => {
  const [old, fresh] = [randomBytes(32), randomBytes(32)];
  const key = Buffer.from(hkdfSync("sha256", old, Buffer.alloc(0), "railhead x", 32));
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from("r"));
  const body = Buffer.concat([cipher.update("plain"), cipher.final()]);
  const sealed = Buffer.concat([Buffer.from([1]), nonce, cipher.getAuthTag(), body]);
  assert.equal(createSealer(createKeyRing(fresh, old), "x").open(sealed, "r"), "plain");
  assert.throws(() => createSealer(createKeyRing(fresh), "x").open(sealed, "r"));
  assert.throws(() => createSealer(createKeyRing(fresh, old), "x").open(sealed, "other"));
});

test("a token reads back as it was written, and no other text is one", () => {
  const secret = newTokenSecret();
  assert.equal(Buffer.from(secret, "base64url").length, 32);
  const token = writeToken("pat", { accountId, tokenId, secret });
  assert.deepEqual(readToken("pat", token), { accountId, tokenId, secret });
  assert.equal(readToken("dlg", token), undefined);
  const [kind, account, id] = token.split(".");
  const bad = [
    "",
    ".",
    "...",
    "pat...",
    `${token}.`,
    `${token}.x`,
    ` ${token}`,
    `${kind}.${account}.${id}`,
    `${kind}.${account}.${id}.`,
    `${kind}.x.${id}.${secret}`,
    `${token}${"x".repeat(300)}`,
  ];
  for (const text of bad) assert.equal(readToken("pat", text), undefined, text);
});

test("a secret matches its own hash only, and none where there is no token", () => {
  assert.ok(secretMatches("s", hashSecret("s")));
  assert.ok(!secretMatches("t", hashSecret("s")));
  assert.ok(!secretMatches("s", undefined));
});

test("passwords are kept as argon2id with a salt of their own", async () => {
  const [one, two] = [await hashPassword("x"), await hashPassword("x")];
  assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.notEqual(one, two);
});
