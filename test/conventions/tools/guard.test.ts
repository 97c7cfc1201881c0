import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { root } from "../../../scripts/lib/files.ts";

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "railhead-guard-")));
after(() => rmSync(folder, { recursive: true }));

let made = 0;

/** Creates a checkout with the guard, one program, and a package.json that requires this Node. */
function checkout(needed: string, optional: readonly string[] = []): string {
  const place = path.join(folder, String((made += 1)));
  mkdirSync(path.join(place, "scripts"), { recursive: true });
  copyFileSync(path.join(root, "scripts/guard.js"), path.join(place, "scripts/guard.js"));
  const optionalDependencies = Object.fromEntries(optional.map((name) => [name, needed]));
  const manifest = { type: "module", engines: { node: `>=${needed}` }, optionalDependencies };
  writeFileSync(path.join(place, "package.json"), JSON.stringify(manifest));
  writeFileSync(
    path.join(place, "program.ts"),
    "const said: string[] = process.argv.slice(1); console.log(JSON.stringify(said));",
  );
  return place;
}

const run = (place: string, ...args: readonly string[]) => {
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  return spawnSync(process.execPath, ["scripts/guard.js", ...args], { cwd: place, encoding: "utf8", env });
};

test("it runs the program with its arguments, and stores compiled code beside the checkout", () => {
  const place = checkout("1.0.0");
  const { status, stdout } = run(place, "program.ts", "--flag", "a b");
  assert.deepEqual(JSON.parse(stdout), [path.join(place, "program.ts"), "--flag", "a b"]);
  assert.equal(status, 0);
  assert.equal(readdirSync(path.join(place, "node_modules/.cache/railhead")).length, 1);
});

test("without a program it prints its usage", () => {
  const { status, stderr } = run(checkout("1.0.0"));
  assert.equal(status, 2);
  assert.match(stderr, /^usage: node scripts\/guard\.js/);
});

test("a program may import it: it checks Node and runs nothing", () => {
  const place = checkout("1.0.0");
  writeFileSync(path.join(place, "cli.js"), 'import "./scripts/guard.js"; console.log("after the guard");');
  const { stdout } = spawnSync(process.execPath, ["cli.js", "program.ts"], { cwd: place, encoding: "utf8" });
  assert.equal(stdout, "after the guard\n");
});

test("an old Node is reported with the missing package", () => {
  const name = `node-${process.platform}-${process.arch}`;
  const { status, stdout, stderr } = run(checkout("99.1.0", [name]), "program.ts");
  assert.equal(status, 1);
  assert.equal(stdout, "");
  assert.match(stderr, /needs Node 99\.1\.0 or newer; this is Node \d/);
  assert.ok(stderr.includes(`${name} brings it, but is not installed`), stderr);
});

test("on a platform without a package it tells the user to install Node", () => {
  assert.match(run(checkout("99.1.0", ["node-plan9-mips"]), "program.ts").stderr, /No npm package brings it for /);
});

test("if the correct Node is installed but not used, it tells how to use it", () => {
  const place = checkout("99.1.0");
  mkdirSync(path.join(place, "node_modules/.bin"), { recursive: true });
  writeFileSync(path.join(place, "node_modules/.bin/node"), "");
  assert.match(run(place, "program.ts").stderr, /use `npm start` or `npx railhead`/);
});
