/** The kind that asks a program: with a real token behind it, and with programs that do everything wrong. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startKeyProgram } from "../../../../test/support/services/key-program.ts";
import { createToken, tokenIsMissing, wrappingProgram } from "../../../../test/support/services/token.ts";
import type { Uuid } from "../../../core/ids.ts";
import { command } from "./command.ts";
import { ManagerFailed, type KeyWrapper, type KindDeps } from "./kind.ts";

const folder = mkdtempSync(join(tmpdir(), "railhead-command-"));
after(() => rmSync(folder, { recursive: true }));
const id = (nth: number): Uuid => `00000000-0000-7000-8000-00000000000${nth}` as Uuid;
const MANAGER = { accountId: id(1), managerId: id(2), spec: { command: "token" } };
const dataKey = randomBytes(32);

const wrapperOf = (words?: readonly string[], elapsed = (): number => 0): KeyWrapper =>
  command.wrapper({ commands: new Map(words ? [["token", words]] : []), elapsed } as unknown as KindDeps);

function program(script: string): string[] {
  const path = join(folder, `program-${randomBytes(4).toString("hex")}`);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o700);
  return [path, "first"];
}

test("a PKCS#11 token wraps data keys, and only the same token unwraps them", async (t) => {
  const missing = await tokenIsMissing();
  if (missing !== undefined) return t.skip(missing);
  const token = await createToken();
  t.after(() => token.remove());
  const { wrap, unwrap } = wrapperOf(wrappingProgram(token));
  const wrapped = await wrap(MANAGER, dataKey, "secret:a");
  assert.equal(wrapped.keyId, "01");
  assert.equal(wrapped.wrapped.length, 256);
  assert.ok(!wrapped.wrapped.includes(dataKey));
  assert.ok((await unwrap(MANAGER, wrapped, "secret:a")).equals(dataKey));
  const changed = { ...wrapped, wrapped: Buffer.from(wrapped.wrapped) };
  changed.wrapped[7] = (changed.wrapped[7] ?? 0) ^ 1;
  await assert.rejects(unwrap(MANAGER, changed, "secret:a"), ManagerFailed);
  const locked = wrapperOf(wrappingProgram(token, "111111"));
  await assert.rejects(locked.unwrap(MANAGER, wrapped, "secret:a"), /exit code 1, and said: .*CKR_PIN_INCORRECT/);
});

test("the program gets one line of JSON and the operation, and no key in its arguments", async () => {
  const seen = join(folder, "seen");
  const answer = JSON.stringify({ keyId: "k", wrapped: "QUJD" });
  const words = program(`cat > ${seen}; printf '%s\\n' "$*" >> ${seen}; echo '${answer}'`);
  assert.deepEqual(await wrapperOf(words).wrap(MANAGER, dataKey, "secret:a"), {
    keyId: "k",
    wrapped: Buffer.from("ABC"),
  });
  const [json = "", args] = readFileSync(seen, "utf8").split("\n");
  const request = JSON.parse(json) as Record<string, string>;
  assert.deepEqual(Object.keys(request), ["account", "manager", "record", "key"]);
  assert.equal(request["key"], dataKey.toString("base64"));
  assert.equal(args, "first wrap");
});

test("a failing program or an invalid answer is a failed manager, and no message contains a key", async () => {
  const cases: readonly [script: string, reason: RegExp][] = [
    ["exit 3", /exit code 3$/],
    ["cat; cat >&2; exit 1", /exit code 1$/],
    ["true", /unexpected form/],
    ["echo {}", /unexpected form/],
    [`echo '{"keyId":"","wrapped":"QUJD"}'`, /unexpected form/],
    ["cat", /unexpected form/],
    ["head -c 20000 /dev/zero", /more than 16384 bytes/],
  ];
  for (const [script, reason] of cases) {
    const error: unknown = await wrapperOf(program(script))
      .wrap(MANAGER, dataKey, "x")
      .catch((reason_: unknown) => reason_);
    assert.ok(error instanceof ManagerFailed, script);
    assert.match(error.message, reason);
    assert.ok(!error.message.includes(dataKey.toString("base64")));
  }
  const short = program(`echo '{"key":"QUJD"}'`);
  await assert.rejects(
    wrapperOf(short).unwrap(MANAGER, { keyId: "k", wrapped: dataKey }, "x"),
    /3 bytes instead of 32/,
  );
  await assert.rejects(wrapperOf().wrap(MANAGER, dataKey, "x"), /allows no program named token/);
  await assert.rejects(wrapperOf(["/no/such/program"]).wrap(MANAGER, dataKey, "x"), /cannot be started/);
});

test("at most four programs run at once, and all calls get a turn", async () => {
  const [lock, most] = [join(folder, "running"), join(folder, "too-many")];
  const answer = JSON.stringify({ keyId: "k", wrapped: "QUJD" });
  const words = program(
    `mkdir -p ${lock}; touch ${lock}/$$; [ $(ls ${lock} | wc -l) -le 4 ] || touch ${most}; rm ${lock}/$$; echo '${answer}'`,
  );
  const { wrap } = wrapperOf(words);
  const all = await Promise.all(Array.from({ length: 20 }, () => wrap(MANAGER, dataKey, "x")));
  assert.equal(all.length, 20);
  assert.ok(!existsSync(most));
});

test("one account saves with three programs at once, while its opened secrets and other accounts continue", async (t) => {
  const program = await startKeyProgram();
  t.after(() => program.stop());
  program.hold();
  const { wrap, unwrap } = wrapperOf(program.words);
  const saved = Array.from({ length: 9 }, () => wrap(MANAGER, dataKey, "x"));
  for (let nth = 0; nth < 3; nth += 1) assert.equal((await program.next()).operation, "wrap");
  const opened = unwrap(MANAGER, { keyId: "k", wrapped: dataKey }, "x");
  const call = await program.next();
  assert.equal(call.operation, "unwrap", "it was asked before a key was wrapped");
  const ofOther = wrap({ ...MANAGER, accountId: id(3) }, dataKey, "x");
  call.answer();
  assert.ok((await opened).equals(dataKey));
  const next = await program.next();
  assert.notEqual(next.account, call.account);
  program.release();
  await Promise.all([...saved, ofOther]);
});

test("a call that waits too long is rejected with Retry-After, and the program is not called", async (t) => {
  const program = await startKeyProgram();
  t.after(() => program.stop());
  program.hold();
  let now = 0;
  const { wrap, unwrap } = wrapperOf(program.words, () => now);
  const running = Array.from({ length: 3 }, () => wrap(MANAGER, dataKey, "x"));
  const key = { keyId: "k", wrapped: dataKey };
  const opening = Array.from({ length: 3 }, () => unwrap(MANAGER, key, "x"));
  for (let nth = 0; nth < 4; nth += 1) await program.next();
  const late = wrap(MANAGER, dataKey, "x");
  now = 20_001;
  program.release();
  await assert.rejects(late, { code: "secret.manager_busy", status: 503, retryAfter: 5 });
  await Promise.all([...running, ...opening]);
});
