/** Output variables of the type Secret: sealed, given to later steps alone, sealed again under a new root key, deleted. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { pretendDelegate, type PretendDelegate, scriptOf } from "../../../test/support/pretend-delegate.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { createPipelines, detailOf, startRun } from "../../../test/support/runs.ts";
import { dumpOf } from "../../../test/support/secrets.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import { holdRootKey } from "../../identity/index.ts";
import { createKeyRing } from "../../platform/crypto/key-ring.ts";
import { createSealer } from "../../platform/crypto/seal.ts";
import { updateSealedOutput } from "../store/secret-outputs.ts";
import { resolveSecretOutput } from "./seal.ts";
import { createSealedOutputs } from "./sealed-outputs.ts";

const TOKEN = "token-5f0c9e6b1d";
const OUTPUT = "<+steps.login.output.outputVariables.token>";

const [first, second] = [randomBytes(32), randomBytes(32)];
let platform: TestPlatform;
let delegate: PretendDelegate;
let account: Uuid;

before(async () => {
  platform = await startTestPlatform({ keys: createKeyRing(first) });
  account = fromWire(platform.accountId) as Uuid;
  delegate = await pretendDelegate({ url: platform.url, token: await platform.delegateToken() });
  await delegate.next("welcome");
  const login = { id: "login", script: "token=x", outputs: ["user"], secretOutputs: ["token"] };
  await createPipelines(
    platform,
    { id: "uses", steps: [login, { id: "use", script: `curl -H "x: ${OUTPUT}"`, env: { T: `Bearer ${OUTPUT}` } }] },
    { id: "once", steps: [login] },
    {
      id: "computes",
      steps: [login, { id: "use", env: { T: `<+steps.login.output.outputVariables["to" + "ken"]>` } }],
    },
  );
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});

/** Ends the step that runs. */
async function finish(value: string, exitCode = 0): Promise<void> {
  const run = await delegate.next("run");
  const outputs = [
    { name: "user", value: "ada" },
    { name: "token", value },
  ];
  delegate.finish(run, { exitCode, outputs });
  await delegate.next("finishedAck");
}

const rows = (): Promise<readonly { readonly sealed: Buffer }[]> =>
  platform.db.query<{ sealed: Buffer }>("select sealed from secret_outputs");

test("a later step gets the value as a secret; neither the database nor an answer has it", async () => {
  const id = await startRun(platform, "uses");
  await finish(TOKEN);
  const sent = await delegate.next("secret");
  assert.equal(Buffer.from(sent.data, "base64").toString(), TOKEN);
  const run = await delegate.next("run");
  const { secrets, env, outputs } = scriptOf(run);
  assert.deepEqual(secrets?.uses, [{ as: "value", label: "steps.login.output.outputVariables.token" }]);
  assert.deepEqual(secrets?.env, [
    { name: "T", parts: ["Bearer ", 0] },
    { name: "RAILHEAD_EXPR_1", parts: [0] },
  ]);
  assert.deepEqual([env, outputs], [[], []]);
  assert.ok(!(await dumpOf(platform)).includes(TOKEN), "the database has the value");
  const detail = await detailOf(platform, id);
  assert.ok(!JSON.stringify(detail).includes(TOKEN));
  assert.match(JSON.stringify(detail.step("login")), /"outputVariables":{"user":"ada","token":"\*{14}"}/);
  delegate.finish(run);
  await delegate.next("finishedAck");
});

test("a computed name fails the step and gives away nothing", async () => {
  const id = await startRun(platform, "computes");
  await finish(TOKEN);
  const { summary } = await detailOf(platform, id);
  assert.match(summary.executionErrorInfo.message, /it is a secret output: it stands alone/);
  assert.deepEqual(delegate.waiting(), []);
});

test("a step that fails leaves no secret, and one that is too large fails its step", async () => {
  const before = (await rows()).length;
  await startRun(platform, "once");
  await finish(TOKEN, 3);
  const id = await startRun(platform, "once");
  await finish("x".repeat(128 * 1024));
  const { summary } = await detailOf(platform, id);
  assert.match(summary.executionErrorInfo.message, /its secret output 'token' has 131072 bytes, the limit is 131071/);
  assert.equal((await rows()).length, before);
  assert.ok(!(await dumpOf(platform)).includes(TOKEN));
});

test("all secret outputs of an execution have a limit together", async () => {
  const id = await startRun(platform, "once");
  await platform.db.query(
    `insert into secret_outputs (account_id, id, execution_id, name, size, sealed) values ($1, $2, $2, 'x', $3, '')`,
    [account, fromWire(id), 4 * 1024 * 1024 - TOKEN.length + 1],
  );
  await finish(TOKEN);
  const { summary } = await detailOf(platform, id);
  assert.match(summary.executionErrorInfo.message, /have at most 4194304 bytes together, and .* they have 4194305/);
  await platform.db.query("delete from secret_outputs where id = $1", [fromWire(id)]);
});

test("a value opens in its own row only, and one that was deleted is named", async () => {
  for (const value of [TOKEN, "other"]) {
    await startRun(platform, "once");
    await finish(value);
  }
  const found = await platform.db.query<Row>("select id, name, sealed from secret_outputs order by id desc limit 2");
  const [other, own] = [found[0] ?? assert.fail(), found[1] ?? assert.fail()];
  const sealer = createSealer(createKeyRing(first), "secret outputs");
  const open = async ({ id }: Row): Promise<string> => {
    const { read } = await resolveSecretOutput({ db: platform.db, sealer })(account, { id, name: "steps.login" });
    return Buffer.concat(await Array.fromAsync(read())).toString();
  };
  assert.deepEqual([await open(own), await open(other)], [TOKEN, "other"]);
  const store = (id: Uuid, sealed: Buffer) =>
    platform.db.query("update secret_outputs set sealed = $2 where id = $1", [id, sealed]);
  await store(other.id, own.sealed);
  await assert.rejects(open(other));
  await store(other.id, other.sealed);
  await platform.db.query("delete from secret_outputs where id = $1", [own.id]);
  await assert.rejects(open(own), { code: "execution.secret_output_deleted" });
});

type Row = { readonly id: Uuid; readonly name: string; readonly sealed: Buffer };

const storeOf = (...keys: [Buffer, ...Buffer[]]) => {
  const ring = createKeyRing(keys[0], ...keys.slice(1));
  const sealer = createSealer(ring, "secret outputs");
  return createSealedOutputs({ db: platform.db, sealer, holdRootKey: holdRootKey(ring) });
};
const [was, is] = [createKeyRing(first).preferred.id, createKeyRing(second).preferred.id];
const setKey = (id: string) => platform.db.query("update accounts set root_key_id = $1", [id]);

test("a damaged one is named and does not stop a rotation, which needs the account's own key", async () => {
  const [row] = await platform.db.query<Row>("select id, name, sealed from secret_outputs order by id limit 1");
  const { id, name, sealed } = row ?? assert.fail();
  const whole = (await rows()).length - 1;
  const damaged = Buffer.from(sealed).fill(0, sealed.length - 1);
  damaged[damaged.length - 1] = (sealed.at(-1) ?? 0) ^ 1;
  await platform.db.query("update secret_outputs set sealed = $2 where id = $1", [id, damaged]);
  assert.deepEqual(await Array.fromAsync(storeOf(first).verify(account)), [
    { done: whole, failed: [name], missingKeyIds: [] },
  ]);
  await assert.rejects(Array.fromAsync(storeOf(second, first).reseal(account, is)), /Another rotation changed/);
  await setKey(is);
  assert.deepEqual(await Array.fromAsync(storeOf(second, first).reseal(account, is)), [
    { done: whole, failed: [name] },
  ]);
  await setKey(was);
  assert.deepEqual(await Array.fromAsync(storeOf(first, second).reseal(account, was)), [{ done: whole, failed: [] }]);
  const change = { id, before: sealed, sealed: Buffer.from("late") };
  assert.equal(await platform.db.transaction((tx) => updateSealedOutput(tx, account, change)), false);
  await platform.db.query("update secret_outputs set sealed = $2 where id = $1", [id, sealed]);
});

test("a new root key seals them again, and the old one opens them no more", async () => {
  const count = (await rows()).length;
  assert.ok(count > 0);
  assert.deepEqual(await Array.fromAsync(storeOf(first).verify(account)), [
    { done: count, failed: [], missingKeyIds: [] },
  ]);
  assert.deepEqual(
    (await storeOf(first).countUnderOtherKeys(platform.db, account, [])).map(({ keyId, count: found }) => [
      keyId,
      found,
    ]),
    [[was, count]],
  );
  await setKey(is);
  assert.deepEqual(await Array.fromAsync(storeOf(second, first).reseal(account, is)), [{ done: count, failed: [] }]);
  assert.deepEqual(await Array.fromAsync(storeOf(second, first).reseal(account, is)), []);
  assert.deepEqual(await Array.fromAsync(storeOf(second).verify(account)), [
    { done: count, failed: [], missingKeyIds: [] },
  ]);
  const [lost] = await Array.fromAsync(storeOf(first).verify(account));
  assert.deepEqual(
    lost?.missingKeyIds,
    Array.from({ length: count }, () => is),
  );
});

test("they are deleted with their execution", async () => {
  assert.ok((await rows()).length > 0);
  platform.clock.advance(400 * 86_400_000);
  await platform.platform.sweep();
  assert.deepEqual(await rows(), []);
});
