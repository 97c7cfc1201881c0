import assert from "node:assert/strict";
import { chmod, mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { isRoot, recordedLog, startDatabase, temporaryFolder } from "../../../../../test/support/processes/embedded.ts";
import { silentLog } from "../../../../../test/support/database.ts";
import { openDb } from "../../pool/pool.ts";
import type { Embedded } from "../embedded.ts";

const folder = await temporaryFolder();
after(folder.remove);
const needsRoot = { skip: !isRoot && "needs root: run npm test as root" };

async function answers(embedded: Embedded): Promise<void> {
  const db = openDb({ connection: embedded.connection, log: silentLog, onError: () => {} });
  assert.deepEqual(await db.query("select 1 as one"), [{ one: 1 }]);
  await db.close();
}

test(
  "below a directory that the database's user cannot enter, the database lies elsewhere and stays there",
  needsRoot,
  async () => {
    const closed = join(folder.path, "closed");
    const [dataDir, elsewhere] = [join(closed, "data"), join(folder.path, "var", "railhead")];
    await mkdir(closed, { mode: 0o700 });
    const log = recordedLog();
    const first = await startDatabase(dataDir, { log, elsewhere });
    assert.match(first.location, new RegExp(`^${elsewhere}/[0-9a-f]{12}$`));
    assert.ok(
      log.messages.some((message) => message.includes(`cannot reach ${dataDir}`) && message.includes(first.location)),
    );
    await answers(first);
    await first.stop();
    assert.equal((await stat(closed)).mode & 0o777, 0o700, "nobody opened it");
    assert.deepEqual((await readdir(dataDir)).toSorted(), ["server.lock", "server.pid"]);
    await chmod(closed, 0o755);
    const second = await startDatabase(dataDir, { elsewhere });
    assert.equal(second.location, first.location);
    await second.stop();
  },
);

test(
  "a database that its user can no longer reach is refused, and no empty one is made elsewhere",
  needsRoot,
  async () => {
    const open = join(folder.path, "open");
    const elsewhere = join(folder.path, "never");
    await mkdir(open, { mode: 0o755 });
    const embedded = await startDatabase(join(open, "data"), { elsewhere });
    assert.equal(embedded.location, join(open, "data", "postgres"));
    await embedded.stop();
    await chmod(open, 0o700);
    await assert.rejects(
      startDatabase(join(open, "data"), { elsewhere }),
      (error) => (error as { code?: unknown }).code === "embedded.unreachable" && /chmod o\+x/.test(String(error)),
    );
    await assert.rejects(readdir(elsewhere));
  },
);

test("a data directory with a long path gets its socket in a short private folder", async () => {
  const embedded = await startDatabase(join(folder.path, "long".repeat(30)));
  const { host } = embedded.connection;
  assert.ok(Buffer.byteLength(`${host}/.s.PGSQL.5432`) <= 107 && !host.startsWith(embedded.location), host);
  assert.equal((await stat(host)).mode & 0o777, 0o700);
  await answers(embedded);
  await embedded.stop();
  await assert.rejects(stat(host), "the folder is gone with the database");
});
