/** `<data dir>/bootstrap.json`: the facts of the first start, for scripts. Mode 0600. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The content of bootstrap.json. Password and API key are in plain text. */
export type BootstrapFacts = {
  readonly baseUrl: string;
  readonly accountId: string;
  readonly orgIdentifier: string;
  readonly adminUserId: string;
  readonly adminEmail: string;
  readonly adminPassword: string;
  readonly apiKey: string;
};

/** The path of bootstrap.json. The first start creates it; each later one writes its own base URL into it. */
export const factsFile = (dataDir: string): string => join(dataDir, "bootstrap.json");

/** Replaces the file atomically: a reader never sees a part of it. */
export function writeFacts(dataDir: string, facts: BootstrapFacts): void {
  const file = factsFile(dataDir);
  writeFileSync(`${file}.new`, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Reads the file. Undefined in a data directory other than the one of the first start. */
export function readFacts(dataDir: string): BootstrapFacts | undefined {
  try {
    return JSON.parse(readFileSync(factsFile(dataDir), "utf8")) as BootstrapFacts;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The text that the first start prints. Password and API key are otherwise only in bootstrap.json. */
export function firstStartText(facts: BootstrapFacts, file: string): string {
  const rows = [
    ["Address", facts.baseUrl],
    ["Account id", facts.accountId],
    ["Admin", facts.adminEmail],
    ["One-time password", facts.adminPassword],
    ["API key", facts.apiKey],
  ];
  const width = Math.max(...rows.map(([label]) => label?.length ?? 0));
  const table = rows.map(([label, value]) => `  ${label?.padEnd(width)}  ${value}`).join("\n");
  return `\nRailhead is set up. These are shown once, and kept in ${file} (readable by you alone):\n\n${table}\n\n`;
}
