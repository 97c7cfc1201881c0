/** `npm run chaos`: reads the options, runs, reports, and cleans up, also after Ctrl-C. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readOptions, USAGE, type ChaosOptions } from "./options.ts";
import { PLANTS, type PlantName } from "./faults/plants.ts";
import { reportOf } from "./report.ts";
import { endProcessesIn, keepRunFolder, runFolder, removeLeftovers, removeRunFolder } from "./run-folder.ts";
import { runChaos, type Result } from "./run.ts";

/** Number of violations shown for each check; report.txt in the folder has all of them. */
const SHOWN = 4;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Returns the exit code: 0 no violations, 1 violations or a failed run, 2 wrong options, 130 interrupted. */
export async function main(args: readonly string[]): Promise<number> {
  let options: ChaosOptions;
  try {
    options = readOptions(args, Math.random);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    return 2;
  }
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => stop.abort(new Error(name)));
  // An error of this program ends the run in order, too, so that no process stays.
  for (const name of ["uncaughtException", "unhandledRejection"] as const)
    process.on(name, (error: unknown) => {
      say(`The chaos program failed: ${error instanceof Error ? error.stack : String(error)}`);
      stop.abort(error);
    });
  await removeLeftovers();
  const code = options.plants ? await provePlants(options, stop.signal) : await runOnce(options, stop.signal);
  return stop.signal.aborted ? 130 : code;
}

async function runOnce(options: ChaosOptions, signal: AbortSignal): Promise<number> {
  const { seed, seconds, rate, plant } = options;
  say(`chaos: seed ${seed}, ${seconds} s of faults, ${rate} requests a second${plant ? `, planted: ${plant}` : ""}`);
  const { result, folder } = await inFolder(options, signal, ({ violations }) => violations.length > 0);
  if (!result) return 1;
  process.stdout.write(`\n${reportOf(result, SHOWN)}`);
  if (result.violations.length === 0) return 0;
  const again = plant ? `--plant ${plant}` : `--minutes ${seconds / 60}`;
  say(`Everything is kept in ${folder}. Again: npm run chaos -- --seed ${seed} ${again} --rate ${rate}`);
  return 1;
}

/** Runs each planted fault. The checker must find each one by its intended check. */
async function provePlants(options: ChaosOptions, signal: AbortSignal): Promise<number> {
  let missed = 0;
  for (const plant of Object.keys(PLANTS) as PlantName[]) {
    if (signal.aborted) break;
    const planted = { ...options, plant, seconds: PLANTS[plant].seconds };
    say(`\nchaos: planted: ${plant}, seed ${options.seed}`);
    const { result } = await inFolder(planted, signal, () => false);
    for (const { module, foundBy } of PLANTS[plant].changes) {
      const found = result?.violations.find(({ check }) => check === foundBy);
      if (!found) missed += 1;
      say(found ? `found: ${found.of}: ${found.seen}` : `NOT FOUND by the check '${foundBy}': the change of ${module}`);
    }
  }
  return missed === 0 ? 0 : 1;
}

/** Runs in a new folder, which is removed unless `isKept`. */
async function inFolder(
  options: ChaosOptions,
  signal: AbortSignal,
  isKept: (result: Result) => boolean,
): Promise<{ readonly result: Result | undefined; readonly folder: string }> {
  const folder = runFolder();
  const undo: (() => Promise<void> | void)[] = [];
  let result: Result | undefined;
  try {
    result = await runChaos({ ...options, folder, signal, say, onStop: (one) => undo.push(one) });
    writeFileSync(join(folder, "report.txt"), reportOf(result, Number.POSITIVE_INFINITY));
  } catch (error) {
    if (!signal.aborted) say(`The run failed: ${error instanceof Error ? error.stack : String(error)}`);
  } finally {
    for (let next = undo.pop(); next; next = undo.pop())
      await Promise.resolve(next()).catch((error: unknown) => say(`Cleaning up failed: ${String(error)}`));
    await endProcessesIn(folder);
  }
  if (signal.aborted || (result && !isKept(result))) await removeRunFolder(folder);
  else keepRunFolder(folder);
  if (!result && !signal.aborted) say(`Everything is kept in ${folder}.`);
  return { result, folder };
}
