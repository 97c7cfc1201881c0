import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import type { Uuid } from "../../../core/ids.ts";
import { createKeyRing, type KeyRing } from "../../../platform/crypto/key-ring.ts";
import { createPlatformWrapper } from "./platform.ts";
import type { KeyWrapper } from "./kind.ts";

const id = (nth: number): Uuid => `00000000-0000-7000-8000-00000000000${nth}` as Uuid;
const MANAGER = { accountId: id(1), managerId: id(2), spec: {} };
const keys = createKeyRing(randomBytes(32));
const dataKey = randomBytes(32);

const wrapperOf = (ring: KeyRing): KeyWrapper =>
  createPlatformWrapper({
    db: { query: async () => [] },
    keys: ring,
    rootKeyOf: async () => ring.preferred.id,
    holdRootKey: async () => ring.preferred.id,
  });

test("a data key opens for its manager, its record and the same root key, and for nothing else", async () => {
  const { wrap, unwrap } = wrapperOf(keys);
  const wrapped = await wrap(MANAGER, dataKey, "secret:a");
  assert.ok((await wrapperOf(keys).unwrap(MANAGER, wrapped, "secret:a")).equals(dataKey));
  await assert.rejects(unwrap(MANAGER, wrapped, "secret:b"), /authenticate/, "another record");
  await assert.rejects(
    unwrap({ ...MANAGER, managerId: id(3) }, wrapped, "secret:a"),
    /authenticate/,
    "another manager",
  );
  await assert.rejects(
    unwrap({ ...MANAGER, accountId: id(3) }, wrapped, "secret:a"),
    /authenticate/,
    "another account",
  );
  const changed = { ...wrapped, wrapped: Buffer.from(wrapped.wrapped) };
  changed.wrapped[40] = (changed.wrapped[40] ?? 0) ^ 1;
  await assert.rejects(unwrap(MANAGER, changed, "secret:a"), /authenticate/, "a changed byte");
  await assert.rejects(wrapperOf(createKeyRing(randomBytes(32))).unwrap(MANAGER, wrapped, "secret:a"), /root key/);
});

test("the key id distinguishes root keys and reveals nothing of them", async () => {
  const { wrap } = wrapperOf(keys);
  const [one, two] = [await wrap(MANAGER, dataKey, "x"), await wrap(MANAGER, dataKey, "x")];
  assert.equal(one.keyId, two.keyId);
  assert.ok(!one.wrapped.equals(two.wrapped));
  assert.notEqual((await wrapperOf(createKeyRing(randomBytes(32))).wrap(MANAGER, dataKey, "x")).keyId, one.keyId);
  assert.ok(!keys.preferred.key.toString("hex").includes(one.keyId));
});
