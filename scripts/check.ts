/**
 * `npm run check` runs all checks that do not need the product or a database. It prints one line for each check and the
 * output of failed ones; the exit code is 1 if one fails. `npm run check -- types lint` runs only these two.
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

/** This test needs a database and runs only with `npm test`. */
const NEEDS_DATABASE = "test/conventions/code/schema.test.ts";
const conventions = globSync("test/conventions/**/*.test.ts", { cwd: root }).filter((file) => file !== NEEDS_DATABASE);

/** The slowest checks are first, so that parallel processors finish at about the same time. */
const checks: readonly Check[] = [
  { name: "types", command: ["tsc", "-p", "."] },
  { name: "types of web", command: ["tsc", "-p", "web"] },
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
    process.stderr.write(`No check has this name. Use ${checks.map(({ name }) => name).join(", ")}.\n`);
    return 2;
  }
  const failed = (await runAll(chosen)).filter(({ ok }) => !ok);
  for (const { name, output } of failed)
    process.stdout.write(`\n${styleText("bold", `--- ${name}`)}\n${output.trim()}\n`);
  return failed.length === 0 ? 0 : 1;
}

/** Runs as many checks at a time as there are processors. */
async function runAll(chosen: readonly Check[]): Promise<readonly Outcome[]> {
  const pending = chosen.values();
  const outcomes: Outcome[] = [];
  const lane = async (): Promise<void> => {
    for (const check of pending) outcomes.push(await run(check));
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  return outcomes;
}

async function run({ name, command: [program, ...args] }: Check): Promise<Outcome> {
  const startedAt = performance.now();
  // The tools in node_modules/.bin search `node` on the PATH; this is the pinned version.
  const PATH = `${path.join(root, "node_modules", ".bin")}${path.delimiter}${process.env["PATH"] ?? ""}`;
  const child = spawn(program, args, { cwd: root, env: { ...process.env, PATH }, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close") as Promise<[number | null]>,
  ]);
  const ok = code === 0;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(5);
  process.stdout.write(
    `${ok ? styleText("green", "ok  ") : styleText("red", "FAIL")} ${name.padEnd(13)}${seconds} s\n`,
  );
  return { name, ok, output: stdout + stderr };
}
