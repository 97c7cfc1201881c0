/** What Bash says of a script before it is saved. A real Bash, as on a server. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Problem } from "../core/problem.ts";
import { makeCheckScripts } from "./bash-syntax.ts";
import { readPipeline } from "./document/read.ts";
import { changed, SAMPLE, SCOPE } from "./document/sample.ts";

const SCRIPT = `                          echo "hello"
                          greeting=hello
`;
const withScript = (...lines: readonly string[]): string =>
  changed(SCRIPT, lines.map((line) => (line === "" ? "\n" : `                          ${line}\n`)).join(""));

const check = makeCheckScripts();

async function faultsOf(text: string, by = check): Promise<readonly string[]> {
  const { pipeline, doc } = readPipeline(text, SCOPE);
  try {
    await by(pipeline, doc);
    return [];
  } catch (error) {
    assert.ok(error instanceof Problem);
    assert.deepEqual([error.code, error.status], ["document.invalid", 400]);
    return error.faults.map(({ path, message, line }) => `${path.split(".").at(-1)} ${line}: ${message}`);
  }
}

/** The line of the document that the first line of the script stands on. */
const FIRST = SAMPLE.slice(0, SAMPLE.indexOf(SCRIPT)).split("\n").length;

test("a script that does not parse is refused with its line, in the script and in the document", async () => {
  assert.deepEqual(await faultsOf(withScript("echo one", "if true; then", "echo two", "done")), [
    `script ${FIRST + 3}: Bash does not accept line 4 of the script: syntax error near unexpected token \`done'`,
  ]);
  const [unclosed] = await faultsOf(withScript("echo 'one", "echo two"));
  assert.match(unclosed ?? "", /looking for matching/);
});

test("what parses is saved: expressions, patterns that an option allows, here-documents, a script of comments", async () => {
  for (const lines of [
    ['x="<+pipeline.name>"', 'case "$x" in (a) echo <+pipeline.identifier>;; esac'],
    ["shopt -s extglob", "ls !(a|b)"],
    ["cat <<EOF", "if then fi ((", "EOF"],
    ["# nothing"],
  ])
    assert.deepEqual(await faultsOf(withScript(...lines)), [], lines.join());
});

test("nothing of a script is run, and nothing of the server's environment is read", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rh-syntax-"));
  const ran = join(folder, "ran");
  try {
    process.env["BASH_ENV"] = "/dev/stdin";
    assert.deepEqual(await faultsOf(withScript(`touch ${ran}`, `x=$(touch ${ran})`)), []);
    assert.equal(existsSync(ran), false);
  } finally {
    delete process.env["BASH_ENV"];
    await rm(folder, { recursive: true });
  }
});

test("a server without a Bash, or with one that does not answer, saves the script unchecked", async () => {
  const wrong = withScript("if true; then");
  assert.deepEqual(await faultsOf(wrong, makeCheckScripts("/nonexistent/bash")), []);
  assert.deepEqual(await faultsOf(wrong, makeCheckScripts("/bin/true")), []);
  assert.equal((await faultsOf(wrong)).length, 1);
});

test("however many are saved at once, two processes run", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rh-syntax-"));
  const slow = join(folder, "bash");
  // Counts those that run at once by folders that it makes, and says so as a fault.
  const body = `#!/bin/bash\ncat > /dev/null\nmkdir ${folder}/$$.run\nset -- ${folder}/*.run\necho "bash: line 1: $# at once" >&2\nrmdir ${folder}/$$.run\nexit 2\n`;
  await writeFile(slow, body, { mode: 0o755 });
  try {
    const by = makeCheckScripts(slow);
    const all = await Promise.all(Array.from({ length: 12 }, (_, nth) => faultsOf(withScript(`echo ${nth}`), by)));
    const counts = all.map(([fault]) => Number(/(\d+) at once/.exec(fault ?? "")?.[1]));
    assert.ok(
      counts.every((count) => count >= 1 && count <= 2),
      counts.join(),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});
