import { execFile } from "node:child_process";
import { readdir, readlink } from "node:fs/promises";
import { basename } from "node:path";
import { promisify } from "node:util";

/** The pids of all PostgreSQL processes with the working directory `cluster`. */
export async function postgresIn(cluster: string): Promise<readonly number[]> {
  return process.platform === "linux" ? fromProc(cluster) : fromLsof(cluster);
}

async function fromProc(cluster: string): Promise<readonly number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map(async (pid) => ((await isPostgresIn(pid, cluster)) ? [Number(pid)] : [])));
  return found.flat();
}

/** Compares program and directory, because the system reuses pids. A shell in that directory does not count. */
async function isPostgresIn(pid: string, cluster: string): Promise<boolean> {
  try {
    if ((await readlink(`/proc/${pid}/cwd`)) !== cluster) return false;
    const program = await readlink(`/proc/${pid}/exe`);
    // The kernel adds this suffix when the file was removed, as after an upgrade.
    return basename(program.replace(/ \(deleted\)$/, "")) === "postgres";
  } catch {
    return false; // ended meanwhile, or of another user
  }
}

/** macOS has no /proc but includes lsof. Its output: p<pid>, then n<working directory>. */
async function fromLsof(cluster: string): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)("lsof", ["-a", "-c", "postgres", "-d", "cwd", "-Fpn"]).catch(() => ({
    stdout: "",
  }));
  const found: number[] = [];
  let pid = 0;
  for (const line of stdout.split("\n")) {
    if (line.startsWith("p")) pid = Number(line.slice(1));
    else if (line === `n${cluster}`) found.push(pid);
  }
  return found;
}

/** Sends a signal; ignores a process that has ended already. */
export function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
