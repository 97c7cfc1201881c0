/**
 * Parses and checks the command line of `railhead delegate`. token.ts reads
 * the token afterwards.
 */
import { availableParallelism } from "node:os";
import { Command, CommanderError } from "commander";
import { usageError } from "./fault.ts";
import { parseSize } from "./size.ts";

/** Where the delegate's token comes from; `readToken` reads it. */
export type TokenSource =
  | { readonly kind: "given"; readonly token: string }
  | { readonly kind: "file"; readonly path: string }
  /** First line of standard input. The end of standard input means that the server has ended. */
  | { readonly kind: "stdin" };

/** The checked command line, with defaults where the delegate does not choose later. */
export type Options = {
  /** URL of the WebSocket, for example ws://host:port/delegate/connect. */
  readonly socketUrl: string;
  readonly token: TokenSource;
  readonly name: string;
  readonly tags: readonly string[];
  readonly workDir: string | undefined;
  readonly slots: number;
  readonly stepUser: string | undefined;
  /** PATH of the steps: folders with colons between them. */
  readonly stepPath: string | undefined;
  /** The operator's file with the keys of hosts that steps may run on. */
  readonly knownHosts: string | undefined;
  /** Steps may run programs as other users, for example by sudo. */
  readonly mayGainPrivileges: boolean;
  /** Bytes of output that are stored for each step. */
  readonly maxStepOutput: number;
  readonly local: boolean;
  /** The work folder is unused once this folder is removed; undefined: the work folder belongs to the operator. */
  readonly belongsTo: string | undefined;
};

/** `help` holds the text to print instead of running. */
export type Parsed =
  | { readonly kind: "run"; readonly options: Options }
  | { readonly kind: "help"; readonly text: string };

/** 1 GiB. */
export const DEFAULT_MAX_STEP_OUTPUT = 1024 ** 3;

const MAX_SLOTS = 1024;
const MAX_TAGS = 64;
const MAX_WORD = 128;

/** @throws Fault with exit code 2 that names the wrong option. `env` is only read. */
export function parseOptions(argv: readonly string[], env: Readonly<Record<string, string | undefined>>): Parsed {
  const printed: string[] = [];
  const command = createCommand(printed);
  try {
    command.parse(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.helpDisplayed") return { kind: "help", text: printed.join("") };
    throw usageError(error.message.replace(/^error: /, ""));
  }
  return { kind: "run", options: readOptions(command.opts<Raw>(), env) };
}

type Raw = {
  readonly url?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly name?: string;
  readonly tag: readonly string[];
  readonly workDir?: string;
  readonly slots?: string;
  readonly stepUser?: string;
  readonly stepPath?: string;
  readonly knownHosts?: string;
  readonly allowPrivilegeEscalation?: boolean;
  readonly maxStepOutput?: string;
  readonly local?: boolean;
  readonly belongsTo?: string;
};

const append = (value: string, before: readonly string[]): readonly string[] => [...before, value];

function createCommand(printed: string[]): Command {
  return new Command("railhead delegate")
    .description("Runs steps on this machine. It connects to the server; the server never connects to it.")
    .option("--url <address>", "the server, as in http://127.0.0.1:7070")
    .option("--token <token>", "delegate token (others on this machine may see it; prefer the next two ways)")
    .option("--token-file <path>", "file that holds the delegate token; or set RAILHEAD_DELEGATE_TOKEN")
    .option("--name <name>", "name of this delegate, unique in the account")
    .option("--tag <tag>", "a selector of steps; repeat for more", append, [])
    .option("--work-dir <folder>", "folder for tasks and their files")
    .option("--slots <number>", "how many tasks run at once (default: two per processor, at least four)")
    .option(
      "--step-user <user>",
      "who runs all steps when started as root (default: a user of its own for each); name, uid or uid:gid",
    )
    .option("--step-path <folders>", "PATH of the steps (default: as root the system's usual one, otherwise this one)")
    .option(
      "--known-hosts <file>",
      "keys of the hosts that steps may run on, in the format of ssh (default: the first key that a host shows is stored and trusted)",
    )
    .option(
      "--allow-privilege-escalation",
      "let steps gain rights by set-user-id programs, as sudo needs; some of their processes may then not be terminated",
    )
    .option("--max-step-output <size>", "limit of the stored output of a step, as in 512MiB (default: 1GiB)")
    .option(
      "--local",
      "started by a server: token on the first line of standard input; the delegate ends with standard input",
    )
    .option("--belongs-to <folder>", "other delegates may remove the work folder after this folder was removed")
    .exitOverride()
    .configureOutput({ writeOut: (text) => printed.push(text), writeErr: () => {}, outputError: () => {} });
}

function readOptions(raw: Raw, env: Readonly<Record<string, string | undefined>>): Options {
  if (raw.name === undefined) throw usageError("--name is missing");
  return {
    socketUrl: parseSocketUrl(raw.url),
    token: parseTokenSource(raw, env["RAILHEAD_DELEGATE_TOKEN"]),
    name: parseWord("--name", raw.name),
    tags: parseTags(raw.tag),
    workDir: parseNonEmpty("--work-dir", raw.workDir),
    slots: parseSlots(raw.slots),
    stepUser: parseNonEmpty("--step-user", raw.stepUser),
    stepPath: parseFolders("--step-path", raw.stepPath),
    knownHosts: parseNonEmpty("--known-hosts", raw.knownHosts),
    mayGainPrivileges: raw.allowPrivilegeEscalation === true,
    maxStepOutput: parseSizeOption("--max-step-output", raw.maxStepOutput) ?? DEFAULT_MAX_STEP_OUTPUT,
    local: raw.local === true,
    belongsTo: parseNonEmpty("--belongs-to", raw.belongsTo),
  };
}

function parseSocketUrl(text: string | undefined): string {
  if (text === undefined) throw usageError("--url is missing; it is the server's address, as in http://127.0.0.1:7070");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw usageError(`--url '${text}' is not an address that begins with http:// or https://`);
  if (url.username || url.password || url.search || url.hash)
    throw usageError("--url may hold a host, a port and a path only; the token goes into --token-file");
  const scheme = url.protocol === "http:" ? "ws:" : "wss:";
  return `${scheme}//${url.host}${url.pathname.replace(/\/+$/, "")}/delegate/connect`;
}

function parseTokenSource(raw: Raw, fromEnv: string | undefined): TokenSource {
  if (raw.token !== undefined && raw.tokenFile !== undefined)
    throw usageError("--token and --token-file exclude each other");
  if (raw.local === true) {
    if (raw.token !== undefined || raw.tokenFile !== undefined)
      throw usageError("with --local the token comes from standard input; leave out --token and --token-file");
    return { kind: "stdin" };
  }
  if (raw.token !== undefined) return { kind: "given", token: raw.token };
  if (raw.tokenFile !== undefined) return { kind: "file", path: parseNonEmpty("--token-file", raw.tokenFile) ?? "" };
  if (fromEnv !== undefined) return { kind: "given", token: fromEnv };
  throw usageError("a token is missing: set RAILHEAD_DELEGATE_TOKEN, or use --token-file or --token");
}

function parseWord(option: string, value: string): string {
  // Control characters would travel into headers, logs and pages.
  if (value.trim() === "" || value.length > MAX_WORD || /\p{Cc}/u.test(value))
    throw usageError(`${option} '${value}' must have 1 to ${MAX_WORD} printable characters`);
  return value;
}

function parseTags(values: readonly string[]): readonly string[] {
  const unique = [...new Set(values.map((value) => parseWord("--tag", value)))];
  if (unique.length > MAX_TAGS) throw usageError(`--tag may be given ${MAX_TAGS} times at most`);
  return unique;
}

function parseSlots(text: string | undefined): number {
  if (text === undefined) return Math.min(MAX_SLOTS, Math.max(4, 2 * availableParallelism()));
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > MAX_SLOTS)
    throw usageError(`--slots '${text}' must be a whole number from 1 to ${MAX_SLOTS}`);
  return number;
}

function parseFolders(option: string, value: string | undefined): string | undefined {
  if (value !== undefined && value.split(":").some((folder) => !folder.startsWith("/") || /\p{Cc}/u.test(folder)))
    throw usageError(
      `${option} '${value}' must hold absolute folders with colons between them, as in /opt/bin:/usr/bin`,
    );
  return value;
}

function parseSizeOption(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const bytes = parseSize(text) ?? 0;
  if (bytes < 1) throw usageError(`${option} '${text}' must be a whole number of bytes, KiB, MiB or GiB, as in 512MiB`);
  return bytes;
}

function parseNonEmpty(option: string, value: string | undefined): string | undefined {
  if (value === "") throw usageError(`${option} is empty`);
  return value;
}
