/**
 * `npm run bench` measures everything; `npm run bench -- latency sequence` some of it. Real programs on
 * loopback, data in temporary folders, every load bounded: it stops by itself, and after fifteen minutes in any case.
 * Writes bench/results/<name>.json. Never part of the tests: the figures are for people to judge.
 */
import { setMaxListeners } from "node:events";
import { styleText } from "node:util";
import { auditChain } from "./audit-chain.ts";
import { credentials } from "./credentials.ts";
import { graphql } from "./graphql.ts";
import { latency } from "./latency.ts";
import { machineFacts, table, writeResult } from "./parts/report.ts";
import { masking } from "./masking.ts";
import { rotation } from "./rotation.ts";
import { secrets } from "./secrets.ts";
import { scim } from "./scim.ts";
import { sequence } from "./sequence.ts";
import { start } from "./start.ts";
import { throughput } from "./throughput.ts";

const BENCHES = {
  latency,
  throughput,
  sequence,
  graphql,
  scim,
  start,
  masking,
  secrets,
  rotation,
  "audit-chain": auditChain,
  credentials,
} as const;
const LIMIT_MS = 15 * 60_000;

type Name = keyof typeof BENCHES;
const isName = (word: string): word is Name => Object.hasOwn(BENCHES, word);

async function main(words: readonly string[]): Promise<number> {
  const all = Object.keys(BENCHES).filter(isName);
  const unknown = words.find((word) => !isName(word));
  if (unknown !== undefined) {
    process.stderr.write(`There is no benchmark '${unknown}'; there are ${all.join(", ")}.\n`);
    return 2;
  }
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.once(name, () => stop.abort(new Error(`stopped by ${name}`)));
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(LIMIT_MS)]);
  // Every request under way listens to it.
  setMaxListeners(0, signal);
  const { cores, processor, memoryGiB, node, loadAverage } = machineFacts();
  line(`${cores} cores of ${processor}, ${memoryGiB} GiB, Node ${node}, load average ${loadAverage.join(" ")}`);
  for (const name of words.length === 0 ? all : words.filter(isName)) {
    const at = new Date();
    const machine = machineFacts();
    const result = await BENCHES[name](signal, (text) => note(`${name}: ${text}`));
    note("");
    writeResult(name, machine, at, result);
    line();
    line(table(name, result));
  }
  return 0;
}

const line = (text = ""): void => void process.stdout.write(`${text}\n`);
/** Progress, on a line of its own that the next one replaces; nothing in a file. */
const note = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${styleText("dim", text)}`);
};

await main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
