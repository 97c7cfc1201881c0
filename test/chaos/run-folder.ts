/** The folder of a run, and the removal of folders of killed runs. */
import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as rest } from "node:timers/promises";
import { processInfo } from "../../delegate/processes/processes.ts";
import { baseFolder } from "../../delegate/testing/base-folder.ts";
import { processesIn } from "../support/processes/server-process.ts";
import { SMALL_DISK } from "./names.ts";

const PREFIX = "railhead-chaos-";
/** File with the id of the process that owns the folder. A folder kept on purpose has none. */
const OWNER = "owner";
const ENDING_MS = 10_000;

export function runFolder(): string {
  const folder = mkdtempSync(join(baseFolder(), PREFIX));
  chmodSync(folder, 0o711);
  writeFileSync(join(folder, OWNER), `${process.pid} ${processInfo(process.pid)?.startTime}`);
  return folder;
}

export const keepRunFolder = (folder: string): void => rmSync(join(folder, OWNER), { force: true });

/** Kills every process whose working directory is in the folder: steps, and programs of a killed run. */
export async function endProcessesIn(folder: string): Promise<void> {
  for (const end = performance.now() + ENDING_MS; performance.now() < end; await rest(50)) {
    const left = processesIn(folder);
    if (left.length === 0) return;
    for (const { pid } of left) kill(pid);
  }
}

export async function removeRunFolder(folder: string): Promise<void> {
  await endProcessesIn(folder);
  rmSync(folder, { recursive: true, force: true });
}

/** Removes programs and folders of runs that were killed before they could clean up. */
export async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(baseFolder()).filter((it) => it.startsWith(PREFIX))) {
    const folder = join(baseFolder(), name);
    if (lstatSync(folder).uid !== process.geteuid?.() || !isAbandoned(folder)) continue;
    await endProcessesIn(folder);
    try {
      execFileSync("/bin/sh", ["-c", 'umount --lazy "$0"', join(folder, SMALL_DISK)], { stdio: "ignore" });
    } catch {
      // Nothing was mounted.
    }
    await removeRunFolder(folder);
  }
}

function isAbandoned(folder: string): boolean {
  try {
    const [pid, startTime] = readFileSync(join(folder, OWNER), "utf8").split(" ");
    return processInfo(Number(pid))?.startTime !== startTime;
  } catch {
    return false; // The folder was kept, or has been removed.
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended.
  }
}
