/** Runs a program as the database's user, such as `initdb`, and collects its output. */
import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import type { Account } from "../account.ts";

/** PostgreSQL does not inherit the environment, which contains keys and addresses. */
const ENVIRONMENT = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };

/** Starts programs as the database's user. `cwd` must be a directory that this user can enter. */
export function spawnOptionsFor(account: Account, cwd: string): SpawnOptions {
  return {
    cwd,
    env: ENVIRONMENT,
    ...(account.dropped ? { uid: account.uid, gid: account.gid } : {}),
  };
}

export type Outcome = { readonly code: number | null; readonly output: string };

const OUTPUT_AT_MOST = 16_384;

type Program = {
  readonly file: string;
  readonly args: readonly string[];
  /** Written to its standard input. */
  readonly input?: string;
};

/** Runs a program to its end. Rejects only when it cannot be started. */
export async function runProgram({ file, args, input = "" }: Program, options: SpawnOptions): Promise<Outcome> {
  const child = spawn(file, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
  const lines = collect(child);
  child.stdin.on("error", () => {}); // it may end without reading
  child.stdin.end(input);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output: lines() };
}

function collect(child: ChildProcess): () => string {
  let output = "";
  const add = (chunk: Buffer): void => {
    output = (output + chunk.toString("utf8")).slice(-OUTPUT_AT_MOST);
  };
  child.stdout?.on("data", add);
  child.stderr?.on("data", add);
  return () => output.trim();
}
