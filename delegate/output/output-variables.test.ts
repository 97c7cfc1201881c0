import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { MAX_OUTPUTS } from "../../protocol/messages.ts";
import { bashCommand, END_NOT_REACHED, parseOutputs, readOutputs, type OutputVariable } from "./output-variables.ts";

// A quote in the path: it stands in shell text.
const folder = join(mkdtempSync(join(tmpdir(), "railhead-outputs-")), "it's here");
mkdirSync(folder);
after(() => rmSync(join(folder, ".."), { recursive: true }));
const script = join(folder, "script.sh");
const file = join(folder, "outputs");
const X: readonly OutputVariable[] = [{ name: "x", variable: "X" }];

/** Runs a script as a step does. */
function run(text: string, wanted: readonly OutputVariable[] = X) {
  writeFileSync(script, text);
  writeFileSync(file, END_NOT_REACHED);
  const { status, stdout, stderr } = spawnSync("bash", ["-c", bashCommand(script, file, wanted), script], {
    encoding: "utf8",
    cwd: folder,
  });
  const read = readOutputs(file, wanted);
  return { status, text: stdout + stderr, read, x: read.kind === "read" ? read.outputs[0]?.value : read.kind };
}

const hostile: Readonly<Record<string, string>> = {
  plain: "X=ok",
  exported: "export X=ok",
  "from set -eu": "set -eu; X=ok",
  "with functions named like builtins":
    "printf() { echo no; }; set() { echo no; }; exit() { echo no; }; trap() { echo no; }; X=ok",
  "with another IFS": "IFS=ok; X=ok",
  "with aliases": "shopt -s expand_aliases\nalias builtin='echo no' printf='echo no' trap='echo no'\nX=ok",
  "with noclobber": "set -C; X=ok",
  "in POSIX mode": "set -o posix; X=ok",
  readonly: "readonly X=ok",
  "from another folder": "cd /; X=ok",
  "with output closed": "exec >&- 2>&-; X=ok",
  "under set -x": "set -x; X=ok",
  "with a DEBUG trap": "trap 'echo debug' DEBUG; X=ok",
  "after an ERR trap": "trap 'echo err' ERR; X=ok",
  "without a last newline": "X=ok # comment",
  "after a trailing backslash": "X=ok; echo \\",
  "before an open here-document": "X=ok; cat <<EOF\nopen",
};
for (const [name, text] of Object.entries(hostile))
  test(`a variable arrives: ${name}`, () => {
    const { status, x } = run(text);
    assert.deepEqual({ status, x }, { status: 0, x: "ok" });
  });

test("the epilogue is silent", () => {
  assert.equal(run("trap 'echo err' ERR; set -eu; X=ok").text, "");
  assert.doesNotMatch(run("set -x; X=ok").text, /printf|railhead|builtin/);
});

test("any value arrives as it is", () => {
  for (const value of ["", "a\nb\n\n", `'"\\$(id)\`id\`%s%%`, "  spaces\t", "-n", "ünï€🚂", "A=B\n=C"]) {
    const quoted = `'${value.replaceAll("'", `'\\''`)}'`;
    assert.equal(run(`X=${quoted}`).x, value);
  }
});

test("an unset variable gives no output, unlike an empty one", () => {
  const wanted = [
    ...X,
    { name: "y", variable: "Y" },
    { name: "bad", variable: "no-name" },
    { name: "again", variable: "X" },
  ];
  assert.deepEqual(run("X=1; unset Y", wanted).read, {
    kind: "read",
    outputs: [
      { name: "x", value: "1" },
      { name: "again", value: "1" },
    ],
  });
});

test("a variable's name is never shell text", () => {
  const wanted = [{ name: "x", variable: "X}$(touch pwned)" }];
  assert.equal(bashCommand("/s", "/o", wanted), ". '/s'");
});

test("a script that ends early hands nothing over, and every status is its own", () => {
  assert.deepEqual(pick(run("X=1; exit 0")), { status: 0, x: "none" });
  assert.deepEqual(pick(run("X=1; exit 7")), { status: 7, x: "none" });
  assert.deepEqual(pick(run("set -e; X=1; false; X=2")), { status: 1, x: "none" });
  assert.deepEqual(pick(run("X=1; (exit 9)")), { status: 9, x: "1" });
  assert.deepEqual(pick(run("X=1\nif then")), { status: 2, x: "1" });
  assert.deepEqual(pick(run("X=1; kill -9 $$")), { status: null, x: "none" });
  assert.deepEqual(pick(run("X=1; trap 'echo $? >&2' EXIT; (exit 5)")), { status: 5, x: "1" });
});

const pick = ({ status, x }: ReturnType<typeof run>) => ({ status, x });

test("a script knows its own name, with outputs and without", () => {
  const text = 'echo "$0 ${BASH_SOURCE[0]} $#"';
  assert.equal(run(text).text, `${script} ${script} 0\n`);
  assert.equal(run(text, []).text, `${script} ${script} 0\n`);
});

test("over the limit nothing is taken", () => {
  const value = (size: number) => Buffer.from(`X=${"v".repeat(size)}\0\0`);
  assert.equal(parseOutputs(value(MAX_OUTPUTS), X).kind, "read");
  assert.equal(parseOutputs(value(MAX_OUTPUTS + 1), X).kind, "tooLarge");
  truncateSync(file, MAX_OUTPUTS * 4);
  assert.equal(readOutputs(file, X).kind, "tooLarge");
});

test("a file that is cut, foreign or no file is never taken for outputs", () => {
  for (const text of ["", "X=1", "X=1\0", "X=1\0Y", "X=1\0\0more"])
    assert.equal(parseOutputs(Buffer.from(text), X).kind, "none", text);
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => ["read", "none"].includes(parseOutputs(Buffer.from(bytes), X).kind)),
  );
  const link = join(folder, "link");
  symlinkSync("/etc/passwd", link);
  assert.equal(readOutputs(link, X).kind, "none");
  assert.equal(readOutputs(folder, X).kind, "none");
});
