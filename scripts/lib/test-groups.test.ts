import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { groupTests, isShareable } from "./test-groups.ts";

const PLATFORM = 'import { startTestPlatform } from "../../test/support/platform.ts";\n';

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "railhead-groups-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("a file that uses the platform shares a process, unless it cannot or says that it must not", () => {
  assert.ok(isShareable(`${PLATFORM}test("x", async () => {\n  await startTestPlatform();\n});`));
  assert.ok(isShareable(`${PLATFORM}const ids = async () => await list();`));
  assert.ok(!isShareable('import { step } from "./step.ts";'));
  for (const line of [
    "await begin();",
    "const found = await findChromium();",
    "const needs = { skip: (await find()) ?? false };",
  ])
    assert.ok(!isShareable(`${PLATFORM}${line}`), line);
  assert.ok(!isShareable(`// Runs in a process of its own: it counts descriptors.\n${PLATFORM}`));
});

test("each file is in one group or alone, in order, and a group is bounded", (t) => {
  const folder = folderFor(t);
  const files = Array.from({ length: 25 }, (_, nth) => join(folder, `${nth + 10}.test.ts`));
  for (const [nth, file] of files.entries()) writeFileSync(file, nth % 5 === 0 ? "" : PLATFORM);
  const alone = files.filter((_, nth) => nth % 5 === 0);
  const groups = mkdtempSync(join(folder, "groups-"));
  const all = groupTests(files, groups);
  assert.deepEqual(all.slice(2), alone);
  assert.deepEqual(
    all.slice(0, 2).toSorted(),
    readdirSync(groups)
      .map((name) => join(groups, name))
      .toSorted(),
  );
});

test("a group runs its files in turn, under their names, with the hooks of each; a failing file fails it", (t) => {
  const folder = folderFor(t);
  const runner = new URL("test-group.ts", import.meta.url).href;
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const file = (name: string, body: string): string =>
    write(
      name,
      `import { after, before, test } from "node:test";
       import assert from "node:assert/strict";
       before(() => { assert.equal(globalThis.open, undefined); globalThis.open = "${name}"; });
       after(() => { delete globalThis.open; });
       test("of ${name}", () => { ${body} });`,
    );
  const own = 'assert.ok(process.argv[1].endsWith(globalThis.open), "argv");';
  const files = [file("a.test.mjs", own), file("b.test.mjs", 'assert.fail("broken");'), file("c.test.mjs", own)];
  const broken = write("d.test.mjs", 'throw new Error("does not load");');
  const group = write(
    "group.mjs",
    `import { runFiles } from "${runner}";\nrunFiles(${JSON.stringify([...files, broken])});`,
  );
  // The variables of this test's own runner would make it a part of this run.
  const env = { PATH: process.env["PATH"] };
  const args = ["--test", "--test-reporter=spec", group];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", env });
  assert.equal(status, 1);
  const lines = stdout
    .slice(0, stdout.indexOf("failing tests"))
    .replaceAll(/ \([\d.]+ms\)/g, "")
    .split("\n");
  const shown = new Set(lines.filter((line) => /^\s*[✔✖▶]/.test(line)).map((line) => line.trim()));
  for (const line of [
    "✔ a.test.mjs",
    "✔ of a.test.mjs",
    "✖ of b.test.mjs",
    "✖ b.test.mjs",
    "✔ of c.test.mjs",
    "✔ c.test.mjs",
    "✖ d.test.mjs",
  ])
    assert.ok(shown.has(line), `${line}: ${stdout}`);
  assert.match(stdout, /does not load/);
});
