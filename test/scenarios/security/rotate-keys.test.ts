/** The commands for keys as processes beside two running servers: killed halfway and started again. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { CHUNK, contentOf } from "../../../src/platform/crypto/chunks.ts";
import { createKeyRing, type KeyRing } from "../../../src/platform/crypto/key-ring.ts";
import type { Db } from "../../../src/platform/db/db.ts";
import { openDb } from "../../../src/platform/db/pool/pool.ts";
import { createClient } from "../../support/clients/client.ts";
import { databaseByAddress, silentLog } from "../../support/database.ts";
import { projectYaml, triggerYaml, pipelineYaml, YAML } from "../../support/contract.ts";
import { handClock } from "../../support/platform.ts";
import { runProgram, startProgram, type ProgramOptions } from "../../support/processes/program.ts";
import { adminOf, secretsOf } from "../../support/secrets.ts";
import {
  createServerFolder,
  readFacts,
  runServer,
  startServer,
  type ServerFolder,
  type ServerProcess,
} from "../../support/processes/server-process.ts";
import { until } from "../../support/until.ts";

const TEXTS = 450;
/** The account has no mail server, and no execution with secret outputs. */
const NO_OTHERS = ["  0 passwords of mail servers can be opened", "  0 secret outputs can be opened"];
const HERE = { orgIdentifier: null, projectIdentifier: null };
const FILE = randomBytes(2 * CHUNK + 1);
const [first, second] = [randomBytes(32), randomBytes(32)];
const [was, is, both] = [createKeyRing(first), createKeyRing(second), createKeyRing(second, first)];
const FORMER = { RAILHEAD_ROOT_KEY: first.toString("base64") };
const NEW = { RAILHEAD_ROOT_KEY: second.toString("base64") };
const BOTH = { ...NEW, RAILHEAD_ROOT_KEY_PREVIOUS: first.toString("base64") };

type Env = Readonly<Record<string, string>>;

let database: Awaited<ReturnType<typeof databaseByAddress>>;
let folders: readonly [ServerFolder, ServerFolder];
const servers: ServerProcess[] = [];
let db: Db;
let client: ReturnType<typeof createClient>;
let accountId: string;

before(async () => {
  [database, ...folders] = await Promise.all([
    databaseByAddress("migrated"),
    createServerFolder(),
    createServerFolder(),
  ]);
  db = openDb({ connection: database.url, log: silentLog, onError: () => undefined });
  for (const folder of folders) servers.push(await startServer(folder, env(FORMER)));
  const facts = await readFacts(folders[0]);
  accountId = facts.accountId;
  client = createClient(facts);
  await fill();
});
after(async () => {
  for (const server of servers) await server.end("SIGTERM");
  await db?.close();
  for (const folder of folders ?? []) await folder.remove();
  await database?.drop();
});

const env = (keys: Env): Env => ({ DATABASE_URL: database.url, RAILHEAD_LOCAL_DELEGATE: "off", ...keys });
const command = (words: string, keys: Env): ProgramOptions => ({
  args: ["secrets", ...words.split(" ")],
  env: { RAILHEAD_DATA_DIR: folders[0].dataDir, ...env(keys) },
  cwd: folders[0].path,
});
const secretsWith = (keys: KeyRing): ReturnType<typeof secretsOf> => secretsOf({ db, clock: handClock(), keys });

async function fill(): Promise<void> {
  for (const [path, yaml] of [
    ["/ng/api/projects?orgIdentifier=default", projectYaml()],
    ["/pipeline/api/pipelines?orgIdentifier=default&projectIdentifier=shop", pipelineYaml()],
    ["/pipeline/api/triggers?orgIdentifier=default&projectIdentifier=shop&targetIdentifier=deploy", triggerYaml()],
  ] as const) {
    const { status, text } = await client.send("POST", path, yaml, YAML);
    assert.equal(status, 200, text);
  }
  const secrets = secretsWith(was);
  const common = { ...HERE, description: "", tags: {}, scoping: {} };
  for (let nth = 0; nth < TEXTS; nth += 1) {
    const name = `text_${nth}`;
    const content = contentOf(`value of ${name}`);
    await secrets.create(adminOf({ accountId }), {
      ...common,
      identifier: name,
      name,
      type: "ENCRYPTED_TEXT",
      content,
    });
  }
  const content = { size: FILE.length, pages: [FILE] };
  await secrets.create(adminOf({ accountId }), {
    ...common,
    identifier: "file",
    name: "file",
    type: "ENCRYPTED_FILE",
    content,
  });
}

/** Resolves the texts and the file in turn, as executions do, until `over`. Returns the number of reads. */
async function keepReading(keys: KeyRing, over: () => boolean): Promise<number> {
  const secrets = secretsWith(keys);
  const actor = adminOf({ accountId });
  let read = 0;
  for (; !over(); read += 1) {
    const name = `text_${(read * 37) % TEXTS}`;
    assert.equal(await secrets.openText(actor, HERE, name), `value of ${name}`);
    if (read % 10 > 0) continue;
    const pieces = await Array.fromAsync((await secrets.resolve(actor, HERE, "file")).read());
    assert.ok(Buffer.concat(pieces).equals(FILE));
  }
  return read;
}

const rows = async (): Promise<{ id: string; keyId: string }[]> =>
  db.query<{ id: string; keyId: string }>(`select id, key_id as "keyId" from secret_contents order by id`);

type Changed = (row: { id: string; keyId: string }) => boolean;

/** Blocks a rotation at a row in its middle and kills it there. Returns the number of changed rows and of all rows. */
async function killedHalfWay(words: string, keys: Env, changed: Changed): Promise<{ done: number; total: number }> {
  const middle = (await rows())[Math.floor(TEXTS * 0.7)];
  await db.transaction(async (tx) => {
    await tx.query("select 1 from secret_contents where id = $1 for update", [middle?.id]);
    const killed = startProgram(command(words, keys));
    const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await until(
      () => db.query(waiting),
      ({ length }) => length > 0,
    );
    assert.equal((await killed.end("SIGKILL")).signal, "SIGKILL");
  });
  const now = await rows();
  const done = now.filter((row) => changed(row)).length;
  assert.ok(done > 0 && done < now.length, `${done} of ${now.length}`);
  return { done, total: now.length };
}

/** Runs a rotation beside readers. It is killed halfway and started again. */
async function killedAndResumed(words: string, changed: Changed): Promise<string> {
  let isOver = false;
  const reading = Promise.all([keepReading(both, () => isOver), keepReading(both, () => isOver)]);
  try {
    const { done, total } = await killedHalfWay(words, BOTH, changed);
    const { code, stdout, stderr } = await runProgram(command(words, BOTH));
    assert.equal(code, 0, stderr);
    assert.ok((await rows()).every((row) => changed(row)));
    // The second run continues instead of starting over.
    const told = Number(/^ {2}(\d+) secrets/m.exec(stdout)?.[1]);
    assert.ok(told >= total - done - 200 && told < total, `${told} of ${total} after ${done}`);
    return stdout;
  } finally {
    isOver = true;
    for (const read of await reading) assert.ok(read > 10);
  }
}

test("while a server does not know the new key, and without the key in use, nothing is changed", async () => {
  const unknown = await runProgram(command("rotate root-key", BOTH));
  assert.equal(unknown.code, 2);
  assert.match(
    unknown.stderr,
    new RegExp(`^Connected servers do not know the root key ${is.preferred.id} yet: .*${was.preferred.id}`),
  );
  const lacking = await runProgram(command("verify", NEW));
  assert.equal(lacking.code, 1);
  const without = `cannot be opened without the root key ${was.preferred.id}, which was not given (RAILHEAD_ROOT_KEY…)`;
  assert.deepEqual(lacking.stdout.split("\n").slice(1), [
    `  ${TEXTS + 1} ${without}`,
    `  0 secrets can be opened, ${TEXTS + 1} cannot be opened`,
    `  1 ${without}`,
    "  0 webhook tokens can be opened, 1 cannot be opened",
    ...NO_OTHERS,
    "",
  ]);
  const fine = await runProgram(command("verify", FORMER));
  assert.deepEqual(
    [fine.code, fine.stdout.split("\n").slice(1)],
    [0, [`  ${TEXTS + 1} secrets can be opened`, "  1 webhook tokens can be opened", ...NO_OTHERS, ""]],
  );
});

test("the root key: killed halfway and resumed, then the new key opens everything and the former key nothing", async () => {
  // One server after the other, so that one always serves.
  for (const [nth, folder] of folders.entries()) {
    await servers[nth]?.end("SIGTERM");
    servers[nth] = await startServer(folder, env(BOTH));
    assert.match(servers[nth].stderr(), /another root key is in use than RAILHEAD_ROOT_KEY gives/);
  }
  const facts = await readFacts(folders[0]);
  client = createClient(facts);
  const printed = await killedAndResumed("rotate root-key", ({ keyId }) => keyId === is.preferred.id);
  assert.match(printed, new RegExp(`the root key in use is ${is.preferred.id}`));
  assert.match(printed, /1 webhook tokens sealed under/);

  const verified = await runProgram(command("verify", NEW));
  assert.deepEqual(
    [verified.code, verified.stdout.split("\n").slice(1)],
    [0, [`  ${TEXTS + 1} secrets can be opened`, "  1 webhook tokens can be opened", ...NO_OTHERS, ""]],
  );
  const former = await runProgram(command("verify", FORMER));
  assert.equal(former.code, 1);
  assert.match(
    former.stdout,
    new RegExp(
      `^ {2}0 secrets can be opened, ${TEXTS + 1} cannot be opened\\n.*\\n {2}0 webhook tokens can be opened, 1 cannot`,
      "m",
    ),
  );

  // The servers have continued and seal new secrets under the new key.
  const created = await client.graphql(
    `mutation { createSecret(input: { secretType: ENCRYPTED_TEXT, encryptedText: { name: "after", value: "made after" } }) { secret { name } } }`,
  );
  assert.equal(created.createSecret.secret.name, "after");
  assert.equal(await secretsWith(is).openText(adminOf({ accountId }), HERE, "after"), "made after");
});

test("a server with only the former key or a wrong key refuses to start and names the key that it needs", async (t) => {
  const wrong = randomBytes(32);
  const folder = await createServerFolder();
  t.after(() => folder.remove());
  for (const key of [first, wrong]) {
    const { code, stderr } = await runServer(folder, env({ RAILHEAD_ROOT_KEY: key.toString("base64") }));
    assert.equal(code, 1);
    assert.match(
      stderr,
      new RegExp(
        `sealed under the key ${is.preferred.id}; the server was given the root key ${createKeyRing(key).preferred.id}`,
      ),
    );
  }
});

test("data keys: killed halfway and resumed, then every key is new", async () => {
  const former = new Set((await rows()).map(({ id }) => id));
  await killedAndResumed("rotate data-keys", ({ id }) => !former.has(id));
  const verified = await runProgram(command("verify", NEW));
  assert.deepEqual([verified.code, verified.stdout.split("\n")[1]], [0, `  ${TEXTS + 2} secrets can be opened`]);
});

test("during an interrupted rotation no other rotation begins and no needed key is dropped, and it can be resumed", async () => {
  for (const server of servers.splice(0)) await server.end("SIGTERM");
  const [third, fourth] = [randomBytes(32), randomBytes(32)].map((key) => createKeyRing(key));
  assert.ok(third && fourth);
  const textOf = (keys: KeyRing): string => keys.preferred.key.toString("base64");
  const halfDone = { RAILHEAD_ROOT_KEY: textOf(third), RAILHEAD_ROOT_KEY_PREVIOUS: textOf(is) };
  const next = { RAILHEAD_ROOT_KEY: textOf(fourth), RAILHEAD_ROOT_KEY_PREVIOUS: textOf(third) };
  const { done, total } = await killedHalfWay("rotate root-key", halfDone, ({ keyId }) => keyId === third.preferred.id);
  const stored = async (): Promise<unknown> => [
    await db.query("select * from accounts"),
    await db.query("select * from triggers"),
    await db.query("select * from secret_contents order by id"),
    await db.query("select count(*) from audit_entries"),
  ];
  const before = await stored();

  // A rotation to a third key, or a resumption without the former key, would leave values that no key opens.
  const needed = new RegExp(
    `^Nothing was changed: the root key ${is.preferred.id} was not given, and ${total - done} secrets \\(\\w+, \\w+, \\w+, …\\)` +
      ` and 1 webhook tokens \\(default/shop/deploy/\\w+\\) are sealed under it\\. Finish the interrupted rotation first`,
  );
  for (const keys of [next, { RAILHEAD_ROOT_KEY: textOf(third) }]) {
    const { code, stdout, stderr } = await runProgram(command("rotate root-key", keys));
    assert.deepEqual([code, stdout.split("\n").length], [2, 2], stdout);
    assert.match(stderr, needed);
    assert.deepEqual(await stored(), before);
  }
  const lacking = await startServer(folders[0], env({ RAILHEAD_ROOT_KEY: textOf(third) }));
  assert.match(
    lacking.stderr(),
    new RegExp(`"needed":"${is.preferred.id}".*"what":"${total - done} secrets .*1 webhook`),
  );
  await lacking.end("SIGTERM");

  for (const [keys, { preferred }] of [
    [halfDone, third],
    [next, fourth],
  ] as const) {
    const { code, stderr } = await runProgram(command("rotate root-key", keys));
    assert.equal(code, 0, stderr);
    assert.ok((await rows()).every(({ keyId }) => keyId === preferred.id));
  }
  const verified = await runProgram(command("verify", { RAILHEAD_ROOT_KEY: textOf(fourth) }));
  assert.equal(verified.code, 0, verified.stdout);
});
