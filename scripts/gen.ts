/**
 * `npm run gen` writes every committed file that is made from the code; read the difference.
 * With `--check` it writes nothing, names the files that are out of date, and exits 1.
 * migrations/schema.sql needs a database, so its check is test/conventions/schema.test.ts.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { architecture } from "./gen/architecture.ts";
import { errors } from "./gen/errors.ts";
import { graphql } from "./gen/graphql.ts";
import { openapi } from "./gen/openapi.ts";
import { root } from "./lib/files.ts";
import type { Generator } from "./lib/generated.ts";

const generators: readonly Generator[] = [architecture, errors, graphql, openapi];

const check = process.argv.includes("--check");
const stale: string[] = [];
for (const generator of generators) if (await refresh(generator)) stale.push(generator.file);
if (!check) writeSchema();

process.stdout.write(stale.map((file) => `${check ? "out of date" : "written"}: ${file}\n`).join(""));
if (check && stale.length > 0) {
  process.stdout.write("Run `npm run gen` and read the difference.\n");
  process.exitCode = 1;
}

/** True when the file was not what its generator makes. */
async function refresh({ file, make }: Generator): Promise<boolean> {
  const place = path.join(root, file);
  const current = readIfThere(place);
  const made = await make(current);
  if (made === current) return false;
  if (!check) {
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, made);
  }
  return true;
}

function readIfThere(place: string): string {
  try {
    return readFileSync(place, "utf8");
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
