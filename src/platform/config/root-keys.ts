/** Where the root keys come from: a file, the environment, or a program that prints one. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createKeyRing, type KeyRing } from "../crypto/key-ring.ts";
import { quoteErrorOutput, runBounded } from "../run-bounded.ts";
import { ConfigError } from "./config-error.ts";

/** `name` is the variable that the operator has set, for messages. */
export type KeySource = { readonly name: string } & (
  | { readonly kind: "value"; readonly key: Buffer }
  | { readonly kind: "file"; readonly path: string; readonly made: boolean }
  | { readonly kind: "command"; readonly words: readonly string[] }
);

export type KeySources = {
  readonly rootKey: KeySource;
  /** The one before it, while a rotation lasts. */
  readonly previousRootKey: KeySource | undefined;
};

type Env = Readonly<Record<string, string | undefined>>;

/** Programs that secret managers may ask, by name: a JSON object whose values are as in RAILHEAD_ROOT_KEY_COMMAND. */
export function readSecretCommands(env: Env, faults: string[]): ReadonlyMap<string, readonly string[]> {
  const name = "RAILHEAD_SECRET_COMMANDS";
  const text = env[name];
  if (!text) return new Map();
  const entries = objectIn(text);
  if (entries && entries.every(([key]) => /^[A-Za-z0-9_-]{1,64}$/.test(key)))
    return new Map(entries.map(([key, words]) => [key, wordsOf(name, words, faults)]));
  faults.push(`${name} takes a JSON object: {"<name>": "<program> <argument>…"}, names of letters, digits, _ and -.`);
  return new Map();
}

function objectIn(text: string): [string, string][] | undefined {
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found !== "object" || found === null || Array.isArray(found)) return undefined;
    const entries = Object.entries(found).map(([key, value]): [string, unknown] => [
      key,
      Array.isArray(value) ? JSON.stringify(value) : value,
    ]);
    return entries.every((entry): entry is [string, string] => typeof entry[1] === "string") ? entries : undefined;
  } catch {
    return undefined;
  }
}

const COMMAND_MS = 30_000;
const KEY_BYTES = 32;
/** Bytes of output: enough for a key in base64 and surrounding text; longer output is not a key. */
const MAX_OUTPUT = 4_096;

type Folders = { readonly cwd: string; readonly dataDir: string };

export function readKeySources(env: Env, { cwd, dataDir }: Folders, faults: string[]): KeySources {
  const made = { name: "RAILHEAD_DATA_DIR", kind: "file", path: join(dataDir, "root.key"), made: true } as const;
  return {
    rootKey: readSource(env, { name: "RAILHEAD_ROOT_KEY", cwd }, faults) ?? made,
    previousRootKey: readSource(env, { name: "RAILHEAD_ROOT_KEY_PREVIOUS", cwd }, faults),
  };
}

/** Reads the variable `name`, or the one that names a file or a program instead. */
function readSource(
  env: Env,
  { name, cwd }: { readonly name: string; readonly cwd: string },
  faults: string[],
): KeySource | undefined {
  const names = [name, `${name}_FILE`, `${name}_COMMAND`];
  const [first, ...more] = names.filter((each) => env[each]);
  if (first === undefined) return undefined;
  const text = env[first] ?? "";
  if (more.length > 0) faults.push(`${[first, ...more].join(" and ")} are both set; set one of them.`);
  if (first.endsWith("_FILE")) return { name: first, kind: "file", path: resolve(cwd, text), made: false };
  if (first.endsWith("_COMMAND")) return { name: first, kind: "command", words: wordsOf(first, text, faults) };
  const key = decodeKey(text);
  if (!key) faults.push(`${first} is not 32 bytes in base64 (make one with: openssl rand -base64 32).`);
  return { name: first, kind: "value", key: key ?? Buffer.alloc(KEY_BYTES) };
}

/** Splits a command at spaces, or reads a JSON list. No shell runs the command, so no character is special. */
function wordsOf(name: string, text: string, faults: string[]): readonly string[] {
  const words = text.trimStart().startsWith("[") ? listIn(text) : text.split(" ").filter((word) => word !== "");
  if (words && words.length > 0 && words.every((word) => !word.includes("\0"))) return words;
  faults.push(`${name} takes a program and its arguments, separated by spaces or as a JSON list of strings.`);
  return [""];
}

function listIn(text: string): string[] | undefined {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every((word) => typeof word === "string") ? list : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The keys' 32 bytes each. The default file is generated (mode 0600) when it is missing; a file that was named has to
 * exist. `onMade` gets the path of a file that was generated. Throws ConfigError; its text never has a key, nor what a
 * program has printed.
 */
export async function loadRootKeys({ rootKey, previousRootKey }: KeySources, onMade?: OnMade): Promise<KeyRing> {
  const preferred = await loadKey(rootKey, onMade);
  if (!previousRootKey) return createKeyRing(preferred);
  return createKeyRing(preferred, await loadKey(previousRootKey));
}

type OnMade = (path: string) => void;

async function loadKey(source: KeySource, onMade?: OnMade): Promise<Buffer> {
  switch (source.kind) {
    case "value":
      return source.key;
    case "file":
      return keyInFile(source, onMade);
    case "command":
      return keyFromProgram(source.name, source.words);
  }
}

function keyInFile({ name, path, made }: KeySource & { readonly kind: "file" }, onMade?: OnMade): Buffer {
  if (!existsSync(path)) {
    if (!made) throw new ConfigError([`${name} names ${path}, which does not exist.`]);
    writeFileSync(path, `${randomBytes(KEY_BYTES).toString("base64")}\n`, { mode: 0o600, flag: "wx" });
    onMade?.(path);
  }
  const key = decodeKey(readKeyFile(path));
  if (!key) throw new ConfigError([`The root key in ${path} is not 32 bytes in base64.`]);
  return key;
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new ConfigError([`The root key in ${path} cannot be read: ${(error as Error).message}.`]);
  }
}

async function keyFromProgram(name: string, words: readonly string[]): Promise<Buffer> {
  const outcome = await runBounded({ words, env: process.env, timeoutMs: COMMAND_MS, maxOutput: MAX_OUTPUT });
  const { code, output, errorOutput } = outcome;
  // The message omits the arguments, which may contain a PIN. A key service may be unavailable temporarily.
  const refused = (why: string): ConfigError =>
    new ConfigError([`${name}: the program ${words[0]} gave no key: ${why}.`], { mayPass: true });
  if (outcome.code === null) throw refused(outcome.why + quoteErrorOutput(errorOutput));
  if (code !== 0) throw refused(`it ended with exit code ${code}${quoteErrorOutput(errorOutput)}`);
  // A token gives the bytes themselves, most other programs give text.
  const key = output.length === KEY_BYTES ? output : decodeKey(output.toString("latin1"));
  if (key) return key;
  if (output.length === 0) throw refused("it printed nothing");
  throw refused(`it printed ${output.length} bytes, which are neither 32 bytes nor 32 bytes in base64`);
}

function decodeKey(text: string): Buffer | undefined {
  const trimmed = text.trim();
  return /^[A-Za-z0-9+/]{43}=$/.test(trimmed) ? Buffer.from(trimmed, "base64") : undefined;
}
