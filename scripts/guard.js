// All programs start here: `node scripts/guard.js src/main.ts …` checks the version of Node and runs `src/main.ts …`.
// It is plain JavaScript that Node 18 parses, because the error of an older Node for a TypeScript file is unclear.
//
// npm puts node_modules/.bin first on the PATH of its scripts, so `node` there is the version that the package for this
// platform installed; without that package it is the host's version.
//
// cli/railhead.js, which npm links as a program, imports this file for its effects and then loads TypeScript with
// `await import(…)`, because static imports are linked before any code runs. A program started here finds its own path
// in process.argv[1], but its `import.meta.main` is false.
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
enableCompileCache();
disablePretenuring();
respectNohup();
await runTarget();

/** Exits with code 1 and advice if this Node is too old. */
function requireNode() {
  const { engines, optionalDependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const needed = engines.node.replace(/^\D+/, "");
  if (!isOlder(process.versions.node, needed)) return;
  process.stderr.write(
    `Railhead needs Node ${needed} or newer; this is Node ${process.versions.node} (${process.execPath}).\n` +
      `${adviceFor(Object.keys(optionalDependencies || {}), needed)}\n`,
  );
  process.exit(1);
}

/** How to get the required Node. The names of the packages end in Node's `platform` and `arch`. */
function adviceFor(optional, needed) {
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
 * Caches stripped and compiled sources between starts (0.8 s → 0.2 s for 300 files). V8 trusts the cache, so only users
 * who can change the program may write to it. It is beside the program, or in the user's cache folder if the checkout
 * is read-only, and never in the shared temporary directory, which is Node's default. If neither is writable, there is
 * no cache.
 */
function enableCompileCache() {
  if (process.env.NODE_COMPILE_CACHE) return;
  const { FAILED } = nodeModule.constants.compileCacheStatus;
  const beside = path.join(root, "node_modules", ".cache", "railhead");
  if (nodeModule.enableCompileCache(beside).status !== FAILED) return;
  nodeModule.enableCompileCache(path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), ".cache"), "railhead"));
}

/**
 * Disables V8's pretenuring, which allocates objects as old if earlier ones from the same site lived long. Under load
 * it misjudges the rows of an answer: half of them waited for the slow collection, and a list of 100 executions took
 * 440 µs of processor time instead of 340 (bench/benchmarks/graphql.ts).
 */
function disablePretenuring() {
  v8.setFlagsFromString("--no-allocation-site-pretenuring");
}

/**
 * Adds an empty listener for SIGHUP under `nohup`. Node resets all signals to their default action when it starts, so a
 * program under nohup would end with the terminal. Programs that end on SIGHUP do not if it has a listener already.
 * Node cannot read the original action; nohup is recognized by the command name in `_`, or by a standard input that is
 * open only for writing.
 */
function respectNohup() {
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

/** Runs the program named on the command line, unless another program imported this file. */
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
