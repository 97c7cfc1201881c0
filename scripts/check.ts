/**
 * `npm run check`: everything that can be said about a change without running the product. One
 * line for each check, the output of those that fail, exit code 1 if any does.
 * `npm run check -- types lint` runs only these.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { styleText } from "node:util";
import { root } from "./lib/files.ts";

type Check = { readonly name: string; readonly command: readonly [program: string, ...args: string[]] };
type Outcome = { readonly name: string; readonly ok: boolean; readonly output: string };

/** This one needs a database, so it runs with `npm test` only. */
const NEEDS_DATABASE = "test/conventions/schema.test.ts";
const conventions = globSync("test/conventions/*.test.ts", { cwd: root }).filter((file) => file !== NEEDS_DATABASE);

/** The slowest first, so that two processors end at about the same time. */
const checks: readonly Check[] = [
  { name: "types", command: ["tsc", "-p", "."] },
  { name: "lint", command: ["oxlint", "--type-aware", "--deny-warnings"] },
  { name: "generated", command: ["node", "scripts/gen.ts", "--check"] },
  { name: "conventions", command: ["node", "--test", "--test-reporter=dot", "--test-isolation=none", ...conventions] },
  { name: "dead code", command: ["knip", "--no-progress", "--no-config-hints"] },
  { name: "format", command: ["oxfmt", "--check"] },
];

process.exitCode = await main(process.argv.slice(2));

async function main(names: readonly string[]): Promise<number> {
  const chosen = checks.filter(({ name }) => names.length === 0 || names.includes(name));
  if (chosen.length === 0) {
    process.stderr.write(`There is no such check; there are: ${checks.map(({ name }) => name).join(", ")}.\n`);
    return 2;
  }
  const failed = (await runAll(chosen)).filter(({ ok }) => !ok);
  for (const { name, output } of failed)
    process.stdout.write(`\n${styleText("bold", `--- ${name}`)}\n${output.trim()}\n`);
  return failed.length === 0 ? 0 : 1;
}

/** As many at a time as there are processors. */
async function runAll(chosen: readonly Check[]): Promise<readonly Outcome[]> {
  const waiting = chosen.values();
  const outcomes: Outcome[] = [];
  const lane = async (): Promise<void> => {
    for (const check of waiting) outcomes.push(await run(check));
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  return outcomes;
}

async function run({ name, command: [program, ...args] }: Check): Promise<Outcome> {
  const began = performance.now();
  // The tools are programs of node_modules/.bin that look for `node` on the PATH: the pinned one.
  const PATH = `${path.join(root, "node_modules", ".bin")}${path.delimiter}${process.env["PATH"] ?? ""}`;
  const child = spawn(program, args, { cwd: root, env: { ...process.env, PATH }, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close") as Promise<[number | null]>,
  ]);
  const ok = code === 0;
  const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(5);
  process.stdout.write(
    `${ok ? styleText("green", "ok  ") : styleText("red", "FAIL")} ${name.padEnd(12)}${seconds} s\n`,
  );
  return { name, ok, output: stdout + stderr };
}
