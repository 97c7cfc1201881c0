// The way into every program: `node scripts/guard.js src/main.ts …` runs `src/main.ts …`
// once the Node that runs it is new enough. It is plain JavaScript that Node 18 parses,
// because an older Node fails on the first TypeScript file with a message nobody understands.
//
// npm puts node_modules/.bin first on the PATH of its scripts, so `node` there is the one
// that the package for this platform brought; without that package it is the host's.
//
// cli/railhead.js, which npm links as a program, imports this file for its effects instead,
// and loads TypeScript only afterwards, by `await import(…)`: static imports are linked
// before anything runs. A program started through here sees its own path in process.argv[1],
// but `import.meta.main` is false in it.
import { existsSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import * as nodeModule from "node:module";
import { homedir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import v8 from "node:v8";

const self = fileURLToPath(import.meta.url);
const root = path.dirname(path.dirname(self));

requireNode();
keepCompiledCode();
keepYoungObjectsYoung();
keepNohup();
await runTarget();

/** Ends the process with exit code 1 and the way out, when this Node is too old. */
function requireNode() {
  const { engines, optionalDependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const needed = engines.node.replace(/^\D+/, "");
  if (!isOlder(process.versions.node, needed)) return;
  process.stderr.write(
    `Railhead needs Node ${needed} or newer; this is Node ${process.versions.node} (${process.execPath}).\n` +
      `${wayOut(Object.keys(optionalDependencies || {}), needed)}\n`,
  );
  process.exit(1);
}

/** What the reader should do; the package's name ends in Node's own words for platform and processor. */
function wayOut(optional, needed) {
  if (existsSync(path.join(root, "node_modules", ".bin", "node"))) {
    return "Its own Node is installed: use `npm start` or `npx railhead` here, or run node_modules/.bin/node yourself.";
  }
  const platform = `${process.platform}-${process.arch}`;
  const name = optional.find((it) => it === `node-${platform}` || it === `node-bin-${platform}`);
  if (name) {
    return `The npm package ${name} brings it, but is not installed. Run \`npm ci\` without --omit=optional.`;
  }
  return `No npm package brings it for ${platform}. Install Node ${needed} yourself and put it first on the PATH.`;
}

function isOlder(version, needed) {
  const have = version.split(".").map(Number);
  const want = needed.split(".").map(Number);
  const at = want.findIndex((part, i) => have[i] !== part);
  return at !== -1 && have[at] < want[at];
}

/**
 * Keeps stripped and compiled sources between starts (0.8 s → 0.2 s for 300 files). V8 trusts
 * what it reads back, so the cache lies where only those can write who could change the program
 * anyway: beside it, or in the user's own cache folder when the checkout is read-only. Never in
 * the shared temporary directory, Node's default. Without either place there is no cache.
 */
function keepCompiledCode() {
  if (process.env.NODE_COMPILE_CACHE) return;
  const { FAILED } = nodeModule.constants.compileCacheStatus;
  const beside = path.join(root, "node_modules", ".cache", "railhead");
  if (nodeModule.enableCompileCache(beside).status !== FAILED) return;
  nodeModule.enableCompileCache(path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), ".cache"), "railhead"));
}

/**
 * V8 learns where objects that live long are made, and makes the next ones there old from the start. The rows of
 * an answer live for a moment only, but long enough to be mistaken under load: half of them then waited for the
 * slow collection, and a list of 100 executions took 440 µs of processor time instead of 340 (bench/benchmarks/graphql.ts).
 */
function keepYoungObjectsYoung() {
  v8.setFlagsFromString("--no-allocation-site-pretenuring");
}

/**
 * Node gives every signal its default action when it starts, so that a program under `nohup` would end with the
 * terminal all the same. A listener for SIGHUP that does nothing brings back what nohup asked for; programs that end on
 * SIGHUP leave it alone where there is a listener already. The request itself is lost by then: what is left of it is
 * the name of the last command that the shell has put into `_`, and the standard input that nohup opens for writing.
 */
function keepNohup() {
  if (process.platform !== "win32" && isUnderNohup()) process.on("SIGHUP", () => {});
}

function isUnderNohup() {
  if (path.basename(process.env._ || "") === "nohup") return true;
  const WRITE_ONLY = 1;
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync("/proc/self/fdinfo/0", "utf8"));
    const access = flags ? Number.parseInt(flags[1], 8) & 3 : 0;
    return access === WRITE_ONLY && readlinkSync("/proc/self/fd/0") === "/dev/null";
  } catch {
    return false; // another system than Linux, or no standard input
  }
}

/** Runs the program named on the command line, unless another program has imported this file. */
async function runTarget() {
  const [node, main, target, ...rest] = process.argv;
  if (!main || realpathSync(main) !== self) return;
  if (!target) {
    process.stderr.write("usage: node scripts/guard.js <program.ts> [arguments]\n");
    process.exit(2);
  }
  const program = path.resolve(target);
  process.argv = [node, program, ...rest];
  await import(pathToFileURL(program).href);
}
