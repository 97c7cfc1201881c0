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

test("a new root key seals them again, and the old one opens them no more", async () => {
  const storeOf = (...keys: [Buffer, ...Buffer[]]) => {
    const ring = createKeyRing(keys[0], ...keys.slice(1));
    const sealer = createSealer(ring, "secret outputs");
    return createSealedOutputs({ db: platform.db, sealer, holdRootKey: holdRootKey(ring) });
  };
  const [was, is] = [createKeyRing(first).preferred.id, createKeyRing(second).preferred.id];
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
  await platform.db.query("update accounts set root_key_id = $1", [is]);
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
