/** The folder of a run, and what a run that was killed has left in its own. */
import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as rest } from "node:timers/promises";
import { processInfo } from "../../delegate/processes/processes.ts";
import { baseFolder } from "../../delegate/testing/base-folder.ts";
import { processesIn } from "../support/server-process.ts";
import { SMALL_DISK } from "./names.ts";

const PREFIX = "railhead-chaos-";
/** Names the process whose folder it is; a folder that is kept on purpose has none. */
const OWNER = "owner";
const ENDING_MS = 10_000;

export function runFolder(): string {
  const folder = mkdtempSync(join(baseFolder(), PREFIX));
  chmodSync(folder, 0o711);
  writeFileSync(join(folder, OWNER), `${process.pid} ${processInfo(process.pid)?.startTime}`);
  return folder;
}

export const keepRunFolder = (folder: string): void => rmSync(join(folder, OWNER), { force: true });

/** Ends every process that still works in the folder: steps, and programs of a run that was killed. */
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

/** Runs that were killed could not clean up: their programs and folders go with the next run. */
export async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(baseFolder()).filter((it) => it.startsWith(PREFIX))) {
    const folder = join(baseFolder(), name);
    if (lstatSync(folder).uid !== process.geteuid?.() || !isAbandoned(folder)) continue;
    await endProcessesIn(folder);
    try {
      execFileSync("/bin/sh", ["-c", 'umount --lazy "$0"', join(folder, SMALL_DISK)], { stdio: "ignore" });
    } catch {
      // It was not mounted.
    }
    await removeRunFolder(folder);
  }
}

function isAbandoned(folder: string): boolean {
  try {
    const [pid, startTime] = readFileSync(join(folder, OWNER), "utf8").split(" ");
    return processInfo(Number(pid))?.startTime !== startTime;
  } catch {
    return false; // Kept, or removed meanwhile.
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}
