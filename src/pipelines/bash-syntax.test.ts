/** What Bash says of a script before it is saved. A real Bash, as on a server. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pipelineYaml } from "../../test/support/contract.ts";
import type { Uuid } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import { makeCheckScripts } from "./bash-syntax.ts";
import { readPipeline } from "./document/read.ts";
import { changed, SAMPLE, SCOPE } from "./document/sample.ts";

const SCRIPT = `                          echo "hello"
                          greeting=hello
`;
const withScript = (...lines: readonly string[]): string =>
  changed(SCRIPT, lines.map((line) => (line === "" ? "\n" : `                          ${line}\n`)).join(""));

/** Time stands still, and a slow machine has the time that it needs. */
const DEPS = { elapsed: () => 0, scriptMs: 600_000 };
const A = "a" as Uuid;

const check = makeCheckScripts(DEPS);

async function faultsOf(text: string, by = check, accountId = A): Promise<readonly string[]> {
  const { pipeline, doc } = readPipeline(text, SCOPE);
  try {
    await by(accountId, pipeline, async (places) => places.map(({ path, offset }) => doc.positionIn(path, offset)));
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
  assert.deepEqual(await faultsOf(wrong, makeCheckScripts({ ...DEPS, bash: "/nonexistent/bash" })), []);
  assert.deepEqual(await faultsOf(wrong, makeCheckScripts({ ...DEPS, bash: "/bin/true" })), []);
  assert.equal((await faultsOf(wrong)).length, 1);
});

/** A Bash of the test's own: notes each run in a file, and then does what is written here. */
async function withProgram(body: string, use: (bash: string, runs: () => number) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "rh-syntax-"));
  const [bash, noted] = [join(folder, "bash"), join(folder, "noted")];
  try {
    await writeFile(bash, `#!/bin/bash\ncat > /dev/null\necho >> ${noted}\n${body}\n`, { mode: 0o755 });
    await use(bash, () => (existsSync(noted) ? readFileSync(noted, "utf8").length : 0));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** One step after the other, each with its script; a step that shares the script of the first one is null. */
function withSteps(scripts: readonly (string | null)[]): string {
  const step = (script: string | null, nth: number): string => {
    const value = script === null ? "*first" : `${nth === 0 ? "&first " : ""}${JSON.stringify(script)}`;
    const spec = `{ shell: Bash, onDelegate: true, source: { type: Inline, spec: { script: ${value} } } }`;
    return `              - step: { type: ShellScript, name: s${nth}, identifier: s${nth}, spec: ${spec} }`;
  };
  return pipelineYaml().replace(/ {14}- step:[\s\S]*?(?= {12}rollbackSteps)/, `${scripts.map(step).join("\n")}\n`);
}

const FAULT = 'echo "bash: line 1: a fault" >&2; exit 2';

test("one script that fifty steps share is one run, each step has the fault, and a second save asks nothing", async () => {
  await withProgram(FAULT, async (bash, runs) => {
    const by = makeCheckScripts({ ...DEPS, bash });
    const text = withSteps(["echo", ...Array.from({ length: 49 }, () => null)]);
    const [one, other] = await Promise.all([faultsOf(text, by), faultsOf(text, by)]);
    assert.deepEqual([one.length, other.length, runs()], [50, 50, 1]);
    assert.equal((await faultsOf(text, by)).length, 50);
    assert.equal(runs(), 1);
    assert.equal((await faultsOf(text, by, "b" as Uuid)).length, 50);
    assert.equal(runs(), 2, "accounts share no answers");
  });
});

test("a Bash that breaks off, or says nothing that can be read, decides nothing and is asked again", async () => {
  for (const body of ["kill -KILL $$", "echo no memory >&2; exit 2"])
    await withProgram(body, async (bash, runs) => {
      const by = makeCheckScripts({ ...DEPS, bash });
      assert.deepEqual(await faultsOf(SAMPLE, by), []);
      assert.deepEqual(await faultsOf(SAMPLE, by), []);
      assert.equal(runs(), 2, body);
    });
});

test("a script that takes longer than its time is ended, and what has not been checked passes", async () => {
  await withProgram("exec /bin/sleep 3600", async (bash) => {
    const by = makeCheckScripts({ ...DEPS, bash, scriptMs: 1 });
    assert.deepEqual(await faultsOf(withSteps(["echo 1"]), by), []);
  });
});

test("a request whose time is over begins no further script", async () => {
  await withProgram(FAULT, async (bash, runs) => {
    let asked = 0;
    // Each look at the time finds it 600 ms later.
    const by = makeCheckScripts({ bash, scriptMs: 600_000, elapsed: () => (asked += 600) });
    const found = await faultsOf(withSteps(Array.from({ length: 10 }, (_, nth) => `echo ${nth}`)), by);
    assert.ok(runs() <= 2 && found.length <= 2, `${runs()} runs, ${found.length} faults`);
  });
});

test("of one account one process runs at a time, of all accounts two", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rh-syntax-"));
  const slow = join(folder, "bash");
  // Counts those that run at once by folders that it makes, and says so as a fault.
  const body = `#!/bin/bash\ncat > /dev/null\nmkdir ${folder}/$$.run\nset -- ${folder}/*.run\necho "bash: line 1: $# at once" >&2\nrmdir ${folder}/$$.run\nexit 2\n`;
  await writeFile(slow, body, { mode: 0o755 });
  try {
    const most = async (accounts: readonly string[], limit: number): Promise<void> => {
      const by = makeCheckScripts({ ...DEPS, bash: slow });
      const all = await Promise.all(
        Array.from({ length: 12 }, (_, nth) =>
          faultsOf(withScript(`echo ${nth}`), by, accounts[nth % accounts.length] as Uuid),
        ),
      );
      const counts = all.map(([fault]) => Number(/(\d+) at once/.exec(fault ?? "")?.[1]));
      assert.ok(
        counts.every((count) => count >= 1 && count <= limit),
        counts.join(),
      );
    };
    await most(["a"], 1);
    await most(["a", "b", "c", "d"], 2);
  } finally {
    await rm(folder, { recursive: true });
  }
});
