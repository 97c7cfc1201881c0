/** Root keys from files, the environment and programs; a program is a script that the test writes. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { KeyRing } from "../crypto/key-ring.ts";
import { ConfigError, loadRootKeys, readConfig } from "./config.ts";

const folder = mkdtempSync(join(tmpdir(), "railhead-root-keys-"));
after(() => rmSync(folder, { recursive: true }));
const KEY = randomBytes(32);
const TEXT = KEY.toString("base64");

const load = async (env: Readonly<Record<string, string>>): Promise<KeyRing> =>
  loadRootKeys(readConfig({ RAILHEAD_DATA_DIR: folder, ...env }, folder));

let made = 0;
function program(script: string): string {
  const path = join(folder, `program-${(made += 1)}`);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o700);
  return path;
}

/** What is said of a program that gives no key. */
async function refusal(env: Readonly<Record<string, string>>): Promise<string> {
  const error: unknown = await load(env).then(
    () => assert.fail("it gave a key"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ConfigError);
  assert.equal(error.faults.length, 1);
  return error.faults[0] ?? "";
}

test("the root key is made once, for its owner alone, and a named file has to exist", async () => {
  const { preferred, all } = await load({});
  assert.equal(preferred.key.length, 32);
  assert.deepEqual((await load({})).all, all);
  assert.equal(statSync(join(folder, "root.key")).mode & 0o777, 0o600);
  assert.match(
    await refusal({ RAILHEAD_ROOT_KEY_FILE: "missing.key" }),
    /^RAILHEAD_ROOT_KEY_FILE .*missing\.key, which does not exist/,
  );
  writeFileSync(join(folder, "short.key"), "c2VjcmV0\n");
  const short = await refusal({ RAILHEAD_ROOT_KEY_FILE: "short.key" });
  assert.match(short, /short\.key is not 32 bytes/);
  assert.doesNotMatch(short, /c2VjcmV0/);
});

test("a program gives the key, as text or as the bytes themselves, without a shell and without input", async () => {
  writeFileSync(join(folder, "raw.key"), KEY);
  for (const script of [`echo ${TEXT}`, `printf %s ${TEXT}`, `cat ${join(folder, "raw.key")}`, `cat; echo ${TEXT}`])
    assert.deepEqual((await load({ RAILHEAD_ROOT_KEY_COMMAND: program(script) })).preferred.key, KEY, script);
  const echo = program(`[ "$#" = 3 ] && [ "$2" = '$HOME;' ] && echo "$3"`);
  assert.deepEqual((await load({ RAILHEAD_ROOT_KEY_COMMAND: `${echo} a  $HOME; ${TEXT}` })).preferred.key, KEY);
  const list = JSON.stringify([echo, "a b", "$HOME;", TEXT]);
  assert.deepEqual((await load({ RAILHEAD_ROOT_KEY_COMMAND: list })).preferred.key, KEY);
});

test("a program that gives no key is told apart by its reason, and nothing that it printed is repeated", async () => {
  const cases: readonly [script: string, reason: RegExp][] = [
    [`echo ${TEXT}; exit 3`, /ended with exit code 3\.$/],
    [`echo 'wrong PIN' >&2; exit 1`, /exit code 1, and said: wrong PIN\.$/],
    [`echo "the key is ${TEXT} indeed" >&2; exit 1`, /said: the key is \[…\] indeed\.$/],
    ["true", /it printed nothing\.$/],
    ["echo c2VjcmV0", /it printed 9 bytes, which are neither 32 bytes nor/],
    [`echo ${TEXT}${TEXT}`, /it printed 89 bytes/],
    ["head -c 5000 /dev/zero", /more than 4096 bytes\.$/],
    ["kill -9 $$", /ended by SIGKILL\.$/],
  ];
  for (const [script, reason] of cases) {
    const said = await refusal({ RAILHEAD_ROOT_KEY_COMMAND: program(script) });
    assert.match(said, /^RAILHEAD_ROOT_KEY_COMMAND: the program .* gave no key: /);
    assert.match(said, reason, script);
    assert.ok(!said.includes(TEXT.slice(0, 12)) && !said.includes("c2VjcmV0"), script);
  }
  const none = await refusal({ RAILHEAD_ROOT_KEY_PREVIOUS_COMMAND: "/no/such/program --pin 1234" });
  assert.match(none, /^RAILHEAD_ROOT_KEY_PREVIOUS_COMMAND: the program \/no\/such\/program .* cannot be started/);
  assert.doesNotMatch(none, /1234/);
});

test("the key before stands beside the one that is wanted", async () => {
  const former = randomBytes(32);
  const ring = await load({ RAILHEAD_ROOT_KEY: TEXT, RAILHEAD_ROOT_KEY_PREVIOUS: former.toString("base64") });
  assert.deepEqual([ring.preferred.key, ...ring.all.map(({ key }) => key)], [KEY, KEY, former]);
  assert.deepEqual(ring.find(ring.all[1]?.id ?? "")?.key, former);
  assert.equal(ring.find("0000000000000000"), undefined);
});

test("one source for each key, and commands that name a program", () => {
  const faults = (env: Readonly<Record<string, string>>): readonly string[] => {
    try {
      readConfig(env, folder);
      return [];
    } catch (error) {
      return (error as ConfigError).faults;
    }
  };
  const two = { RAILHEAD_ROOT_KEY_FILE: "x", RAILHEAD_ROOT_KEY_COMMAND: "y" };
  assert.deepEqual(faults(two), [
    "RAILHEAD_ROOT_KEY_FILE and RAILHEAD_ROOT_KEY_COMMAND are both set; set one of them.",
  ]);
  for (const text of [" ", "[", "[1]", "[]", '{"a":1}[']) {
    const found = faults({ RAILHEAD_ROOT_KEY_COMMAND: text });
    if (text === '{"a":1}[') assert.deepEqual(found, []);
    else assert.match(found[0] ?? "", /^RAILHEAD_ROOT_KEY_COMMAND takes a program/, text);
  }
  assert.match(faults({ RAILHEAD_ROOT_KEY_PREVIOUS: "short" })[0] ?? "", /^RAILHEAD_ROOT_KEY_PREVIOUS is not 32 bytes/);
});

test("programs for secret managers are named in a JSON object, each as a line of words or a list of them", () => {
  const text = JSON.stringify({ hsm: "/opt/hsm --slot 0", kms: ["/opt/kms", "a b"] });
  const { secretCommands } = readConfig({ RAILHEAD_SECRET_COMMANDS: text }, folder);
  assert.deepEqual(
    [...secretCommands],
    [
      ["hsm", ["/opt/hsm", "--slot", "0"]],
      ["kms", ["/opt/kms", "a b"]],
    ],
  );
  for (const wrong of ["x", "[]", '"x"', "null", '{"a b":"x"}', '{"a":1}', '{"a":""}', '{"a":[]}', '{"a":[1]}'])
    assert.throws(
      () => readConfig({ RAILHEAD_SECRET_COMMANDS: wrong }, folder),
      /RAILHEAD_SECRET_COMMANDS takes/,
      wrong,
    );
});
