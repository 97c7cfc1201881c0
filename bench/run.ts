/**
 * `npm run bench` measures everything; `npm run bench -- latency sequence` some of it. Real programs on
 * loopback, data in temporary folders, every load bounded: it stops by itself, and after fifteen minutes in any case.
 * Writes bench/results/<name>.json. Never part of the tests: the figures are for people to judge.
 *
 * `npm run bench -- --brief` is part of CI: each benchmark from end to end, as small as it runs. It shows and writes no figure, judges
 * nothing, and fails when a benchmark throws or when what it computes is not a number.
 */
import { setMaxListeners } from "node:events";
import { inspect, styleText } from "node:util";
import { BENCHES } from "./runner/benchmarks.ts";
import { inParallel } from "./load/children.ts";
import { measure } from "./runner/measure.ts";
import { machineFacts, table, writeResult } from "./runner/report.ts";
import type { Size } from "./runner/result.ts";

const LIMIT_MS: Readonly<Record<Size, number>> = { whole: 15 * 60_000, brief: 5 * 60_000 };

type Name = keyof typeof BENCHES;
const isName = (word: string): word is Name => Object.hasOwn(BENCHES, word);

async function main(args: readonly string[]): Promise<number> {
  const order = readOrder(args);
  if (typeof order === "string") {
    process.stderr.write(`${order}\n`);
    return 2;
  }
  const { names, size } = order;
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.once(name, () => stop.abort(new Error(`stopped by ${name}`)));
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(LIMIT_MS[size])]);
  // Every request under way listens to it.
  setMaxListeners(0, signal);
  await (size === "brief" ? tryAll(names, signal) : measureAll(names, signal));
  return 0;
}

/** What to start, or a sentence that says why nothing is started. */
function readOrder(args: readonly string[]): { readonly names: readonly Name[]; readonly size: Size } | string {
  const flags = args.filter((arg) => arg.startsWith("-"));
  const words = args.filter((arg) => !arg.startsWith("-"));
  const all = Object.keys(BENCHES).filter(isName);
  const unknownFlag = flags.find((flag) => flag !== "--brief");
  if (unknownFlag !== undefined) return `There is no option '${unknownFlag}'; there is --brief.`;
  const unknown = words.find((word) => !isName(word));
  if (unknown !== undefined) return `There is no benchmark '${unknown}'; there are ${all.join(", ")}.`;
  return { names: words.length === 0 ? all : words.filter(isName), size: flags.length > 0 ? "brief" : "whole" };
}

async function measureAll(names: readonly Name[], signal: AbortSignal): Promise<void> {
  const { cores, processor, memoryGiB, node, loadAverage } = machineFacts();
  line(`${cores} cores of ${processor}, ${memoryGiB} GiB, Node ${node}, load average ${loadAverage.join(" ")}`);
  for (const name of names) {
    const at = new Date();
    const machine = machineFacts();
    const result = await measure(name, BENCHES[name], signal, (text) => note(`${name}: ${text}`), "whole");
    note("");
    writeResult(name, machine, at, result);
    line();
    line(table(name, result));
  }
}

/** Nothing is timed, so two at a time. The longest come last in the table and begin here; all are tried, whichever fail. */
async function tryAll(names: readonly Name[], signal: AbortSignal): Promise<void> {
  const failures: unknown[] = [];
  const waiting = names.toReversed();
  await inParallel(waiting.length, 2, async (nth) => {
    const name = waiting[nth];
    if (name === undefined || signal.aborted) return;
    const from = performance.now();
    try {
      const { figures } = await measure(name, BENCHES[name], signal, () => undefined, "brief");
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
/** Progress, on a line of its own that the next one replaces; nothing in a file. */
const note = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${styleText("dim", text)}`);
};

await main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`\n${inspect(error, { depth: 5 })}\n`);
    process.exit(1);
  },
);
