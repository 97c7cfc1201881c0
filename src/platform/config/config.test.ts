import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { factsFile, firstStartText, writeFacts, readFacts, type BootstrapFacts } from "./bootstrap.ts";
import { ConfigError, loadRootKeys, readConfig } from "./config.ts";

const folder = mkdtempSync(join(tmpdir(), "railhead-config-"));
after(() => rmSync(folder, { recursive: true }));
const KEY = randomBytes(32).toString("base64");

test("with an empty environment: this machine only, the embedded database, a local delegate", () => {
  assert.deepEqual(readConfig({}, folder), {
    host: "127.0.0.1",
    port: 7070,
    publicUrl: undefined,
    dataDir: join(folder, ".railhead"),
    databaseUrl: undefined,
    rootKey: {
      name: "RAILHEAD_DATA_DIR",
      kind: "file",
      path: join(folder, ".railhead", "root.key"),
      made: true,
    },
    previousRootKey: undefined,
    localDelegate: true,
    webUi: true,
    delegateDir: undefined,
    stepPath: undefined,
    knownHosts: undefined,
    maxSecretFile: 10 * 1024 * 1024,
    oidc: undefined,
    sessions: { idleMs: 12 * 3_600_000, mostMs: 7 * 24 * 3_600_000 },
    allowPrivateAddresses: [],
    trustedProxies: [],
    databaseConnections: 10,
    secretCommands: new Map(),
    logLevel: "info",
  });
});

test("every value is read, paths from the current folder, addresses without a slash at the end", async () => {
  writeFileSync(join(folder, "hosts"), "");
  const config = readConfig(
    {
      HOST: "0.0.0.0",
      PORT: "0",
      RAILHEAD_PUBLIC_URL: "https://ci.example.com/railhead//",
      RAILHEAD_DATA_DIR: "data",
      DATABASE_URL: "postgresql://u:p@h/d",
      RAILHEAD_ROOT_KEY: KEY,
      RAILHEAD_LOCAL_DELEGATE: "off",
      RAILHEAD_DELEGATE_DIR: "work",
      RAILHEAD_STEP_PATH: "/opt/bin:/usr/bin",
      RAILHEAD_KNOWN_HOSTS: "hosts",
      RAILHEAD_MAX_SECRET_FILE: "4096",
      RAILHEAD_SESSION_IDLE_MINUTES: "30",
      RAILHEAD_SESSION_HOURS: "8",
      RAILHEAD_ALLOW_PRIVATE_ADDRESSES: "10.1.0.0/16, registry.internal:5000",
      RAILHEAD_TRUSTED_PROXIES: "10.0.0.0/8, fd00::/8",
      RAILHEAD_DATABASE_CONNECTIONS: "24",
      RAILHEAD_LOG_LEVEL: "warn",
    },
    folder,
  );
  assert.equal(config.port, 0);
  assert.equal(config.publicUrl, "https://ci.example.com/railhead");
  assert.equal(config.dataDir, join(folder, "data"));
  assert.deepEqual((await loadRootKeys(config)).preferred.key, Buffer.from(KEY, "base64"));
  assert.equal(config.localDelegate, false);
  assert.equal(config.delegateDir, join(folder, "work"));
  assert.equal(config.stepPath, "/opt/bin:/usr/bin");
  assert.equal(config.knownHosts, join(folder, "hosts"));
  assert.equal(config.maxSecretFile, 4096);
  assert.deepEqual(config.sessions, { idleMs: 1_800_000, mostMs: 8 * 3_600_000 });
  assert.deepEqual(config.allowPrivateAddresses, ["10.1.0.0/16", "registry.internal:5000"]);
  assert.equal(config.databaseConnections, 24);
  assert.deepEqual(config.trustedProxies, ["10.0.0.0/8", "fd00::/8"]);
  assert.equal(config.logLevel, "warn");
});

test("all wrong values are reported at once, and none that may hold a secret is repeated", () => {
  const env = {
    PORT: "70000",
    RAILHEAD_PUBLIC_URL: "ftp://x",
    DATABASE_URL: "mysql://root:hunter2@db/x",
    RAILHEAD_ROOT_KEY: "c2VjcmV0",
    RAILHEAD_ROOT_KEY_FILE: "key",
    RAILHEAD_LOCAL_DELEGATE: "yes",
    RAILHEAD_STEP_PATH: "bin:/usr/bin",
    RAILHEAD_KNOWN_HOSTS: "no-such-file",
    RAILHEAD_MAX_SECRET_FILE: "10MB",
    RAILHEAD_ALLOW_PRIVATE_ADDRESSES: "10.0.0.0/8,everything",
    RAILHEAD_LOG_LEVEL: "loud",
  };
  assert.throws(
    () => readConfig(env, folder),
    (error) => {
      assert.ok(error instanceof ConfigError);
      assert.equal(error.faults.length, 11);
      for (const name of Object.keys(env)) assert.match(error.message, new RegExp(name));
      assert.doesNotMatch(error.message, /hunter2|c2VjcmV0/);
      return true;
    },
  );
  assert.throws(
    () => readConfig({ RAILHEAD_KNOWN_HOSTS: "." }, folder),
    /RAILHEAD_KNOWN_HOSTS names .*, which is no file/,
  );
  for (const PORT of ["-1", "1.5", "65536", "0x10", "abc", "1e3"])
    assert.throws(() => readConfig({ PORT }, folder), ConfigError);
  const bad = ["x", "https://u:p@x", "https://x?y", "https://x#y", "file:///etc"];
  for (const url of bad) assert.throws(() => readConfig({ RAILHEAD_PUBLIC_URL: url }, folder), ConfigError, url);
});

const facts: BootstrapFacts = {
  baseUrl: "http://127.0.0.1:7070",
  accountId: "a",
  orgIdentifier: "default",
  adminUserId: "u",
  adminEmail: "admin@railhead.local",
  adminPassword: "p4ss",
  apiKey: "pat.a.b.c",
};

test("the facts of the first start are kept for their owner alone, and replaced whole", () => {
  assert.equal(readFacts(folder), undefined);
  writeFacts(folder, facts);
  assert.deepEqual(readFacts(folder), facts);
  assert.equal(statSync(factsFile(folder)).mode & 0o777, 0o600);
  writeFacts(folder, { ...facts, baseUrl: "http://localhost:1" });
  assert.equal(readFacts(folder)?.baseUrl, "http://localhost:1");
  assert.equal(statSync(factsFile(folder)).mode & 0o777, 0o600);
  writeFileSync(factsFile(folder), "{ half");
  assert.throws(() => readFacts(folder), SyntaxError);
});

test("the first start shows address, account, password and key", () => {
  const text = firstStartText(facts, factsFile(folder));
  for (const shown of [
    facts.baseUrl,
    facts.accountId,
    facts.adminEmail,
    facts.adminPassword,
    facts.apiKey,
    factsFile(folder),
  ])
    assert.ok(text.includes(shown), shown);
});

test("single sign-on: from the environment, the secret from a file too, and each fault by its name", () => {
  const file = join(folder, "oidc-secret");
  writeFileSync(file, "from a file\n");
  const right = {
    RAILHEAD_OIDC_ISSUER: "https://login.example.com/realms/main",
    RAILHEAD_OIDC_CLIENT_ID: "railhead",
    RAILHEAD_OIDC_CLIENT_SECRET_FILE: file,
  };
  assert.deepEqual(readConfig(right, folder).oidc, {
    issuer: "https://login.example.com/realms/main",
    clientId: "railhead",
    clientSecret: "from a file",
    scopes: "openid profile email",
    name: "single sign-on",
    linkByEmail: false,
  });
  const more = {
    ...right,
    RAILHEAD_OIDC_SCOPES: "openid,groups",
    RAILHEAD_OIDC_NAME: "Example",
    RAILHEAD_OIDC_LINK_BY_EMAIL: "on",
  };
  const { scopes, name, linkByEmail } = readConfig(more, folder).oidc ?? {};
  assert.deepEqual([scopes, name, linkByEmail], ["openid groups", "Example", true]);
  for (const [wrong, fault] of [
    [{ RAILHEAD_OIDC_ISSUER: "http://login.example.com" }, /RAILHEAD_OIDC_ISSUER takes/],
    [{ RAILHEAD_OIDC_ISSUER: "" }, /RAILHEAD_OIDC_CLIENT_ID is set without RAILHEAD_OIDC_ISSUER/],
    [{ RAILHEAD_OIDC_CLIENT_ID: "" }, /RAILHEAD_OIDC_CLIENT_ID is missing/],
    [{ RAILHEAD_OIDC_CLIENT_SECRET: "hunter2" }, /both set/],
    [{ RAILHEAD_OIDC_CLIENT_SECRET_FILE: "nothing-here" }, /cannot be read/],
    [{ RAILHEAD_OIDC_SCOPES: "profile" }, /openid has to be among them/],
    [{ RAILHEAD_OIDC_LINK_BY_EMAIL: "yes" }, /takes on or off/],
    [{ RAILHEAD_OIDC_NAME: "x".repeat(61) }, /up to 60 characters/],
  ] as const)
    assert.throws(
      () => readConfig({ ...right, ...wrong }, folder),
      (error) => error instanceof ConfigError && fault.test(error.message) && !error.message.includes("hunter2"),
    );
});
