/** Checks that the rotation of root keys covers every sealed value. A value that it misses is lost with its key. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isTest, readCode } from "../../../scripts/lib/files.ts";

const ROTATED_BY = "src/commands/secrets.ts";

/** Sealed values that need no rotation, with the reason. The list may only shrink. */
const EXEMPT: Readonly<Record<string, string>> = {
  "known browsers": "sealed into cookies and stored nowhere: a browser whose cookie does not open is a new one",
  "single sign-on": "sealed into cookies of ten minutes and stored nowhere: after a rotation the sign-in starts again",
};

/** Returns the purposes of the sealers that the text creates. */
const purposesIn = (text: string): readonly string[] =>
  [...text.matchAll(/\bcreateSealer\(\s*[^,()]+,\s*(?:"([^"]+)"|(\w+))/g)].map(
    ([, literal, name]) => literal ?? name ?? "",
  );

function forgotten(files: ReadonlyMap<string, string>): readonly string[] {
  const rotated = new Set(purposesIn(files.get(ROTATED_BY) ?? ""));
  return [...files]
    .filter(
      ([file]) =>
        file.startsWith("src/") &&
        !isTest(file) &&
        !file.startsWith("src/platform/") &&
        file !== "src/identity/root-key.ts",
    )
    .flatMap(([file, text]) => purposesIn(text).map((purpose) => ({ file, purpose })))
    .filter(({ purpose }) => !rotated.has(purpose) && !Object.hasOwn(EXEMPT, purpose))
    .map(({ file, purpose }) => `${file} seals "${purpose}", which sealedStores in ${ROTATED_BY} does not know`);
}

test("every value sealed under root keys is rotated and verified", () => assert.deepEqual(forgotten(readCode()), []));

test("planted: a sealer without a rotation", () => {
  const files = new Map([
    [ROTATED_BY, `createSealer(keys, "webhook tokens")`],
    ["src/triggers/x.ts", `createSealer(deps.keys, "webhook tokens")`],
    ["src/login/x.ts", `createSealer(\n  deps.keys,\n  "passwords of others",\n)`],
    ["src/login/y.ts", `createSealer(deps.keys, PURPOSE)`],
  ]);
  assert.deepEqual(
    forgotten(files).map((text) => text.split(" ", 1)[0]),
    ["src/login/x.ts", "src/login/y.ts"],
  );
});
