/** Administration commands as processes: with a running, stopped and killed server, and with an external database. */
import assert from "node:assert/strict";
import { randomBytes, randomUUIDv7 } from "node:crypto";
import { after, before, test } from "node:test";
import { Client } from "pg";
import { toWire, type Uuid } from "../../../src/core/ids.ts";
import { runningConnection } from "../../../src/platform/db/embedded/running.ts";
import { databaseByAddress } from "../../support/database.ts";
import { runProgram } from "../../support/processes/program.ts";
import { until } from "../../support/until.ts";
import {
  createServerFolder,
  readFacts,
  startServer,
  type ServerFolder,
  type ServerProcess,
} from "../../support/processes/server-process.ts";

const NO_DELEGATE = { RAILHEAD_LOCAL_DELEGATE: "off" };
let folder: ServerFolder;
let server: ServerProcess | undefined;
before(async () => void (folder = await createServerFolder()));
after(async () => {
  await server?.end("SIGTERM");
  await folder?.remove();
});

type Env = Readonly<Record<string, string>>;

const railhead = (args: readonly string[], env: Env = {}) =>
  runProgram({ args, env: { RAILHEAD_DATA_DIR: folder.dataDir, ...env }, cwd: folder.path });

/** Returns the operations in a successful export. */
async function exported(args: readonly string[] = [], env: Env = {}): Promise<string[]> {
  const { code, stdout, stderr } = await railhead(["audit", "export", ...args], env);
  assert.equal(code, 0, stderr);
  assert.equal(stderr, "");
  const lines = stdout.split("\n").slice(0, -1);
  return lines.map((line) => {
    const event = JSON.parse(line) as { action: string; resource: { type: string; identifier: string } };
    return `${event.action} ${event.resource.type} ${event.resource.identifier}`;
  });
}

async function makeProject(identifier: string): Promise<number> {
  const { accountId, apiKey } = await readFacts(folder);
  const url = `${server?.url}/ng/api/organizations?accountIdentifier=${accountId}`;
  const organization = { identifier, name: identifier };
  const { status } = await fetch(url, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify({ organization }),
  });
  return status;
}

const FIRST = "CREATE ORGANIZATION first";
const SECOND = "CREATE ORGANIZATION second";

test("a command before the first start finds nothing and creates nothing", async () => {
  const { code, stdout, stderr } = await railhead(["audit", "export"]);
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /^There is no database in .*data\. Set RAILHEAD_DATA_DIR or DATABASE_URL/);
});

test("while the server runs, several commands at once use its database", async () => {
  server = await startServer(folder, NO_DELEGATE);
  assert.equal(await makeProject("first"), 200);
  const all = await Promise.all([exported(), exported(), exported()]);
  for (const one of all) assert.ok(one.includes(FIRST), one.join());
  assert.equal(await makeProject("second"), 200);
});

test("after the server was killed or stopped, a command starts the database and stops it again", async () => {
  await server?.kill();
  assert.deepEqual((await exported()).slice(-2), [FIRST, SECOND]);
  server = await startServer(folder, NO_DELEGATE);
  await server.end("SIGTERM");
  const both = await Promise.all([exported(), exported()]);
  for (const one of both) assert.deepEqual(one.slice(-2), [FIRST, SECOND]);
  server = await startServer(folder, NO_DELEGATE);
});

test("verify: the chain is valid while the server runs; after tampering the exit code is 1; a noted head must match", async () => {
  // Entries are sealed within about a second after their commit. A head of an empty chain would prove nothing.
  const sealed = ({ stdout }: { readonly stdout: string }): boolean => /^OK \S{22}: [1-9]/m.test(stdout);
  const whole = await until(() => railhead(["audit", "verify"]), sealed);
  assert.equal(whole.code, 0, whole.stdout + whole.stderr);
  const [, head = ""] = /^HEAD (\S+)$/m.exec(whole.stdout) ?? [];
  assert.match(whole.stdout, /^OK \S{22}: \d+ entries/);
  assert.equal((await railhead(["audit", "verify", "--head", head])).code, 0);
  const other = head.replace(/.{4}(?=:\d+$)/, (end) => (end === "0000" ? "1111" : "0000"));
  assert.equal((await railhead(["audit", "verify", "--head", other])).code, 1);
  assert.equal((await railhead(["audit", "verify", "--head", "nonsense"])).code, 2);
  const [account = ""] = head.split(":");
  assert.equal((await railhead(["audit", "verify", "--head", `${account}:0:${"0".repeat(64)}:0`])).code, 0);
  const atNone = await railhead(["audit", "verify", "--head", `${account}:0:${"1".repeat(64)}:0`]);
  assert.equal(atNone.code, 1, atNone.stdout);
  assert.match(atNone.stdout, /^BROKEN \S{22}: entry 0 is changed: the hash is not the one that was noted/);
  const unknownHead = `${toWire(randomUUIDv7() as Uuid)}:${head.split(":").slice(1).join(":")}`;
  const stray = await railhead(["audit", "verify", "--head", unknownHead]);
  assert.deepEqual([stray.code, stray.stdout], [2, ""]);
  assert.match(stray.stderr, /takes the head of an account that is checked/);
  const connection = await runningConnection(folder.dataDir);
  assert.ok(connection);
  const database = new Client(connection);
  await database.connect();
  await database.query("alter table audit_entries disable trigger user");
  await database.query("update audit_entries set actor_name = 'changed' where resource_id = 'first'");
  await database.query("alter table audit_entries enable trigger user");
  const broken = await railhead(["audit", "verify"]);
  assert.equal(broken.code, 1, broken.stdout + broken.stderr);
  assert.match(broken.stdout, /^BROKEN \S{22}: entry \d+ \(\S{22}\) is changed: /);
  await database.query("alter table audit_entries disable trigger user");
  await database.query("update audit_entries set actor_name = 'admin' where resource_id = 'first'");
  await database.query("alter table audit_entries enable trigger user");
  await database.end();
  assert.equal((await railhead(["audit", "verify"])).code, 0);
});

test("verify: an inserted entry with an old timestamp gives exit code 1 until the head behind it is noted", async () => {
  const connection = await runningConnection(folder.dataDir);
  assert.ok(connection);
  const database = new Client(connection);
  await database.connect();
  await database.query(
    `insert into audit_entries (account_id, id, at, actor_kind, actor_name, operation, resource_type, resource_id)
     select id, uuidv7(), (extract(epoch from now()) * 1000)::bigint - 900000, 'system', 'Railhead', 'project.create', 'PROJECT', 'put in'
       from accounts`,
  );
  await database.end();
  const told = await until(
    () => railhead(["audit", "verify"]),
    ({ stdout }) => stdout.includes("TIME"),
  );
  assert.equal(told.code, 1, told.stdout);
  const times =
    /^TIME \S{22}: entry \d+ \(\S{22}\) has the time (\S+Z) and was sealed after entry \d+ of (\S+Z)$/m.exec(
      told.stdout,
    );
  assert.ok(times, told.stdout);
  assert.ok(Date.parse(times[2] ?? "") - Date.parse(times[1] ?? "") > 10 * 60_000);
  const [, head = ""] = /^HEAD (\S+)$/m.exec(told.stdout) ?? [];
  assert.equal(head.split(":").at(-1), String(Date.parse(times[2] ?? "")), "the head is not older");
  const noted = await railhead(["audit", "verify", "--head", head]);
  assert.deepEqual([noted.code, noted.stdout.includes("TIME")], [0, false], noted.stdout);
});

test("an export can be limited to a time and an account; invalid values are refused by name", async () => {
  const { accountId } = await readFacts(folder);
  assert.ok((await exported(["--account", accountId, "--from", "2020-01-01T00:00:00Z"])).includes(SECOND));
  assert.deepEqual(await exported(["--to", "1000"]), []);
  const refusals = [
    [["--account", "x"], /^There is no account 'x'\.\n$/],
    [["--from", "yesterday"], /^--from is 'yesterday'; it takes a date/],
    [["--bogus"], /^error: unknown option '--bogus'/],
  ] as const;
  for (const [args, wanted] of refusals) {
    const { code, stdout, stderr } = await railhead(["audit", "export", ...args]);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, wanted);
  }
});

test("a command needs the server's root key and does not create one", async () => {
  const { code, stderr } = await railhead(["audit", "export"], { RAILHEAD_ROOT_KEY_FILE: "missing.key" });
  assert.equal(code, 2);
  assert.match(stderr, /^There is no root key in .*missing\.key\./);
});

test("a command does not migrate an external database", async () => {
  const [migrated, empty] = await Promise.all([databaseByAddress("migrated"), databaseByAddress("empty")]);
  const RAILHEAD_ROOT_KEY = randomBytes(32).toString("base64");
  try {
    const none = await railhead(["audit", "export"], { DATABASE_URL: migrated.url, RAILHEAD_ROOT_KEY });
    assert.match(none.stderr, /^The database has no account yet\. Start `railhead server` once\./);
    const old = await railhead(["audit", "export"], { DATABASE_URL: empty.url, RAILHEAD_ROOT_KEY });
    assert.match(old.stderr, /^The database lacks migrations of this version \(000001_foundations/);
    assert.deepEqual([none.code, old.code], [2, 2]);
    const own = await createServerFolder();
    const other = await startServer(own, { DATABASE_URL: migrated.url, RAILHEAD_ROOT_KEY, ...NO_DELEGATE });
    try {
      await exported([], { DATABASE_URL: migrated.url, RAILHEAD_ROOT_KEY });
    } finally {
      await other.end("SIGTERM");
      await own.remove();
    }
  } finally {
    await Promise.all([migrated.drop(), empty.drop()]);
  }
});

test("the help names every command, and an unknown command is named", async () => {
  const [bare, asked, unknown] = await Promise.all([railhead([]), railhead(["--help"]), railhead(["bogus"])]);
  assert.deepEqual([bare.code, asked.code, unknown.code], [0, 0, 2]);
  assert.equal(bare.stdout, asked.stdout);
  for (const word of ["server", "delegate", "audit", "admin", "secrets"]) assert.match(asked.stdout, new RegExp(word));
  assert.match(unknown.stderr, /^error: unknown command 'bogus'/);
  const delegate = await railhead(["delegate", "--help"]);
  assert.match(delegate.stdout, /^Usage: railhead delegate \[options\]/);
});
