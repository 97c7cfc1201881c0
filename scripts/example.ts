/** `npm run example -- <name>` loads an example into a running server. `RAILHEAD_DATA_DIR` names its data directory. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { listExamples, loadExample, type ExampleFacts } from "./example/load.ts";

async function main([name]: readonly string[]): Promise<void> {
  if (name === undefined) {
    process.stdout.write(`usage: npm run example -- <name>\n\n${(await listExamples()).join("\n")}\n`);
    return;
  }
  const file = join(process.env["RAILHEAD_DATA_DIR"] ?? ".railhead", "bootstrap.json");
  const facts = JSON.parse(
    await readFile(file, "utf8").catch(() => {
      throw new Error(`There is no ${file}. Start the server first (npm start), or name its data directory.`);
    }),
  ) as ExampleFacts;
  for (const { file: of, identifier, result } of await loadExample(facts, name))
    process.stdout.write(`${result.padEnd(8)} ${identifier.padEnd(24)} examples/${of}\n`);
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
