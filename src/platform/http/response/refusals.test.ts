/** What the log says of a refusal. What the trail says of it is tested with the trail. */
import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { JSON_TYPE } from "../../../../test/support/contract.ts";
import { startTestPlatform } from "../../../../test/support/platform.ts";

test("a refusal is one line of the log, with the reason and without a stack", async () => {
  const written: string[] = [];
  const logTo = new Writable({ write: (chunk, _encoding, done) => (written.push(String(chunk)), done()) });
  const platform = await startTestPlatform({ logTo });
  try {
    const apiKey = await platform.addUser("_account_viewer");
    const body = JSON.stringify({ identifier: "mine", name: "mine", permissions: [] });
    const { status } = await platform.send("POST", "/authz/api/roles", { apiKey, contentType: JSON_TYPE, body });
    assert.equal(status, 403);
    const [line, ...others] = written
      .join("")
      .split("\n")
      .filter((text) => text.includes("access.not_permitted"));
    assert.deepEqual(others, []);
    assert.ok(line);
    assert.match(line, /"why":"[^"]+ lacks core_role_edit/);
    assert.doesNotMatch(line, /stack|\.ts:\d/);
    assert.ok(line.length < 500, line);
  } finally {
    await platform.stop();
  }
});
