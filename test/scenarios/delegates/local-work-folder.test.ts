/**
 * As root, the local delegate works outside of the data directory. Its folder is removed after the data directory is
 * deleted.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { test } from "node:test";
import { createServerFolder, startServer } from "../../support/processes/server-process.ts";
import { until } from "../../support/until.ts";

const onlyAsRoot = {
  skip:
    process.getuid?.() === 0
      ? false
      : "run the tests as root: sudo npm test -- test/scenarios/delegates/local-work-folder.test.ts",
};

const workFolder = (dataDir: string): string =>
  `/var/lib/railhead-delegate/${createHash("sha256").update(dataDir).digest("hex").slice(0, 12)}`;

test("the next start removes the work folder of a deleted data directory", onlyAsRoot, async () => {
  const folders = [await createServerFolder(), await createServerFolder()] as const;
  const [first, second] = folders.map(({ dataDir }) => workFolder(dataDir));
  assert.ok(first && second);
  const env = { RAILHEAD_DELEGATE_DIR: undefined };
  try {
    await (await startServer(folders[0], env)).end("SIGTERM");
    assert.equal(await readFile(`${first}/owner`, "utf8"), `${folders[0].dataDir}\n`);
    await folders[0].remove();
    const server = await startServer(folders[1], env);
    await until(
      async () => existsSync(first),
      (there) => !there,
    );
    assert.equal(existsSync(second), true);
    await server.end("SIGTERM");
  } finally {
    for (const folder of folders) await folder.remove();
    for (const path of [first, second]) await rm(path, { recursive: true, force: true });
  }
});
