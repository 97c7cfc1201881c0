/**
 * `npm run gen` writes all generated files that are committed. With `--check` it writes nothing, lists outdated files,
 * and exits with 1 if there are any. migrations/schema.sql needs a database; test/conventions/code/schema.test.ts
 * checks it.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { architecture } from "./gen/architecture.ts";
import { errors } from "./gen/errors.ts";
import { expressions } from "./gen/expressions.ts";
import { graphql } from "./gen/graphql.ts";
import { language } from "./gen/language.ts";
import { openapi } from "./gen/openapi.ts";
import { webClient } from "./gen/web-client.ts";
import { root } from "./lib/files.ts";
import type { Generator } from "./lib/generated.ts";

const generators: readonly Generator[] = [architecture, errors, language, expressions, graphql, openapi, webClient];

const check = process.argv.includes("--check");
const stale: string[] = [];
for (const generator of generators) if (await refresh(generator)) stale.push(generator.file);
if (!check) writeSchema();

process.stdout.write(stale.map((file) => `${check ? "out of date" : "written"}: ${file}\n`).join(""));
if (check && stale.length > 0) {
  process.stdout.write("Run `npm run gen` and read the difference.\n");
  process.exitCode = 1;
}

/** Returns true if the file was outdated. */
async function refresh({ file, make }: Generator): Promise<boolean> {
  const target = path.join(root, file);
  const current = readIfExists(target);
  const generated = await make(current);
  if (generated === current) return false;
  if (!check) {
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, generated);
  }
  return true;
}

function readIfExists(target: string): string {
  try {
    return readFileSync(target, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

function writeSchema(): void {
  const { status } = spawnSync(process.execPath, [path.join(root, "scripts/db.ts"), "schema"], {
    stdio: "inherit",
    cwd: root,
  });
  if (status !== 0) process.exitCode = 1;
}
