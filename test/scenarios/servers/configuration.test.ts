/** Invalid configuration: exit code 78, and one line for each value with what is expected. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { databaseByAddress } from "../../support/database.ts";
import { runProgram } from "../../support/processes/program.ts";
import {
  createServerFolder,
  processesIn,
  runServer,
  startServer,
  type ServerFolder,
} from "../../support/processes/server-process.ts";

const OFF = { RAILHEAD_LOCAL_DELEGATE: "off" };
let folder: ServerFolder;
let database: Awaited<ReturnType<typeof databaseByAddress>>;

before(async () => {
  [folder, database] = await Promise.all([createServerFolder(), databaseByAddress("migrated")]);
});

after(async () => {
  await folder?.remove();
  await database?.drop();
});

/** Returns the messages about these values, one line for each. Fails on any other output. */
async function faultsOf(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { code, stdout, stderr } = await runServer(folder, env);
  assert.equal(code, 78, stderr);
  assert.equal(stdout, "");
  const [head, ...lines] = stderr.trimEnd().split("\n");
  assert.equal(head, "The configuration is wrong:");
  for (const line of lines) assert.match(line, /^ {2}- .+[^.]\.$/);
  return lines.map((line) => line.slice(4));
}

const SECRET = "hunter2";

const wrong: readonly (readonly [env: Readonly<Record<string, string>>, expected: readonly RegExp[]])[] = [
  [
    {
      PORT: "http",
      RAILHEAD_PUBLIC_URL: "railhead.example.com",
      DATABASE_URL: `mysql://root:${SECRET}@db/x`,
      RAILHEAD_ROOT_KEY: Buffer.from(SECRET).toString("base64"),
      RAILHEAD_LOCAL_DELEGATE: "no",
    },
    [
      /^PORT is "http"; .*0.*65535/,
      /^RAILHEAD_PUBLIC_URL is /,
      /^DATABASE_URL is /,
      /^RAILHEAD_ROOT_KEY is /,
      /^RAILHEAD_LOCAL_DELEGATE is "no"/,
    ],
  ],
  [
    {
      PORT: "65536",
      RAILHEAD_PUBLIC_URL: "ftp://railhead.example.com",
      DATABASE_URL: "localhost:5432",
      RAILHEAD_ROOT_KEY: "not base64 at all",
      RAILHEAD_LOCAL_DELEGATE: "OFF",
    },
    [
      /^PORT is "65536"/,
      /^RAILHEAD_PUBLIC_URL is "ftp:/,
      /^DATABASE_URL is /,
      /^RAILHEAD_ROOT_KEY is /,
      /^RAILHEAD_LOCAL_DELEGATE is "OFF"/,
    ],
  ],
  [
    {
      PORT: "-1",
      RAILHEAD_PUBLIC_URL: `https://ada:${SECRET}@railhead.example.com`,
      RAILHEAD_ROOT_KEY: Buffer.alloc(32, 1).toString("base64"),
      RAILHEAD_ROOT_KEY_FILE: "some.key",
    },
    [
      /^PORT is "-1"/,
      /^RAILHEAD_PUBLIC_URL names a user/,
      /^RAILHEAD_ROOT_KEY and RAILHEAD_ROOT_KEY_FILE are both set/,
    ],
  ],
  [
    {
      PORT: "70.5",
      RAILHEAD_PUBLIC_URL: "https://x.example.com/?a=b",
      RAILHEAD_TRUSTED_PROXIES: "10.0.0.0/8, proxy.internal 0.0.0.0/0",
    },
    [
      /^PORT is "70.5"/,
      /^RAILHEAD_PUBLIC_URL is /,
      /^RAILHEAD_TRUSTED_PROXIES has "proxy.internal"; it takes addresses and networks/,
      /^RAILHEAD_TRUSTED_PROXIES has "0.0.0.0\/0"/,
    ],
  ],
  [{ RAILHEAD_ROOT_KEY_FILE: "missing.key" }, [/^RAILHEAD_ROOT_KEY_FILE names .*missing\.key, which does not exist/]],
  [{ RAILHEAD_ROOT_KEY_FILE: "short.key" }, [/^The root key in .*short\.key is not 32 bytes/]],
  [{ RAILHEAD_ROOT_KEY_FILE: "folder.key" }, [/^The root key in .*folder\.key cannot be read: EISDIR/]],
];
for (const [env, expected] of wrong) {
  test(`wrong: ${Object.keys(env).join(", ")} (${Object.values(env)[0]?.replace(SECRET, "…")})`, async () => {
    await writeFile(`${folder.path}/short.key`, "c2hvcnQ=\n");
    await mkdir(`${folder.path}/folder.key`, { recursive: true });
    const faults = await faultsOf(env);
    assert.equal(faults.length, expected.length, faults.join("\n"));
    for (const [index, pattern] of expected.entries()) assert.match(faults[index] ?? "", pattern);
    assert.ok(!faults.join("\n").includes(SECRET));
    assert.deepEqual(processesIn(folder.path), []);
  });
}

test("an unreachable database and a wrong database password are named without the password", async () => {
  const [missing] = await faultsOf({ ...OFF, DATABASE_URL: database.url.replace(/@\/[^?]+/, "@/nowhere") });
  assert.match(missing ?? "", /^The database of DATABASE_URL cannot be used: database "nowhere" does not exist\.$/);
  const [refused] = await faultsOf({ ...OFF, DATABASE_URL: database.url.replace(/:[^:@]+@/, `:${SECRET}@`) });
  assert.match(refused ?? "", /^The database of DATABASE_URL cannot be used: password authentication failed/);
  assert.ok(!refused?.includes(SECRET));
});

test("a port in use is named", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const { code, stderr } = await runServer(folder, { ...OFF, DATABASE_URL: database.url, PORT: String(port) });
  assert.equal(code, 1);
  assert.match(
    stderr,
    new RegExp(`^ {2}- The server cannot listen on HOST 127.0.0.1 and PORT ${port}: .*EADDRINUSE.*\\.$`, "m"),
  );
  assert.doesNotMatch(stderr, /\n\s+at /);
  assert.deepEqual(processesIn(folder.path), []);
  other.close();
});

test("server and delegate name the nearest variable of an unknown RAILHEAD_ variable, and start", async () => {
  const server = await startServer(folder, { ...OFF, DATABASE_URL: database.url, RAILHEAD_LOG_LEVLE: SECRET });
  const told =
    /"variable":"RAILHEAD_LOG_LEVLE","msg":"RAILHEAD_LOG_LEVLE has no effect: .*did you mean RAILHEAD_LOG_LEVEL\?"/;
  assert.match(server.stderr(), told);
  assert.ok(!server.stderr().includes(SECRET));
  const { stderr } = await runProgram({
    args: ["delegate", "--url", server.url, "--token", "wrong", "--name", "x", "--work-dir", `${folder.path}/x`],
    env: { RAILHEAD_DELEGATE_TOKENS: SECRET },
    cwd: folder.path,
  });
  assert.match(stderr, /"variable":"RAILHEAD_DELEGATE_TOKENS".*did you mean RAILHEAD_DELEGATE_TOKEN\?"/);
  assert.ok(!stderr.includes(SECRET));
  assert.equal((await server.end("SIGTERM")).code, 0);
});

test("RAILHEAD_LOCAL_DELEGATE=off starts no delegate", async () => {
  const server = await startServer(folder, { ...OFF, DATABASE_URL: database.url });
  assert.deepEqual(
    processesIn(folder.path).map(({ pid }) => pid),
    [server.child.pid],
  );
  assert.equal((await server.end("SIGTERM")).code, 0);
});

test("a data directory that cannot be created ends the start with one line", async () => {
  for (const dataDir of ["/proc/x", "/proc/x/y", `${folder.path}/file/data`]) {
    await writeFile(`${folder.path}/file`, "");
    const { code, stdout, stderr } = await runServer(folder, { ...OFF, RAILHEAD_DATA_DIR: dataDir });
    assert.equal(code, 1, stderr);
    assert.equal(stdout, "");
    assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
    assert.ok(stderr.includes(dataDir), stderr);
  }
});

test("a work folder of the local delegate that is a file or cannot be created is refused at the start", async () => {
  await writeFile(`${folder.path}/file`, "");
  for (const delegateDir of [`${folder.path}/file`, `${folder.path}/file/below`, "/proc/x"]) {
    const [fault, ...more] = await faultsOf({ RAILHEAD_DELEGATE_DIR: delegateDir, DATABASE_URL: database.url });
    assert.ok(fault?.startsWith(`RAILHEAD_DELEGATE_DIR names ${delegateDir}, which is no folder`), fault ?? "");
    assert.deepEqual(more, []);
  }
});
