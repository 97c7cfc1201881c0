/**
 * `npm run bench` runs all benchmarks, `npm run bench -- latency sequence` runs these two. The programs are real, the
 * data is in temporary folders, and every load is bounded; it ends after at most thirty minutes. It writes
 * bench/results/<name>.json. It is not part of the tests: no test fails because of a figure.
 *
 * `npm run bench -- --brief` is part of CI. It runs each benchmark at its smallest size, without showing, writing or
 * comparing figures. It fails if a benchmark throws or computes a value that is not a finite number.
 */
import { setMaxListeners } from "node:events";
import { inspect, styleText } from "node:util";
import { BENCHMARKS } from "./runner/benchmarks.ts";
import { inParallel } from "./load/children.ts";
import { measure } from "./runner/measure.ts";
import { machineFacts, table, writeResult } from "./runner/report.ts";
import type { Size } from "./runner/result.ts";

const LIMIT_MS: Readonly<Record<Size, number>> = { whole: 30 * 60_000, brief: 5 * 60_000 };

type Name = keyof typeof BENCHMARKS;
const isName = (word: string): word is Name => Object.hasOwn(BENCHMARKS, word);

async function main(args: readonly string[]): Promise<number> {
  const options = readArguments(args);
  if (typeof options === "string") {
    process.stderr.write(`${options}\n`);
    return 2;
  }
  const { names, size } = options;
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.once(name, () => stop.abort(new Error(`stopped by ${name}`)));
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(LIMIT_MS[size])]);
  // Each active request adds a listener.
  setMaxListeners(0, signal);
  await (size === "brief" ? tryAll(names, signal) : measureAll(names, signal));
  return 0;
}

/** Returns the benchmarks and the size, or a message if the arguments are wrong. */
function readArguments(args: readonly string[]): { readonly names: readonly Name[]; readonly size: Size } | string {
  const flags = args.filter((arg) => arg.startsWith("-"));
  const words = args.filter((arg) => !arg.startsWith("-"));
  const all = Object.keys(BENCHMARKS).filter(isName);
  const unknownFlag = flags.find((flag) => flag !== "--brief");
  if (unknownFlag !== undefined) return `Option '${unknownFlag}' does not exist. Use --brief or no option.`;
  const unknown = words.find((word) => !isName(word));
  if (unknown !== undefined) return `Benchmark '${unknown}' does not exist. Use one of ${all.join(", ")}.`;
  return { names: words.length === 0 ? all : words.filter(isName), size: flags.length > 0 ? "brief" : "whole" };
}

async function measureAll(names: readonly Name[], signal: AbortSignal): Promise<void> {
  const { cores, processor, memoryGiB, node, loadAverage } = machineFacts();
  line(`${cores} cores of ${processor}, ${memoryGiB} GiB, Node ${node}, load average ${loadAverage.join(" ")}`);
  for (const name of names) {
    const at = new Date();
    const machine = machineFacts();
    const result = await measure(name, BENCHMARKS[name], signal, (text) => showProgress(`${name}: ${text}`), "whole");
    showProgress("");
    writeResult(name, machine, at, result);
    line();
    line(table(name, result));
  }
}

/**
 * Runs two at a time, because times do not matter here. It starts with the longest, which are last in the table. A
 * failure does not stop the others.
 */
async function tryAll(names: readonly Name[], signal: AbortSignal): Promise<void> {
  const failures: unknown[] = [];
  const pending = names.toReversed();
  await inParallel(pending.length, 2, async (nth) => {
    const name = pending[nth];
    if (name === undefined || signal.aborted) return;
    const from = performance.now();
    try {
      const { figures } = await measure(name, BENCHMARKS[name], signal, () => undefined, "brief");
      line(`${name}: ${figures.length} figures, in ${((performance.now() - from) / 1_000).toFixed(1)} s`);
    } catch (error) {
      line(`${name}: failed`);
      failures.push(error);
    }
  });
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${names.length} failed`);
  signal.throwIfAborted();
}

const line = (text = ""): void => void process.stdout.write(`${text}\n`);
/** Shows progress on one line that each call replaces; only on a terminal. */
const showProgress = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${styleText("dim", text)}`);
};

await main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`\n${inspect(error, { depth: 5 })}\n`);
    process.exit(1);
  },
);
