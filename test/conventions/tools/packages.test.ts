import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { root } from "../../../scripts/lib/files.ts";
import { type Lock, type Manifest, packageViolations } from "../lib/packages.ts";
import { assertNoViolations } from "../lib/violations.ts";

const readJson = (file: string): unknown => JSON.parse(readFileSync(path.join(root, file), "utf8"));

test("packages have exact versions, permissive licences and no install script", () => {
  assertNoViolations(packageViolations(readJson("package.json") as Manifest, readJson("package-lock.json") as Lock));
});

test("npm fails on an install script that is not denied", () => {
  assert.match(readFileSync(path.join(root, ".npmrc"), "utf8"), /^strict-allow-scripts=true$/m);
});

const good = { license: "MIT", integrity: "sha512-x" };
const planted = (manifest: Manifest, packages: Lock["packages"] = {}): readonly string[] =>
  packageViolations(manifest, { packages }).map(({ message }) => message);

test("planted: a version range", () => {
  for (const version of ["^1.2.3", "~1.2.3", "1.x", "latest", "*", "file:../x", "npm:other@1.2.3", "1.2.3 - 2"]) {
    assert.equal(planted({ devDependencies: { x: version } }).length, 1, version);
  }
  assert.deepEqual(planted({ dependencies: { x: "1.2.3" }, optionalDependencies: { y: "18.4.0-beta.17" } }), []);
});

test("planted: licences", () => {
  const judged = (license: string | undefined): number =>
    planted({}, { "node_modules/x": license === undefined ? { integrity: "i" } : { ...good, license } }).length;
  for (const free of ["MIT", "(MIT AND Zlib)", "(MIT OR GPL-3.0)", "Apache-2.0"]) assert.equal(judged(free), 0, free);
  for (const bad of ["GPL-3.0", "(MIT AND GPL-3.0)", "(GPL-2.0 OR GPL-3.0)", "MPL-2.0", "UNLICENSED", undefined]) {
    assert.equal(judged(bad), 1, String(bad));
  }
});

test("planted: an install script, a missing checksum, a named host", () => {
  const script = { "node_modules/a/node_modules/@s/x": { ...good, hasInstallScript: true } };
  assert.match(planted({}, script)[0] ?? "", /has an install script/);
  assert.match(planted({ allowScripts: { "@s/x": true } }, script)[0] ?? "", /has an install script/);
  assert.deepEqual(planted({ allowScripts: { "@s/x": false } }, script), []);
  assert.match(planted({}, { "node_modules/x": { license: "MIT" } })[0] ?? "", /no integrity/);
  assert.match(planted({}, { "node_modules/x": { ...good, resolved: "https://host/x" } })[0] ?? "", /names the host/);
});
