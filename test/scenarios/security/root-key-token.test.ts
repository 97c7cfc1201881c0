/** A root key protected by a PKCS#11 token. The server runs RAILHEAD_ROOT_KEY_COMMAND at each start. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { databaseByAddress } from "../../support/database.ts";
import { createServerFolder, runServer, startServer } from "../../support/processes/server-process.ts";
import { createToken, tokenIsMissing } from "../../support/services/token.ts";

test("the key comes from the token, a wrong PIN ends the start, and another key does not open the database", async (t) => {
  const missing = await tokenIsMissing();
  if (missing !== undefined) return t.skip(missing);
  const [token, folder, database] = await Promise.all([
    createToken(),
    createServerFolder(),
    databaseByAddress("migrated"),
  ]);
  t.after(() => Promise.all([token.remove(), folder.remove(), database.drop()]));
  const key = randomBytes(32);
  const command = await token.protect("root.key.enc", key);
  const base = { DATABASE_URL: database.url, RAILHEAD_LOCAL_DELEGATE: "off", ...token.env };

  const server = await startServer(folder, { ...base, RAILHEAD_ROOT_KEY_COMMAND: command });
  await server.end("SIGTERM");
  assert.ok(!existsSync(join(folder.dataDir, "root.key")));
  // The root key is the key that the token has decrypted.
  const same = await startServer(folder, { ...base, RAILHEAD_ROOT_KEY: key.toString("base64") });
  await same.end("SIGTERM");

  const wrongPin = await runServer(folder, { ...base, RAILHEAD_ROOT_KEY_COMMAND: command, TOKEN_PIN: "111111" });
  assert.equal(wrongPin.code, 1);
  assert.match(
    wrongPin.stderr,
    /RAILHEAD_ROOT_KEY_COMMAND: the program .*pkcs11-tool gave no key: .*CKR_PIN_INCORRECT/,
  );
  const other = await token.protect("other.enc", randomBytes(32));
  const wrongKey = await runServer(folder, { ...base, RAILHEAD_ROOT_KEY_COMMAND: other });
  assert.equal(wrongKey.code, 1);
  assert.match(
    wrongKey.stderr,
    /This database is sealed under the key [0-9a-f]{16}; the server was given the root key [0-9a-f]{16}\./,
  );
  for (const { stderr, stdout } of [server, same]
    .map((one) => ({ stderr: one.stderr(), stdout: one.stdout() }))
    .concat(wrongPin, wrongKey))
    for (const form of [key.toString("base64"), key.toString("hex"), token.env["TOKEN_PIN"] ?? ""])
      assert.ok(!stderr.includes(form) && !stdout.includes(form));
});
