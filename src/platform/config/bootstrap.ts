/** `<data dir>/bootstrap.json`: the facts of the first start, for scripts. Mode 0600. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type BootstrapFacts = {
  readonly baseUrl: string;
  readonly accountId: string;
  readonly orgIdentifier: string;
  readonly adminUserId: string;
  readonly adminEmail: string;
  readonly adminPassword: string;
  readonly apiKey: string;
};

export const factsFile = (dataDir: string): string => join(dataDir, "bootstrap.json");

/** Written whole or not at all: a reader never sees half of it. */
export function keepFacts(dataDir: string, facts: BootstrapFacts): void {
  const file = factsFile(dataDir);
  writeFileSync(`${file}.new`, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** The kept facts; undefined in a data directory whose account was made from another one. */
export function readFacts(dataDir: string): BootstrapFacts | undefined {
  try {
    return JSON.parse(readFileSync(factsFile(dataDir), "utf8")) as BootstrapFacts;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** What the first start prints, once: the password and the key stand nowhere else but in bootstrap.json. */
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
