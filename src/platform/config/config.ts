/**
 * Reads the configuration from the environment. All wrong values are reported together, each with the expected form.
 */
import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";
import { readOidc, type OidcConfig } from "./oidc.ts";
import { parseAllowedTarget } from "../outgoing/reach.ts";
import { parseNetwork } from "../http/client-address.ts";
import { ConfigError } from "./config-error.ts";
import { readKeySources, readSecretCommands, type KeySources } from "./root-keys.ts";

export { ConfigError } from "./config-error.ts";
export { loadRootKeys } from "./root-keys.ts";

/** The checked environment variables, with defaults. */
export type Config = KeySources & {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** The URL of the server for users; undefined means the address it listens on. */
  readonly publicUrl: string | undefined;
  readonly dataDir: string;
  /** The URL of an external PostgreSQL; undefined means the embedded one. */
  readonly databaseUrl: string | undefined;
  /** Connections to the database at most, besides the one that listens; half of them are for intake at most. */
  readonly databaseConnections: number;
  readonly localDelegate: boolean;
  readonly webUi: boolean;
  /** The local delegate's work folder; undefined lets the server choose. */
  readonly delegateDir: string | undefined;
  /** PATH of the local delegate's steps; undefined lets the delegate choose. */
  readonly stepPath: string | undefined;
  /**
   * The file with the keys of the hosts that the local delegate's steps may run on; undefined: the first key that a
   * host shows is believed.
   */
  readonly knownHosts: string | undefined;
  /** Bytes of an uploaded secret file at most. */
  readonly maxSecretFile: number;
  /** How long people stay signed in: without a request, and altogether. */
  readonly sessions: { readonly idleMs: number; readonly mostMs: number };
  /** Single sign-on; undefined without it. */
  readonly oidc: OidcConfig | undefined;
  /** What the server itself may connect to besides public addresses: networks, or `host:port`. */
  readonly allowPrivateAddresses: readonly string[];
  /** Networks of the proxies in front of the server, whose X-Forwarded-For names the client's address. */
  readonly trustedProxies: readonly string[];
  /** Programs that secret managers may ask, by name. */
  readonly secretCommands: ReadonlyMap<string, readonly string[]>;
  readonly logLevel: "trace" | "debug" | "info" | "warn" | "error";
};

type Env = Readonly<Record<string, string | undefined>>;
const LOG_LEVELS = ["trace", "debug", "info", "warn", "error"] as const;

/**
 * Reads the environment; throws ConfigError with one line per wrong value. Values are never repeated for keys and URLs
 * that may hold secrets.
 */
export function readConfig(env: Env, cwd: string): Config {
  const faults: string[] = [];
  const dataDir = resolve(cwd, env["RAILHEAD_DATA_DIR"] || ".railhead");
  const config: Config = {
    host: env["HOST"] || "127.0.0.1",
    port: readPort(env["PORT"], faults),
    publicUrl: readPublicUrl(env["RAILHEAD_PUBLIC_URL"], faults),
    dataDir,
    databaseUrl: readDatabaseUrl(env["DATABASE_URL"], faults),
    databaseConnections: readConnections(env["RAILHEAD_DATABASE_CONNECTIONS"], faults),
    ...readKeySources(env, { cwd, dataDir }, faults),
    localDelegate: readSwitch("RAILHEAD_LOCAL_DELEGATE", env, faults),
    webUi: readSwitch("RAILHEAD_WEB_UI", env, faults),
    delegateDir: env["RAILHEAD_DELEGATE_DIR"] ? resolve(cwd, env["RAILHEAD_DELEGATE_DIR"]) : undefined,
    stepPath: readStepPath(env["RAILHEAD_STEP_PATH"], faults),
    knownHosts: readKnownHosts(env["RAILHEAD_KNOWN_HOSTS"], cwd, faults),
    maxSecretFile: readMaxSecretFile(env["RAILHEAD_MAX_SECRET_FILE"], faults),
    sessions: readSessions(env, faults),
    oidc: readOidc(env, cwd, faults),
    allowPrivateAddresses: readReach(env, faults),
    trustedProxies: readProxies(env["RAILHEAD_TRUSTED_PROXIES"], faults),
    secretCommands: readSecretCommands(env, faults),
    logLevel: readLogLevel(env["RAILHEAD_LOG_LEVEL"], faults),
  };
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

function readPort(text: string | undefined, faults: string[]): number {
  if (text === undefined || text === "") return 7070;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  faults.push(`PORT is "${text}"; it takes a whole number from 0 (any free port) to 65535.`);
  return 0;
}

function readPublicUrl(text: string | undefined, faults: string[]): string | undefined {
  if (!text) return undefined;
  const url = URL.parse(text);
  if (url && (url.protocol === "http:" || url.protocol === "https:") && !url.search && !url.hash && !url.username) {
    return url.href.replace(/\/+$/, "");
  }
  // A URL with a user may contain a password, which must not appear in messages or logs.
  const is = url?.username ? "names a user" : `is "${text}"`;
  faults.push(`RAILHEAD_PUBLIC_URL ${is}; it takes an http or https address such as https://railhead.example.com.`);
  return undefined;
}

function readDatabaseUrl(text: string | undefined, faults: string[]): string | undefined {
  if (!text) return undefined;
  // A URL with the folder of a socket in the query has no host: `user:password@/database?host=…`.
  const url = URL.parse(text.replace("@/", "@localhost/"));
  if (url && (url.protocol === "postgres:" || url.protocol === "postgresql:")) return text;
  faults.push(
    "DATABASE_URL is not a PostgreSQL address; it takes the form postgres://user:password@host:5432/database.",
  );
  return undefined;
}

/** The embedded database accepts 100 connections in total, including those of commands and psql. */
const CONNECTIONS = { fewest: 4, usual: 10, most: 90 };

function readConnections(text: string | undefined, faults: string[]): number {
  if (!text) return CONNECTIONS.usual;
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= CONNECTIONS.fewest && count <= CONNECTIONS.most) return count;
  faults.push(
    `RAILHEAD_DATABASE_CONNECTIONS is "${text}"; it takes a whole number from ${CONNECTIONS.fewest} to ${CONNECTIONS.most}.`,
  );
  return CONNECTIONS.usual;
}

function readSwitch(name: string, env: Env, faults: string[]): boolean {
  const text = env[name];
  if (!text || text === "on") return true;
  if (text !== "off") faults.push(`${name} is "${text}"; it takes on or off.`);
  return false;
}

function readStepPath(text: string | undefined, faults: string[]): string | undefined {
  if (!text) return undefined;
  if (text.split(":").some((folder) => !folder.startsWith("/") || /\p{Cc}/u.test(folder)))
    faults.push(`RAILHEAD_STEP_PATH is "${text}"; it takes absolute folders with colons between them.`);
  return text;
}

/** Checks the file at the start, because a wrong path would otherwise appear only in failed steps. */
function readKnownHosts(text: string | undefined, cwd: string, faults: string[]): string | undefined {
  if (!text) return undefined;
  const path = resolve(cwd, text);
  try {
    accessSync(path, constants.R_OK);
    if (!statSync(path).isFile()) faults.push(`RAILHEAD_KNOWN_HOSTS names ${path}, which is no file.`);
  } catch (error) {
    faults.push(`RAILHEAD_KNOWN_HOSTS names a file that cannot be read: ${(error as Error).message}.`);
  }
  return path;
}

/** 10 MiB: room for the largest key stores, and several of them in memory at once. */
export const DEFAULT_MAX_SECRET_FILE = 10 * 1024 * 1024;
const LARGEST_SECRET_FILE = 100 * 1024 * 1024;

function readMaxSecretFile(text: string | undefined, faults: string[]): number {
  if (!text) return DEFAULT_MAX_SECRET_FILE;
  const bytes = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (bytes >= 1 && bytes <= LARGEST_SECRET_FILE) return bytes;
  faults.push(`RAILHEAD_MAX_SECRET_FILE is "${text}"; it takes a number of bytes from 1 to ${LARGEST_SECRET_FILE}.`);
  return DEFAULT_MAX_SECRET_FILE;
}

const MINUTE_MS = 60_000;

function readSessions(env: Env, faults: string[]): Config["sessions"] {
  const read = (name: string, fallback: number, most: number): number => {
    const text = env[name] || String(fallback);
    const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
    if (count >= 1 && count <= most) return count;
    faults.push(`${name} is "${text}"; it takes a whole number from 1 to ${most}.`);
    return fallback;
  };
  return {
    idleMs: read("RAILHEAD_SESSION_IDLE_MINUTES", 12 * 60, 30 * 24 * 60) * MINUTE_MS,
    mostMs: read("RAILHEAD_SESSION_HOURS", 7 * 24, 90 * 24) * 60 * MINUTE_MS,
  };
}

function readReach(env: Env, faults: string[]): readonly string[] {
  if (env["RAILHEAD_SERVER_MAY_REACH"])
    faults.push("RAILHEAD_SERVER_MAY_REACH is called RAILHEAD_ALLOW_PRIVATE_ADDRESSES now; its value stays as it is.");
  const parts = (env["RAILHEAD_ALLOW_PRIVATE_ADDRESSES"] ?? "").split(/[\s,]+/).filter((part) => part !== "");
  for (const part of parts)
    if (!parseAllowedTarget(part))
      faults.push(
        `RAILHEAD_ALLOW_PRIVATE_ADDRESSES has "${part}"; it takes networks (10.1.0.0/16), addresses and host:port, separated by commas.`,
      );
  return parts;
}

function readProxies(text: string | undefined, faults: string[]): readonly string[] {
  const parts = (text ?? "").split(/[\s,]+/).filter((part) => part !== "");
  for (const part of parts)
    if (!parseNetwork(part))
      faults.push(
        `RAILHEAD_TRUSTED_PROXIES has "${part}"; it takes addresses and networks (10.1.0.0/16, fd00::/8), separated by commas, and never all addresses.`,
      );
  return parts;
}

function readLogLevel(text: string | undefined, faults: string[]): Config["logLevel"] {
  const level = LOG_LEVELS.find((known) => known === (text || "info"));
  if (!level) faults.push(`RAILHEAD_LOG_LEVEL is "${text}"; it takes one of ${LOG_LEVELS.join(", ")}.`);
  return level ?? "info";
}
