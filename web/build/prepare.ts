/** Finds the built web interface of this checkout, and builds it if its sources have changed since. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { access, constants, mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";

const WEB = path.resolve(import.meta.dirname, "..");
/** Beside the sources: what the bundler and its settings are decides, too. */
const OTHERS = ["../package-lock.json", "../tsconfig.json"];
/** Earlier versions that are kept, for servers that still serve them. */
const KEPT = 2;

type Log = { readonly info: (facts: object, message: string) => void };

/** Returns the folder with the built files. Throws if the build fails, with the bundler's output. */
export async function prepareWeb(log: Log): Promise<string> {
  const parent = await outputFolder();
  const folder = path.join(parent, await versionOf());
  if (existsSync(path.join(folder, "index.html"))) return folder;
  const startedAt = performance.now();
  await runBuild(folder);
  await removeOld(parent, folder);
  log.info({ ms: Math.round(performance.now() - startedAt) }, "the web interface was built");
  return folder;
}

/** web/dist, or the user's cache folder if the checkout is read-only. */
async function outputFolder(): Promise<string> {
  const beside = path.join(WEB, "dist");
  const isWritable = await mkdir(beside, { recursive: true })
    .then(() => access(beside, constants.W_OK))
    .then(
      () => true,
      () => false,
    );
  return isWritable
    ? beside
    : path.join(process.env["XDG_CACHE_HOME"] ?? path.join(homedir(), ".cache"), "railhead-web");
}

/** A hash of all sources. Reading them takes some ten milliseconds. */
async function versionOf(): Promise<string> {
  const entries = await readdir(WEB, { recursive: true, withFileTypes: true });
  const sources = entries
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => path.relative(WEB, path.join(entry.parentPath, entry.name)))
    .filter((name) => !name.startsWith(`dist${path.sep}`));
  const hash = createHash("sha256");
  for (const name of [...sources.toSorted(), ...OTHERS]) {
    hash.update(`${name}\0`);
    hash.update(await readFile(path.join(WEB, name)));
  }
  return hash.digest("hex").slice(0, 16);
}

async function runBuild(folder: string): Promise<void> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, "build.ts"), folder], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_ENV: "production" },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (piece: Buffer) => void (output += piece.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`The web interface could not be built:\n${output.trim()}`);
}

async function removeOld(parent: string, current: string): Promise<void> {
  const names = (await readdir(parent)).filter(
    (name) => /^[0-9a-f]{16}$/.test(name) && name !== path.basename(current),
  );
  const dated = await Promise.all(
    names.map(async (name) => ({
      name,
      at: (await stat(path.join(parent, name)).catch(() => undefined))?.mtimeMs ?? 0,
    })),
  );
  const old = dated.toSorted((a, b) => b.at - a.at).slice(KEPT);
  await Promise.all(old.map(({ name }) => rm(path.join(parent, name), { recursive: true, force: true })));
}
