import assert from "node:assert/strict";
import { test } from "node:test";
import { hasSession, usersWithKeys } from "./keyrings.ts";

test("users with keys are read from the kernel's table", () => {
  const text = "    0:     9 8/8 3/1000000 64/25000000\n2013529074:     2 2/2 2/200 40/20000\n";
  assert.deepEqual([...usersWithKeys(text)], [0, 2_013_529_074]);
  assert.deepEqual([...usersWithKeys("")], []);
});

test("a session keyring of its own is told from that of the user, and from another user's", () => {
  const line = (user: number, name: string): string =>
    `04117847 I--Q---     2 perm 3f030000  ${user} 65534 keyring   ${name}: empty\n`;
  assert.equal(hasSession(line(0, "_uid_ses.0") + line(0, "_uid.0"), 0), false);
  assert.equal(hasSession(line(0, "_uid.0") + line(0, "_ses"), 0), true);
  assert.equal(hasSession(line(1000, "_ses"), 0), false);
});
