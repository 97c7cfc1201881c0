/**
 * The platform as operators start it: the process `railhead server` on a free port. Its temporary folder also contains
 * the work folder of its delegate and a folder in which steps and tests exchange files. As root, the database and
 * steps run as other users.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { BootstrapFacts } from "../../../src/platform/config/bootstrap.ts";
import { baseFolder } from "../../../delegate/testing/base-folder.ts";
import { runProgram, startProgram, type Ended, type Program } from "./program.ts";
import { until } from "../until.ts";

export type ServerFolder = {
  readonly path: string;
  readonly dataDir: string;
  readonly delegateDir: string;
  /** Steps of every user may write here. */
  readonly exchange: string;
  /** Kills every process whose working directory is in the folder, then removes the folder. */
  readonly remove: () => Promise<void>;
};

export async function createServerFolder(): Promise<ServerFolder> {
  const path = await mkdtemp(join(baseFolder(), "rh-scenario-"));
  await chmod(path, 0o711);
  const exchange = join(path, "exchange");
  await mkdir(exchange);
  await chmod(exchange, 0o777);
  const remove = async (): Promise<void> => {
    await until(
      () => processesIn(path).map(({ pid }) => killed(pid)),
      (left) => left.length === 0,
    );
    await rm(path, { recursive: true, force: true });
  };
  return { path, dataDir: join(path, "data"), delegateDir: join(path, "delegate"), exchange, remove };
}

export type ServerProcess = Program & {
  /** The server's address. */
  readonly url: string;
  readonly kill: () => Promise<Ended>;
};

type Env = Readonly<Record<string, string | undefined>>;

const environment = (folder: ServerFolder, env: Env): Env => ({
  PORT: "0",
  RAILHEAD_DATA_DIR: folder.dataDir,
  RAILHEAD_DELEGATE_DIR: folder.delegateDir,
  // Building the pages would take time of the test.
  RAILHEAD_WEB_UI: "off",
  ...env,
});

/**
 * Starts a server. Resolves once it is ready and its local delegate, if it has one, is connected. `by`: shell words
 * before the command.
 */
export async function startServer(folder: ServerFolder, env: Env = {}, by?: string): Promise<ServerProcess> {
  const program = startProgram({ args: ["server"], env: environment(folder, env), cwd: folder.path, by });
  try {
    await program.waitForOutput(/^Railhead is ready\.$/m);
    // The log has the real address: RAILHEAD_PUBLIC_URL may name another one, and a second data directory on one
    // database has no bootstrap.json.
    const [, host = "", port = ""] = await program.waitForOutput(/"host":"([^"]+)","port":(\d+)/);
    if (env["RAILHEAD_LOCAL_DELEGATE"] !== "off") await program.waitForOutput(/"msg":"delegate connected"/);
    return { ...program, url: `http://${host}:${port}`, kill: () => program.end("SIGKILL") };
  } catch (error) {
    await program.end("SIGKILL");
    throw error;
  }
}

/** Runs a server that refuses to start. */
export const runServer = (folder: ServerFolder, env: Env = {}): ReturnType<typeof runProgram> =>
  runProgram({ args: ["server"], env: environment(folder, env), cwd: folder.path });

export const readFacts = async ({ dataDir }: ServerFolder): Promise<BootstrapFacts> =>
  JSON.parse(await readFile(join(dataDir, "bootstrap.json"), "utf8")) as BootstrapFacts;

export type FoundProcess = { readonly pid: number; readonly command: string; readonly cwd: string };

/** Returns the processes whose working directory is in the folder: server, delegate, database and steps. */
export function processesIn(folder: string): readonly FoundProcess[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const cwd = readlinkSync(`/proc/${name}/cwd`).replace(/ \(deleted\)$/, "");
      if (cwd !== folder && !cwd.startsWith(`${folder}/`)) return [];
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      // A zombie has no command line.
      return command === "" ? [] : [{ pid: Number(name), command, cwd }];
    } catch {
      return []; // the process has ended, or belongs to another user
    }
  });
}

function killed(pid: number): number {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended already.
  }
  return pid;
}

/** Creates an empty file to which steps of every user may append. */
export function createNotes({ exchange }: ServerFolder, name: string): string {
  const path = join(exchange, name);
  writeFileSync(path, "");
  chmodSync(path, 0o666);
  return path;
}

/** A named pipe at which scripts wait (`read -r word < path`). Each `open` lets one of them continue. */
export type Barrier = { readonly path: string; readonly open: (word?: string) => void; readonly close: () => void };

export function createBarrier(folder: ServerFolder): Barrier {
  const path = join(folder.exchange, `barrier-${randomBytes(4).toString("hex")}`);
  execFileSync("/bin/sh", ["-c", 'mkfifo -m 666 "$0"', path]);
  // Open for reading and writing, so that the test does not wait for a script to open the other end.
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  return { path, open: (word = "go") => void writeSync(pipe, `${word}\n`), close: () => closeSync(pipe) };
}
