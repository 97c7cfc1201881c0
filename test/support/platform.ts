/**
 * A whole platform for a test: real database and sockets. The test advances the clock and runs the background jobs
 * (`sweep`, `reconcile`). There is no delegate: a test connects a pretend one or starts the real program.
 */
import { randomBytes, randomUUIDv7 } from "node:crypto";
import { buildPlatform, type Platform } from "../../src/app.ts";
import type { Clock } from "../../src/core/clock.ts";
import { toWire, type Uuid } from "../../src/core/ids.ts";
import type { LocalClaim, LocalClaimFile } from "../../src/delegates/index.ts";
import type { CheckScripts } from "../../src/pipelines/index.ts";
import type { OidcConfig } from "../../src/platform/config/oidc.ts";
import { createKeyRing, type KeyRing } from "../../src/platform/crypto/key-ring.ts";
import { hashSecret, writeToken } from "../../src/platform/crypto/tokens.ts";
import type { Db } from "../../src/platform/db/db.ts";
import { openDb } from "../../src/platform/db/pool/pool.ts";
import { createLog } from "../../src/platform/log/log.ts";
import { assignRole, type BuiltIn, type Within } from "./access.ts";
import { freshDatabase, silentLog, type TestDatabase } from "./database.ts";

export type HandClock = Clock & { readonly advance: (ms: number) => void };

export function handClock(start = 1_800_000_000_000): HandClock {
  let at = start;
  return { now: () => at, elapsed: () => at, advance: (ms) => void (at += ms) };
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary responses
export type Answer = { readonly status: number; readonly headers: Headers; readonly text: string; readonly body: any };

export type TestPlatform = {
  readonly url: string;
  readonly accountId: string;
  readonly apiKey: string;
  readonly clock: HandClock;
  readonly db: Db;
  readonly keys: KeyRing;
  readonly database: TestDatabase;
  readonly platform: Platform;
  /** Sends a request with the administrator's key and account by default. `path` does not include `/gateway`. */
  readonly send: (method: string, path: string, options?: SendOptions) => Promise<Answer>;
  readonly graphql: (query: string, variables?: unknown) => Promise<Answer>;
  /** Returns a token for delegates. */
  readonly delegateToken: () => Promise<string>;
  /** Adds a user with the role over everything in the scope, by default the account. Returns an API key. */
  readonly addUser: (role: BuiltIn, within?: Within) => Promise<string>;
  /** Adds an account with an administrator to the same database. */
  readonly addAccount: () => Promise<{ readonly accountId: string; readonly apiKey: string }>;
  /**
   * Starts another server on the same database, with the same clock and its own connections. It stops with the first
   * server.
   */
  readonly replica: () => Promise<TestPlatform>;
  readonly stop: () => Promise<void>;
};

export type SendOptions = {
  readonly body?: string | Uint8Array | FormData;
  readonly contentType?: string;
  /** Null sends no key. */
  readonly apiKey?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** The default follows redirects. */
  readonly redirect?: "manual";
  /** The query parameter `accountIdentifier`; null omits it. */
  readonly account?: string | null;
};

export type PlatformOptions = {
  readonly clock?: HandClock;
  readonly logTo?: NodeJS.WritableStream;
  /** The lowest level that `logTo` receives. Default: `info`. */
  readonly logLevel?: "debug";
  /** For a test that seals or unseals itself. */
  readonly keys?: KeyRing;
  /** Single sign-on. Default: none. */
  readonly oidc?: OidcConfig;
  /** Private addresses to which the server itself may connect. */
  readonly allowPrivateAddresses?: readonly string[];
  /** Networks of proxies in front of the server. Default: none. */
  readonly trustedProxies?: readonly string[];
  /** The folder of the built web interface. Default: none. */
  readonly webFolder?: Promise<string>;
  /** Bytes. Default: 1 MiB. */
  readonly maxSecretFile?: number;
  /** Programs of secret managers, by name. */
  readonly secretCommands?: ReadonlyMap<string, readonly string[]>;
  /** Checks the syntax of scripts. Default: the server's own Bash. */
  readonly checkScripts?: CheckScripts;
  /** Wraps the platform's database, so that a test can make it fail. `db` of the test is not wrapped. */
  readonly wrapDb?: (db: Db) => Db;
};

export async function startTestPlatform(options: PlatformOptions = {}): Promise<TestPlatform> {
  const database = await freshDatabase();
  return startOn(
    database,
    { ...options, clock: options.clock ?? handClock() },
    {
      keys: options.keys ?? createKeyRing(randomBytes(32)),
      localClaim: claimInMemory(),
    },
  );
}

type Shared = { readonly keys: KeyRing; readonly apiKey?: string; readonly localClaim: LocalClaimFile };

function claimInMemory(): LocalClaimFile {
  let claim: LocalClaim | undefined;
  return { read: () => claim, save: (made) => void (claim = made) };
}

async function startOn(
  database: TestDatabase,
  options: PlatformOptions & { readonly clock: HandClock },
  shared: Shared,
): Promise<TestPlatform> {
  const { db } = database;
  const { clock } = options;
  let url = "";
  const platform = await buildPlatform({
    db: options.wrapDb?.(db) ?? db,
    keys: shared.keys,
    clock,
    newId: () => randomUUIDv7() as Uuid,
    log: options.logTo ? createLog(options.logLevel ?? "info", options.logTo) : createLog("silent"),
    publicUrl: () => url,
    pendingMigrations: async () => [],
    allowPrivateAddresses: options.allowPrivateAddresses ?? [],
    trustedProxies: options.trustedProxies ?? [],
    oidc: options.oidc,
    sessions: { idleMs: 12 * 3_600_000, mostMs: 7 * 24 * 3_600_000 },
    maxSecretFile: options.maxSecretFile ?? 1024 * 1024,
    secretCommands: options.secretCommands ?? new Map(),
    checkScripts: options.checkScripts,
    leaving: new AbortController().signal,
    webFolder: options.webFolder,
  });
  url = await platform.http.app.listen({ host: "127.0.0.1", port: 0 });
  let apiKey = shared.apiKey ?? "";
  const { accountId } = await platform.firstStart((facts) => void (apiKey = facts.apiKey));
  platform.ready();
  const account = toWire(accountId);

  const replicas: TestPlatform[] = [];
  let over: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    for (const replica of replicas) await replica.stop();
    await platform.stop();
    await database.drop();
  };

  const send: TestPlatform["send"] = async (method, path, how = {}) => {
    const target = new URL(`${url}${path}`);
    const scope = how.account === undefined ? account : how.account;
    if (scope !== null && !target.searchParams.has("accountIdentifier") && !target.searchParams.has("accountId"))
      target.searchParams.set("accountIdentifier", scope);
    const key = how.apiKey === undefined ? apiKey : how.apiKey;
    const response = await fetch(target, {
      method,
      redirect: how.redirect ?? "follow",
      headers: {
        ...(key === null ? {} : { "x-api-key": key }),
        ...(how.contentType === undefined ? {} : { "content-type": how.contentType }),
        ...how.headers,
      },
      ...(how.body === undefined ? {} : { body: how.body as NonNullable<RequestInit["body"]> }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parsed(text) };
  };

  return {
    url,
    accountId: account,
    apiKey,
    clock,
    db,
    keys: shared.keys,
    database,
    platform,
    send,
    graphql: (query, variables = null) =>
      send("POST", `/gateway/api/graphql?accountId=${account}`, {
        contentType: "application/json",
        body: JSON.stringify({ query, variables }),
      }),
    delegateToken: async () => {
      const pass = await platform.renewLocalPass(accountId, shared.localClaim);
      if (!pass) throw new Error("the test has revoked the local delegate's token");
      return pass.token;
    },
    addUser: (role, within) => addUser(db, { accountId, role, at: clock.now() }, within),
    addAccount: () => addAccount(db, clock.now()),
    replica: async () => {
      const replica = await startOn(secondView(database), options, { ...shared, apiKey });
      replicas.push(replica);
      return replica;
    },
    stop: () => (over ??= stop()),
  };
}

/** The same database over other connections. `drop` only closes them. */
function secondView({ connection, name }: TestDatabase): TestDatabase {
  const unheard: unknown[] = [];
  const db = openDb({ connection, log: silentLog, onError: (error) => unheard.push(error) });
  const drop = async (): Promise<void> => {
    await db.close();
    if (unheard.length > 0) throw unheard[0];
  };
  return { db, connection, name, drop };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type NewUser = { readonly accountId: Uuid; readonly role: BuiltIn; readonly at: number };

async function addUser(db: Db, { accountId, role, at }: NewUser, within?: Within): Promise<string> {
  const [userId, tokenId] = [randomUUIDv7() as Uuid, randomUUIDv7() as Uuid];
  const secret = randomBytes(32).toString("base64url");
  await db.query(
    `insert into users (account_id, id, name, email, password_hash, must_change_password, created_at) values ($1, $2, $3, $4, '', false, $5)`,
    [accountId, userId, `user ${userId}`, `${userId}@example.com`, at],
  );
  await assignRole(db, { accountId, userId, role, at }, within);
  await db.query(
    `with key as (
       insert into api_keys (account_id, id, user_id, identifier, name, description, tags, created_at, updated_at)
       values ($1, $6, $2, 'test', 'test', '', '{}', $5, $5) returning id)
     insert into tokens (account_id, id, api_key_id, identifier, name, description, tags, secret_hash, valid_from_at,
                         family_id, created_at, updated_at)
     select $1, $3, key.id, 'test', 'test', '', '{}', $4, $5, $3, $5, $5 from key`,
    [accountId, userId, tokenId, hashSecret(secret), at, randomUUIDv7()],
  );
  return writeToken("pat", { accountId, tokenId, secret });
}

async function addAccount(db: Db, at: number): Promise<{ accountId: string; apiKey: string }> {
  const accountId = randomUUIDv7() as Uuid;
  await db.query(`insert into accounts (id, name, key_check, created_at) values ($1, 'other', '', $2)`, [
    accountId,
    at,
  ]);
  await db.query(
    `insert into organizations (account_id, id, identifier, name, description, tags, version, created_at, updated_at) values ($1, $2, 'default', 'Default', '', '{}', 1, $3, $3)`,
    [accountId, randomUUIDv7(), at],
  );
  await db.query(
    `insert into secret_managers (account_id, id, identifier, name, kind, version, created_at, updated_at) values ($1, $1, 'platformSecretManager', 'Platform Secrets Manager', 'platform', 1, $2, $2)`,
    [accountId, at],
  );
  await db.query(
    `insert into secret_manager_scopes (account_id, manager_id, nth, environments) values ($1, $1, 0, 'PRODUCTION_ENVIRONMENTS'), ($1, $1, 1, 'NON_PRODUCTION_ENVIRONMENTS')`,
    [accountId],
  );
  return { accountId: toWire(accountId), apiKey: await addUser(db, { accountId, role: "_account_admin", at }) };
}
