/** What goes to a delegate with a task that has secrets, and what does not. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { test } from "node:test";
import { MAX_SECRET_CHUNK, type ToDelegate } from "../../../protocol/messages.ts";
import { shellTask } from "../../../protocol/work/shell.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import { Problem } from "../../core/problem.ts";
import type { DeliverDeps, Recipient } from "../kinds/kind.ts";
import { deliver } from "./deliver.ts";
import type { ResolvedLogin, ResolvedSecret, ResolveSecrets, SecretsHome, SecretUse, TaskEnd } from "../task.ts";

/** One secret of the step. */
type ResolveSecret = (accountId: Uuid, home: SecretsHome, use: SecretUse) => Promise<Omit<ResolvedSecret, "id">>;

const newId = (): Uuid => randomUUIDv7() as Uuid;
const home = { orgIdentifier: "default", projectIdentifier: "p", environmentRef: "e" };

type FindLease = DeliverDeps["findLease"];

const leased: FindLease = async ({ accountId }) => ({
  ...{ accountId, runId: newId(), nodeId: newId(), attempt: 1 },
  delegate: { id: newId(), name: "d1" },
});

type Scene = {
  readonly findLease?: FindLease;
  readonly resolveSecret: ResolveSecret;
  /** Asked when all are open; throws when they may not be sent. */
  readonly confirm?: () => Promise<void>;
  /** Asked before every message; false when the task has ended. */
  readonly holds?: () => boolean;
  readonly isOpen?: () => boolean;
  /** Asked before anything is opened, and before each secret; false when the token was revoked. */
  readonly stands?: () => boolean;
  /** What a step on another host logs in with there; it runs on the delegate without. */
  readonly login?: ResolvedLogin;
  /** Of such a step that has lost where it stands. */
  readonly isBare?: boolean;
};

/** Delivers a task with two secrets; settles when nothing more is to come. */
async function deliverScene(scene: Scene) {
  const {
    resolveSecret,
    confirm = async () => undefined,
    holds = () => true,
    isOpen = () => true,
    stands = () => true,
    login,
    isBare = false,
  } = scene;
  const sent: ToDelegate[] = [];
  const ends: TaskEnd[] = [];
  const seen = { closed: 0, unsent: 0, errors: 0 };
  const done = Promise.withResolvers<void>();
  const put = (message: ToDelegate): boolean => {
    if (isOpen()) sent.push(message);
    if (message.kind === "run" || message.kind === "drop") done.resolve();
    return isOpen();
  };
  const to: Recipient = {
    accountId: newId(),
    isLeased: holds,
    send: put,
    sendAndFlush: async (message) => put(message),
    verifyEntitlement: async () => stands(),
    endUnsentTask: async (_, end) => void ends.push(end),
    close: () => {
      seen.closed += 1;
      done.resolve();
    },
  };
  const uses = [
    { reference: "account.a", as: "value" as const },
    { reference: "account.b", as: "file" as const },
  ];
  const env = [{ name: "A", parts: ["x", 0] }];
  const target = { host: "web1", credential: "account.login" };
  const work = {
    kind: "shell" as const,
    script: "true",
    env: [],
    outputs: [],
    ...(isBare ? {} : { secrets: { home, uses, env } }),
    ...(login || isBare ? { target } : {}),
  };
  const resolveSecrets: ResolveSecrets = async ({ accountId, home: at, uses: all, credential }) => ({
    confirm,
    secrets: (await Promise.all(all.map((use) => resolveSecret(accountId, at, use)))).map((one) => ({
      ...{ ...one, id: newId() },
    })),
    login: credential === undefined ? undefined : login,
    cluster: undefined,
  });
  const onError = (): void => void (seen.errors += 1);
  deliver({ resolveSecrets, findLease: scene.findLease ?? leased, openTestSecrets: async () => [], onError })(
    to,
    { kind: "run", task: toWire(newId()), epoch: 1, work },
    () => {
      seen.unsent += 1;
      done.resolve();
    },
  );
  await done.promise;
  return { sent, ends, ...seen, kinds: sent.map(({ kind }) => kind) };
}

const holding =
  (...contents: readonly (string | Buffer)[]): ResolveSecret =>
  async (_, __, { as }) => ({
    size: 5,
    read: async function* () {
      for (const content of as === "file" ? contents : ["value"]) yield Buffer.from(content);
    },
  });

test("secrets go first, in pieces of which the last is marked, then the script with their places and no value", async () => {
  const large = Buffer.alloc(MAX_SECRET_CHUNK + 3, "x");
  const { sent, kinds } = await deliverScene({ resolveSecret: holding(large, "end") });
  assert.deepEqual(kinds, ["secret", "secret", "secret", "secret", "run"]);
  const pieces = sent.flatMap((message) => (message.kind === "secret" ? [message] : []));
  assert.deepEqual(
    pieces.map(({ nth, as, last, data }) => [nth, as, last, Buffer.from(data, "base64").length]),
    [
      [0, "value", true, 5],
      [1, "file", false, MAX_SECRET_CHUNK],
      [1, "file", false, 3],
      [1, "file", true, 3],
    ],
  );
  const run = sent.at(-1);
  assert.deepEqual(run?.kind === "run" && shellTask.parse(run.work).secrets, {
    uses: [
      { label: "account.a", as: "value" },
      { label: "account.b", as: "file" },
    ],
    env: [{ name: "A", parts: ["x", 0] }],
  });
});

test("an empty secret is one empty piece", async () => {
  const { sent } = await deliverScene({ resolveSecret: holding() });
  assert.deepEqual(
    sent.flatMap((message) => (message.kind === "secret" ? [[message.nth, message.data === "", message.last]] : [])),
    [
      [0, false, true],
      [1, true, true],
    ],
  );
});

test("one that may not be used ends the task, and none of the others has been sent", async () => {
  const refusing: ResolveSecret = async (accountId, at, use) => {
    if (use.reference === "account.b")
      throw new Problem("secret.use_refused", 403, "X", "The secret [b] may not be used here.");
    return holding("x")(accountId, at, use);
  };
  const { kinds, ends } = await deliverScene({ resolveSecret: refusing });
  assert.deepEqual(kinds, ["drop"]);
  assert.deepEqual(ends, [{ kind: "refused", type: "Authorization", message: "The secret [b] may not be used here." }]);
});

test("one that cannot be read ends the task as a matter of configuration", async () => {
  const broken: ResolveSecret = async () => ({
    size: 5,
    read: async function* () {
      yield Buffer.from("begin");
      throw new Problem("secret.replaced", 503, "X", "The secret [a] was replaced while it was read; try again.");
    },
  });
  const { kinds, ends } = await deliverScene({ resolveSecret: broken });
  assert.ok(!kinds.includes("run"));
  assert.equal(ends[0]?.kind === "refused" && ends[0].type, "ConfigurationFailure");
});

test("a task that ends while its secrets are opened, or between two of them, gets nothing more and no script", async () => {
  for (const after of [0, 1, 2]) {
    let asked = 0;
    const { kinds } = await deliverScene({ resolveSecret: holding("x"), holds: () => (asked += 1) <= after });
    assert.deepEqual(kinds, [...Array.from({ length: after }, () => "secret"), "drop"]);
  }
});

test("a task that is leased under another epoch by now gets no secret, and none is opened for it", async () => {
  const resolveSecret: ResolveSecret = async () => assert.fail("it was resolved");
  const { kinds, ends } = await deliverScene({ resolveSecret, findLease: async () => undefined });
  assert.deepEqual([kinds, ends], [["drop"], []]);
});

test("a delegate that has hung up is told to whoever waits; a database that fails hangs up", async () => {
  const gone = await deliverScene({ resolveSecret: holding("x"), isOpen: () => false });
  assert.deepEqual([gone.kinds, gone.unsent], [[], 1]);
  for (const error of [new Error("lost"), new Problem("db.unavailable", 503, "X", "gone")]) {
    const failed = await deliverScene({
      resolveSecret: async () => {
        throw error;
      },
    });
    assert.deepEqual([failed.kinds, failed.ends, failed.closed, failed.errors], [[], [], 1, 1]);
  }
});

test("secrets are opened and sent only while the delegate's token counts, and what was not sent whole is for others", async () => {
  for (const after of [0, 1, 2]) {
    let [asked, resolves] = [0, 0];
    const counted: ResolveSecret = (...use) => ((resolves += 1), holding("x")(...use));
    const { kinds, unsent, ends } = await deliverScene({ resolveSecret: counted, stands: () => (asked += 1) <= after });
    // Asked before both are opened, then before each is sent.
    assert.equal(resolves, after === 0 ? 0 : 2);
    assert.deepEqual([kinds, unsent, ends], [Array.from({ length: Math.max(0, after - 1) }, () => "secret"), 1, []]);
  }
});

test("nor is a connection tested with secrets that are nothing to a delegate any more", async () => {
  const openTestSecrets = async (): Promise<never> => assert.fail("they were read");
  const none = async (): Promise<never> => assert.fail("nobody asked for that");
  const to: Recipient = {
    accountId: newId(),
    isLeased: () => true,
    send: ({ kind }) => assert.fail(`${kind} was sent`),
    sendAndFlush: none,
    endUnsentTask: none,
    close: () => undefined,
    verifyEntitlement: async () => false,
  };
  const slow = { resolveSecrets: none, findLease: leased, onError: assert.ifError };
  const deliverTo = deliver({ resolveSecrets: none, findLease: none, openTestSecrets, onError: assert.ifError });
  const home = { orgIdentifier: null, projectIdentifier: null };
  const work = { kind: "connection" as const, home, type: "x", spec: {}, timeoutMs: 1, secrets: ["account.a"] };
  await new Promise<void>((unsent) => deliverTo(to, { kind: "run", task: toWire(newId()), epoch: 1, work }, unsent));
  // Opening takes seconds, in which the token is revoked.
  let asked = 0;
  const slowTo = deliver({ ...slow, openTestSecrets: async () => [{ reference: "account.a", value: "v" }] });
  const revoked = { ...to, verifyEntitlement: async () => (asked += 1) === 1 };
  await new Promise<void>((unsent) => slowTo(revoked, { kind: "run", task: toWire(newId()), epoch: 1, work }, unsent));
});

test("what no variable can hold is refused by its size, and not opened", async () => {
  const { kinds, ends } = await deliverScene({
    resolveSecret: async () => ({
      size: 200_000,
      read: () => assert.fail("it was opened"),
    }),
  });
  assert.deepEqual(kinds, ["drop"]);
  assert.match(ends[0]?.kind === "refused" ? ends[0].message : "", /\[account\.a\] has 200000 bytes/);
});

const resolved = (text: string) => ({
  id: newId(),
  size: text.length,
  read: async function* () {
    yield Buffer.from(text);
  },
});

test("what a step logs in with on another host comes after its own secrets, as files", async () => {
  const key = { role: "key" as const, reference: "account.key", secret: resolved("KEY") };
  const phrase = { role: "passphrase" as const, reference: "account.phrase", secret: resolved("PHRASE") };
  const login = { id: newId(), home, port: 2222, userName: "deploy", takes: [key, phrase] };
  const { sent, kinds } = await deliverScene({ resolveSecret: holding("content"), login });
  assert.deepEqual(kinds, ["secret", "secret", "secret", "secret", "run"]);
  const pieces = sent.flatMap((one) => (one.kind === "secret" ? [[one.nth, one.as, atob(one.data)]] : []));
  assert.deepEqual(pieces.slice(2), [
    [2, "file", "KEY"],
    [3, "file", "PHRASE"],
  ]);
  const run = sent.at(-1);
  assert.ok(run?.kind === "run");
  const work = shellTask.parse(run.work);
  const where = { host: "web1", port: 2222, userName: "deploy", workingDirectory: null };
  assert.deepEqual(work.target, { ...where, auth: { kind: "key", key: 2, passphrase: 3 } });
  assert.deepEqual(
    work.secrets?.uses.map(({ label }) => label),
    ["account.a", "account.b", "account.key", "account.phrase"],
  );
  const password = { role: "password" as const, reference: "account.pw", secret: resolved("PW") };
  const other = await deliverScene({ resolveSecret: holding("x"), login: { ...login, takes: [password] } });
  const last = other.sent.at(-1);
  assert.deepEqual(last?.kind === "run" && shellTask.parse(last.work).target?.auth, {
    kind: "password",
    password: 2,
  });
});

test("work of any other kind is sent as it is, with its secrets before it", async () => {
  const sent: ToDelegate[] = [];
  const ran = Promise.withResolvers<void>();
  const to: Recipient = {
    accountId: newId(),
    isLeased: () => true,
    send: (message) => (sent.push(message), ran.resolve(), true),
    sendAndFlush: async (message) => sent.push(message) > 0,
    verifyEntitlement: async () => true,
    endUnsentTask: async () => assert.fail("the task ended"),
    close: () => assert.fail("the connection was closed"),
  };
  const deps = {
    resolveSecrets: async () => ({
      confirm: async () => undefined,
      secrets: [resolved("S3")],
      login: undefined,
      cluster: undefined,
    }),
    ...{ findLease: leased, openTestSecrets: async () => [], onError: assert.ifError },
  };
  const secrets = { home, uses: [{ reference: "account.a", as: "value" as const }] };
  const work = { kind: "mystery", version: 3, url: ["http://x/", 0], deep: { any: [null] } };
  const run = { kind: "run" as const, task: toWire(newId()), epoch: 1 };
  deliver(deps)(to, { ...run, work: { ...work, secrets } });
  await ran.promise;
  assert.deepEqual(
    sent.map(({ kind }) => kind),
    ["secret", "run"],
  );
  const uses = [{ label: "account.a", as: "value" }];
  assert.deepEqual(sent[1], { ...run, work: { ...work, secrets: { uses } } });
  deliver(deps)(to, { ...run, work });
  assert.deepEqual(sent[2], { ...run, work });
});

test("a script whose login cannot be resolved is not sent either", async () => {
  const work = { kind: "shell", script: "true", env: [], outputs: [] };
  const closed = Promise.withResolvers<void>();
  const errors: unknown[] = [];
  const to: Recipient = {
    accountId: newId(),
    isLeased: () => true,
    send: ({ kind }) => assert.fail(`${kind} was sent`),
    sendAndFlush: async ({ kind }) => assert.fail(`${kind} was sent`),
    verifyEntitlement: async () => true,
    endUnsentTask: async () => assert.fail("the task ended"),
    close: closed.resolve,
  };
  const resolveSecrets = async () => ({
    confirm: async () => undefined,
    secrets: [],
    login: undefined,
    cluster: undefined,
  });
  const onError = (error: unknown) => void errors.push(error);
  const secrets = { home, uses: [], env: [] };
  const target = { host: "web1", credential: "account.login" };
  deliver({ resolveSecrets, findLease: leased, openTestSecrets: async () => [], onError })(to, {
    ...{ kind: "run", task: toWire(newId()), epoch: 1 },
    work: { ...work, secrets, target },
  });
  await closed.promise;
  assert.match(String(errors[0]), /has a target and no login/);
});

test("a script whose target cannot be told is not sent, lest it ran on the delegate's machine", async () => {
  const { kinds, errors, closed } = await deliverScene({ resolveSecret: holding("x"), isBare: true });
  assert.deepEqual([kinds, errors, closed], [[], 1, 1]);
});
