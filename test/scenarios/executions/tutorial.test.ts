/**
 * Runs the commands of docs/tutorial.md and then of docs/how-to/use-the-api.md in one shell, in their order, and
 * compares the output with the pages.
 */
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { promisify } from "node:util";
import { test } from "node:test";
import { createServerFolder, startServer } from "../../support/processes/server-process.ts";

const skip = spawnSync("curl", ["--version"]).error ? "curl is not installed" : false;
const pages = ["docs/tutorial.md", "docs/how-to/use-the-api.md"]
  .map((name) => readFileSync(new URL(`../../../${name}`, import.meta.url), "utf8"))
  .join("\n");

/** A separate line after the output of each block. */
const END = "--- end of block ---";

test("every command of the tutorial and of the guide prints what the page shows", { skip }, async () => {
  const blocks = [...pages.matchAll(/^```sh run\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?/gms)].map(
    ([, command = "", output = ""]) => ({ command, output }),
  );
  assert.equal(blocks.length, pages.split("```sh run").length - 1);
  const folder = await createServerFolder();
  const server = await startServer({ ...folder, dataDir: `${folder.path}/.railhead` });
  try {
    const script = blocks.map(({ command }) => `${command}\nprintf '\\n%s\\n' '${END}'`).join("\n");
    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], {
      cwd: folder.path,
      // The pages call `node`.
      env: { ...process.env, PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter) },
    });
    const printed = stdout.split(`${END}\n`).map((text) => text.trim());
    for (const [nth, { command, output }] of blocks.entries()) {
      const pattern = output
        .trim()
        .split("…")
        .map((text) => RegExp.escape(text))
        .join("\\S+");
      assert.match(printed[nth] ?? "", new RegExp(`^${pattern}$`), command);
    }
  } finally {
    await server.end("SIGTERM");
    await folder.remove();
  }
});
