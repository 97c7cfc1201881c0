/**
 * What runs on the other host, run here by the Bash of this machine: without ssh, and as if its connection had faults.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { assertEnded, namesOfBash, printedPid } from "../testing/kit.ts";
import { parseRemoteResult } from "./outputs.ts";
import { BOOT, createPayload, type RemoteScript } from "./script.ts";

const COOKIE = "a-cookie-of-this-test";
const remote = (script: string, more: Partial<RemoteScript> = {}): RemoteScript => ({
  script,
  env: [],
  outputs: [{ name: "x", variable: "X" }],
  workingDirectory: null,
  cookie: COOKIE,
  ...more,
});

/** Gives the bytes to a login shell, and keeps the lifeline open until `printed` has come, or for good. */
async function runWith(
  payload: string,
  closeAfter?: string,
  as: { readonly env?: NodeJS.ProcessEnv; readonly uid?: number } = {},
) {
  const child = spawn("/bin/sh", ["-c", BOOT], { stdio: ["pipe", "pipe", "pipe"], cwd: "/", ...as });
  const [returned, shown]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on("data", (bytes: Buffer) => returned.push(bytes));
  child.stderr.on("data", (bytes: Buffer) => {
    shown.push(bytes);
    if (closeAfter !== undefined && Buffer.concat(shown).includes(closeAfter)) child.stdin.end();
  });
  child.stdin.on("error", () => {});
  child.stdin.write(payload);
  if (closeAfter === "") child.stdin.end();
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  child.stdin.destroy();
  const bytes = Buffer.concat(returned);
  return { code, shown: Buffer.concat(shown), returned: parseRemoteResult(bytes, COOKIE, remote("").outputs), bytes };
}

test("a script runs while its lifeline is open, and hands its variables over", async () => {
  const { code, shown, returned } = await runWith(createPayload(remote("echo out; X=1; (exit 3)")));
  assert.equal(code, 3);
  assert.equal(shown.toString(), "out\n");
  const outputs = { kind: "read", outputs: [{ name: "x", value: "1" }] };
  assert.deepEqual(returned, { kind: "over", code: 3, outputs });
});

test("of a payload that was cut anywhere nothing runs", async () => {
  const whole = createPayload(remote("echo ran; X=1"));
  const last = whole.lastIndexOf("__railhead;");
  for (const length of [whole.indexOf("\n") + 1, 200, whole.indexOf("echo ran") + 4, last, last + 5]) {
    const { shown, returned } = await runWith(whole.slice(0, length), "");
    assert.ok(!shown.includes("ran\n"), shown.toString());
    assert.deepEqual(returned, { kind: "absent" });
  }
});

test("after a silence of the delegate the script and all that it has started are ended", async () => {
  const script = 'sleep 1000 & echo "a=$!"; setsid sleep 1000 & echo "b=$!"; echo "c=$$"; sleep 1000';
  const { code, shown, returned } = await runWith(createPayload(remote(script, { silence: 1 })));
  assert.equal(code, 143);
  assert.match(shown.toString(), /nothing was heard from the delegate for 1 s/);
  assert.deepEqual([returned.kind, "code" in returned && returned.code], ["over", 143]);
  for (const name of ["a", "b", "c"]) assertEnded(printedPid(shown, name), name);
});

test("a script ends with its lifeline, also one that ignores TERM", async () => {
  const script = `trap '' TERM; echo "c=$$"; echo ready; while :; do sleep 0.1; done`;
  const { code, shown } = await runWith(createPayload(remote(script)), "ready");
  assert.equal(code, 137);
  assertEnded(printedPid(shown, "c"), "c");
});

test("values and names of variables are the script's alone: the wrapper reads none of them", async () => {
  const env = [
    { name: "PATH", value: "/nowhere" },
    { name: "IFS", value: "0123456789 ap" },
    { name: "BASH_ENV", value: "/dev/null" },
    { name: "__railhead_script", value: "echo mine" },
    { name: "Q", value: "'; echo broken out; '" },
    { name: "BASHOPTS", value: "extglob" },
    { name: "__railhead_line", value: "echo mine" },
    { name: "BASH", value: "/nowhere/bash" },
    { name: "kill", value: "x" },
  ];
  const { code, shown } = await runWith(createPayload(remote('echo "$PATH|$Q|$__railhead_script"; X=1', { env })));
  assert.equal(code, 0);
  assert.equal(shown.toString(), "/nowhere|'; echo broken out; '|echo mine\n");
});

test("only the result between the two marks counts", () => {
  const begin = `\0railhead begin ${COOKIE}\0`;
  const end = `\0railhead end ${COOKIE} 0\0`;
  const parsed = (text: string) => parseRemoteResult(Buffer.from(text), COOKIE, remote("").outputs);
  assert.deepEqual(parsed("welcome\n"), { kind: "absent" });
  assert.deepEqual(parsed(`\0railhead begin other\0X=1\0\0${end}`), { kind: "absent" });
  assert.deepEqual(parsed(`${begin}X=1\0\0`), { kind: "cut" });
  assert.deepEqual(parsed(`${begin}X=1\0\0${end} and more`), { kind: "cut" });
  assert.deepEqual(parsed(`welcome${begin}X=1\0\0${end}`), {
    kind: "over",
    code: 0,
    outputs: { kind: "read", outputs: [{ name: "x", value: "1" }] },
  });
  assert.deepEqual(parsed(`${begin}X=1${end}`), { kind: "over", code: 0, outputs: { kind: "none" } });
});

test("a variable is data, also if its name has a meaning in Bash", async () => {
  const folder = mkdtempSync(join(tmpdir(), "railhead-script-"));
  const value = `a[$(touch ${folder}/hacked)]`;
  const names = namesOfBash();
  const env = [...names, "PLAIN"].map((name) => ({ name, value }));
  const { code, shown, returned } = await runWith(createPayload(remote('echo "$PLAIN"; X=$PLAIN', { env })));
  assert.deepEqual(readdirSync(folder), []);
  rmSync(folder, { recursive: true });
  assert.deepEqual([code, shown.toString(), returned.kind], [0, `${value}\n`, "over"]);
});

test("the host's own environment variables for Bash change nothing", async () => {
  const env = {
    ...process.env,
    POSIXLY_CORRECT: "1",
    ...Object.fromEntries(["kill", "sleep", "cat", "wait", "echo"].map((name) => [`BASH_FUNC_${name}%%`, "() { :; }"])),
  };
  const { code, returned } = await runWith(createPayload(remote("X=1")), undefined, { env });
  const outputs = { kind: "read", outputs: [{ name: "x", value: "1" }] };
  assert.deepEqual([code, returned], [0, { kind: "over", code: 0, outputs }]);
});

test(
  "a remaining process of another user is reported",
  { skip: process.getuid?.() !== 0 && "needs root" },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "railhead-script-"));
    chmodSync(folder, 0o755);
    t.after(() => rmSync(folder, { recursive: true }));
    const sudo = join(folder, "sudo");
    copyFileSync("/usr/bin/setpriv", sudo);
    chmodSync(sudo, 0o4755);
    const script = `${sudo} --reuid=0 --regid=0 --clear-groups sleep 1000 & echo "theirs=$!"; sleep 0.2; echo ready; wait`;
    const { shown } = await runWith(createPayload(remote(script)), "ready", { uid: 65_534 });
    const pid = printedPid(shown, "theirs");
    process.kill(pid, "SIGKILL");
    assert.match(shown.toString(), new RegExp(`another user's and go on: ${pid}\\n`));
  },
);
