/**
 * The curl commands of test/contract/curl-requests.md and their responses. A shell runs each command. Values in angle
 * brackets in a response are matched by a pattern; everything else is compared.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export type Example = {
  readonly section: string;
  /** The line of the command in the page. */
  readonly line: number;
  readonly command: string;
  readonly status: number;
  readonly answer: string;
};

export const readPage = (): string => readFileSync(new URL("curl-requests.md", import.meta.url), "utf8");

const EXAMPLE = /^```sh curl\n(?<command>[^]*?)^```\n(?:\n```json (?<status>\d{3})\n(?<answer>[^]*?)^```\n)?/gm;

/** Throws for a command without a response, since it would prove nothing. */
export function examplesOf(page: string): readonly Example[] {
  return [...page.matchAll(EXAMPLE)].map(({ index, groups = {} }) => {
    const before = page.slice(0, index);
    const line = before.split("\n").length;
    const { command = "", status, answer } = groups;
    if (status === undefined || answer === undefined) throw new Error(`The command at line ${line} has no response.`);
    const section = [...before.matchAll(/^## (.+)$/gm)].at(-1)?.[1] ?? "";
    return { section, line, command, status: Number(status), answer };
  });
}

/** Values by their names in the responses. Commands read them from environment variables. */
export type KnownValues = Record<string, string>;

/** Runs the command in the folder. Returns the status and the text of the body. */
export async function runCommand(
  command: string,
  folder: string,
  known: Readonly<KnownValues>,
): Promise<{ readonly status: number; readonly text: string }> {
  // The page shows only the request. This adds what the test needs to read the status.
  writeFileSync(join(folder, ".curlrc"), 'silent\nshow-error\nmax-time = 20\nwrite-out = "\\n%{http_code}"\n');
  const env = { PATH: process.env["PATH"], CURL_HOME: folder, HOME: folder, NO_PROXY: "*", ...known };
  const { stdout } = await run("/bin/sh", ["-euc", command], { cwd: folder, env });
  const cut = stdout.lastIndexOf("\n");
  return { status: Number(stdout.slice(cut + 1)), text: stdout.slice(0, cut) };
}

const DAY_MS = 86_400_000;
const WEBHOOK = /\/gateway\/pipeline\/api\/webhook\/custom\/[\w-]{54}\/v3\?accountIdentifier=/;
const patterns: Readonly<Record<string, (value: unknown) => boolean>> = {
  webhookUrl: (value) => typeof value === "string" && WEBHOOK.test(value),
  time: (value) => Number.isSafeInteger(value) && Math.abs(Number(value) - Date.now()) < DAY_MS,
  correlationId: (value) => typeof value === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value),
};
const isId = (value: unknown): boolean => typeof value === "string" && /^[A-Za-z0-9_-]{22}$/.test(value);

/**
 * Returns the expected response with every value in angle brackets replaced by the actual value, if it matches: a time,
 * a correlation id, or an identifier, which is then known by its name or equals the known one. Other values stay, so
 * that the comparison shows them.
 */
export function fillIn(expected: unknown, actual: unknown, known: KnownValues): unknown {
  if (Array.isArray(expected))
    return expected.map((item, at) => fillIn(item, Array.isArray(actual) ? actual[at] : undefined, known));
  if (typeof expected === "object" && expected !== null) {
    const there = (actual ?? {}) as Readonly<Record<string, unknown>>;
    return Object.fromEntries(Object.entries(expected).map(([key, it]) => [key, fillIn(it, there[key], known)]));
  }
  if (typeof expected !== "string") return expected;
  const name = /^<(\w+)>$/.exec(expected)?.[1];
  if (name === undefined) return expected.replaceAll(/<([A-Z_]+)>/g, (mark, inside: string) => known[inside] ?? mark);
  const pattern = patterns[name];
  if (pattern) return pattern(actual) ? actual : expected;
  if (known[name] === undefined && isId(actual)) known[name] = actual as string;
  return known[name] ?? expected;
}

/** Runs the example and compares its response with the page. */
export async function checkExample(example: Example, folder: string, known: KnownValues): Promise<void> {
  const { status, text } = await runCommand(example.command, folder, known);
  const where = `test/contract/curl-requests.md:${example.line}`;
  assert.equal(status, example.status, `${where} answered ${text}`);
  const body: unknown = JSON.parse(text);
  assert.deepEqual(body, fillIn(JSON.parse(example.answer), body, known), where);
}
