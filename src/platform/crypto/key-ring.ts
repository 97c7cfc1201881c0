/** The root keys of a program: the preferred one and earlier ones. */
import { hkdfSync } from "node:crypto";

/** `id` is a fingerprint that does not reveal the key, so it may be stored, logged and shown. */
export type RootKey = { readonly id: string; readonly key: Buffer };

/** The root keys given to this program. An account may still use an earlier one: `HoldRootKey` answers which. */
export type KeyRing = {
  readonly preferred: RootKey;
  /** The preferred one first. */
  readonly all: readonly RootKey[];
  readonly find: (id: string) => RootKey | undefined;
};

/** Characters of a key's id. */
export const KEY_ID_LENGTH = 16;

/** An earlier key that equals the preferred one is left out. */
export function createKeyRing(preferred: Buffer, ...earlier: readonly Buffer[]): KeyRing {
  const first = withId(preferred);
  const others = earlier.map((key) => withId(key)).filter(({ id }) => id !== first.id);
  const all = [first, ...others];
  return { preferred: first, all, find: (id) => all.find((known) => known.id === id) };
}

/** A key for one purpose, from which neither the root key nor the key of another purpose follows (RFC 5869). */
export const deriveKey = (root: RootKey, purpose: string): Buffer => derived(root.key, purpose);

const withId = (key: Buffer): RootKey => ({
  id: derived(key, "railhead root key id")
    .subarray(0, KEY_ID_LENGTH / 2)
    .toString("hex"),
  key,
});

const derived = (key: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", key, Buffer.alloc(0), purpose, 32));
