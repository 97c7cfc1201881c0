/** Starts all parts of a run: one database, two servers, three delegates, and a proxy on each connection. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDb } from "../../../src/platform/db/pool/pool.ts";
import { startEmbedded, type Embedded } from "../../../src/platform/db/embedded/embedded.ts";
import { lockDataDir } from "../../../src/platform/db/embedded/files/lock.ts";
import type { Db } from "../../../src/platform/db/db.ts";
import { alterClocks, type AlteredClocks } from "../../support/processes/altered-clocks.ts";
import { silentLog } from "../../support/database.ts";
import { createApi, type Api, type ApiFacts } from "../load/api.ts";
import { createMachine, type Machine } from "./machine.ts";
import {
  CLOCKED_DELEGATE,
  CLOCKED_SERVER,
  DELEGATES,
  LINKS,
  SERVERS,
  SMALL_DISK,
  type DelegateName,
  type LinkName,
  type ProcessName,
  type ServerName,
} from "../names.ts";
import { startProxy, type Proxy } from "./proxy.ts";
import type { PlantName } from "../faults/plants.ts";

/** Number of tasks that a delegate runs at the same time. */
export const SLOTS = 8;
const START_MS = 60_000;
const DISK = "48m";
const READY = /^Railhead is ready\.$/m;
const CONNECTED = /"msg":"connected to the server"/;
const DATABASE = "chaos";

export type World = {
  readonly folder: string;
  /** Steps of every user may write here. */
  readonly exchange: string;
  readonly database: Embedded;
  /** A connection without a proxy. */
  readonly db: Db;
  readonly machines: ReadonlyMap<ProcessName, Machine>;
  readonly links: ReadonlyMap<LinkName, Proxy>;
  /** A client of this server through its proxy, or without it if `direct`. */
  readonly api: (server: ServerName, direct?: boolean) => Api;
  /** Clocks of the processes whose clocks jump. */
  readonly clocks: ReadonlyMap<ProcessName, AlteredClocks>;
  readonly workDir: (name: DelegateName) => string;
  readonly delegateToken: string;
  /** Whether SMALL_DISK has a separate file system. */
  readonly hasSmallDisk: boolean;
  readonly stopMachines: () => Promise<void>;
};

export type WorldOptions = {
  readonly folder: string;
  readonly plant: PlantName | undefined;
  readonly onStop: (undo: () => Promise<void> | void) => void;
  readonly signal: AbortSignal;
};

/** Registers the cleanup of each started part with `onStop`, also if a later part cannot start. */
export async function startWorld({ folder, plant, onStop, signal }: WorldOptions): Promise<World> {
  const exchange = join(folder, "exchange");
  mkdirSync(exchange);
  chmodSync(exchange, 0o777);

  const lock = await lockDataDir(join(folder, "database"));
  onStop(() => lock.release());
  // Faults kill processes, not the machine: data that PostgreSQL has passed to the kernel is not lost.
  const database = await startEmbedded({ lock, log: silentLog, settings: { fsync: "off" } });
  onStop(() => database.stop());
  signal.throwIfAborted();
  const connection = { ...database.connection, database: DATABASE };
  await createDatabase(database);
  const db = openDb({
    connection,
    max: 4,
    connectTimeout: 3_000,
    statementTimeout: 20_000,
    log: silentLog,
    onError: () => {},
  });
  onStop(() => db.close());

  const machines = new Map<ProcessName, Machine>();
  const portOf = (name: ServerName): number =>
    Number(machines.get(name)?.matchOutput(/"host":"[^"]+","port":(\d+)/)?.[1] ?? 0);
  const serverPorts = (names: readonly ServerName[]) => () =>
    names.map((name) => ({ host: "127.0.0.1", port: portOf(name) }));
  const socket = { path: join(database.connection.host, `.s.PGSQL.${database.connection.port}`) };
  const links = new Map<LinkName, Proxy>();
  for (const [n, name] of LINKS.entries()) {
    const server = SERVERS.find((one) => name.startsWith(one));
    const targets = name.endsWith(" database") ? () => [socket] : serverPorts(server ? [server] : SERVERS);
    const proxy = await startProxy(targets, n);
    links.set(name, proxy);
    onStop(() => proxy.close());
  }
  const portAt = (name: LinkName): number => links.get(name)?.port ?? 0;

  const clocks = new Map<ProcessName, AlteredClocks>(
    ([CLOCKED_SERVER, CLOCKED_DELEGATE] as const).map((name) => [name, alterClocks(join(folder, `${name}.clock`))]),
  );
  const preloads = (name: ProcessName): Record<string, string | undefined> => {
    const env = clocks.get(name)?.env ?? {};
    const hook = `--import=${new URL("../faults/plant-hook.ts", import.meta.url).href}`;
    return plant ? { ...env, CHAOS_PLANT: plant, NODE_OPTIONS: [env["NODE_OPTIONS"], hook].join(" ") } : env;
  };

  const rootKey = randomBytes(32).toString("base64");
  const stopMachines = async (): Promise<void> => {
    await Promise.all([...machines.values()].map((machine) => machine.end("SIGTERM")));
  };
  onStop(() => Promise.all([...machines.values()].map((machine) => machine.end("SIGKILL"))).then(() => undefined));
  for (const name of SERVERS) {
    const { user, password } = database.connection;
    const url = `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${portAt(`${name} database`)}/${DATABASE}`;
    const env = {
      ...preloads(name),
      PORT: "0",
      DATABASE_URL: url,
      RAILHEAD_ROOT_KEY: rootKey,
      RAILHEAD_LOCAL_DELEGATE: "off",
      RAILHEAD_WEB_UI: "off",
      RAILHEAD_DATA_DIR: join(folder, name),
    };
    const machine = createMachine({ name, args: ["server"], env, cwd: folder, log: join(folder, `${name}.log`) });
    machines.set(name, machine);
    machine.start();
    await machine.waitForOutput(READY, START_MS);
    signal.throwIfAborted();
  }

  const facts = JSON.parse(readFileSync(join(folder, SERVERS[0], "bootstrap.json"), "utf8")) as ApiFacts;
  const api: World["api"] = (server, direct = false) =>
    createApi({ ...facts, baseUrl: `http://127.0.0.1:${direct ? portOf(server) : portAt(`${server} clients`)}` });
  const delegateToken = await api(SERVERS[0]).createDelegateToken("chaos");
  const workDir = (name: DelegateName): string => join(folder, name);
  const hasSmallDisk = mountDisk(workDir(SMALL_DISK), onStop);
  writeFileSync(join(folder, "delegate-token"), delegateToken, { mode: 0o600 });
  for (const name of DELEGATES) {
    const url = `http://127.0.0.1:${portAt(`${name} link`)}`;
    const options = ["--url", url, "--token-file", join(folder, "delegate-token"), "--name", name];
    const args = ["delegate", ...options, "--work-dir", workDir(name), "--slots", String(SLOTS), "--tag", "chaos"];
    const machine = createMachine({ name, args, env: preloads(name), cwd: folder, log: join(folder, `${name}.log`) });
    machines.set(name, machine);
    machine.start();
    await machine.waitForOutput(CONNECTED, START_MS);
    signal.throwIfAborted();
  }
  const base = { folder, exchange, database, db, machines, links, api, clocks, workDir, delegateToken };
  return { ...base, hasSmallDisk, stopMachines };
}

async function createDatabase({ connection }: Embedded): Promise<void> {
  const admin = openDb({ connection, max: 1, log: silentLog, onError: () => {} });
  await admin.query(`create database ${DATABASE}`);
  await admin.close();
}

/** Mounts a small file system in memory, so that filling it takes no other space. Needs root. */
function mountDisk(path: string, onStop: WorldOptions["onStop"]): boolean {
  mkdirSync(path, { mode: 0o711 });
  try {
    shell(`mount -t tmpfs -o size=${DISK},mode=711 tmpfs "$0"`, path);
  } catch {
    return false;
  }
  onStop(() => shell('umount --lazy "$0"', path));
  return true;
}

const shell = (script: string, path: string): void =>
  void execFileSync("/bin/sh", ["-c", script, path], { stdio: "ignore" });
