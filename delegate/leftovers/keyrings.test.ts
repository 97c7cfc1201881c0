import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { hasSessionKeyring, createKeyrings, usersWithKeys } from "./keyrings.ts";
import { findProgram } from "../tasks/step-command.ts";
import { runAs, createTestLeftovers, testFolder, owner, PATH, withPython } from "../testing/leftovers-kit.ts";

test("users with keys are read from the kernel's table", () => {
  const text = "    0:     9 8/8 3/1000000 64/25000000\n2013529074:     2 2/2 2/200 40/20000\n";
  assert.deepEqual([...usersWithKeys(text)], [0, 2_013_529_074]);
  assert.deepEqual([...usersWithKeys("")], []);
});

/** A program with the arguments of `keyctl`, for machines without it. */
const KEYCTL = `#!/usr/bin/env python3
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
keyctl = {"x86_64": 250}.get(os.uname().machine, 219)
add_key = {"x86_64": 248}.get(os.uname().machine, 217)
rings = {"@u": -4, "@us": -5}
what, *args = sys.argv[1:]
calls = {"setperm": lambda a: (keyctl, 5, rings[a[0]], int(a[1], 16)), "clear": lambda a: (keyctl, 7, rings[a[0]]),
         "link": lambda a: (keyctl, 8, rings[a[0]], rings[a[1]]), "timeout": lambda a: (keyctl, 15, rings[a[0]], int(a[1])),
         "search": lambda a: (keyctl, 10, rings[a[0]], b"user", a[2].encode(), 0),
         "add": lambda a: (add_key, b"user", a[1].encode(), a[2].encode(), len(a[2]), rings[a[3]])}
if libc.syscall(*calls[what](args)) < 0: sys.exit(os.strerror(ctypes.get_errno()))
`;
const place = testFolder();
chmodSync(place, 0o711);
const standIn = join(place, "keyctl");
writeFileSync(standIn, KEYCTL, { mode: 0o755 });
const keyctl = findProgram("keyctl") ?? standIn;
/** The kernel keeps a user's keyrings as long as it runs: each test has users that no other run has had. */
let next = 0x6f00_0000 + Math.floor(Math.random() * 0x00ff_0000);
const newUser = (): number => next++;
const mayAdd = spawnSync(standIn, ["add", "user", "a", "a", "@u"], { env: { PATH }, uid: newUser() }).status === 0;
const withKeys = { skip: withPython.skip || (mayAdd ? false : "keys cannot be added here") };
const has = (uid: number, ring: string, name: string): boolean =>
  spawnSync(standIn, ["search", ring, "user", name], { env: { PATH }, uid, gid: uid }).status === 0;

test("both keyrings of an ended task's user are emptied before it is given back", withKeys, async (t) => {
  const user = newUser();
  runAs(user, standIn, "add", "user", "one", "1", "@u");
  runAs(user, standIn, "add", "user", "two", "2", "@us");
  assert.deepEqual([has(user, "@u", "one"), has(user, "@us", "two")], [true, true]);
  const leftovers = createTestLeftovers(t, [], { keyrings: createKeyrings(keyctl) });
  leftovers.releaseUser(owner(user));
  await leftovers.givenBack(user);
  assert.deepEqual([has(user, "@u", "one"), has(user, "@us", "two")], [false, false]);
  // The next task finds what it adds, as on a machine that has just started.
  runAs(user, standIn, "add", "user", "three", "3", "@u");
  assert.equal(has(user, "@us", "three"), true);
});

test(
  "a keyring whose rights a step has taken is emptied all the same, and gets its rights back",
  withKeys,
  async (t) => {
    const user = newUser();
    runAs(user, standIn, "add", "user", "one", "1", "@u");
    // The user may search it and change its rights, and nothing else.
    runAs(user, standIn, "setperm", "@u", "0x00280000");
    assert.notEqual(spawnSync(standIn, ["clear", "@u"], { env: { PATH }, uid: user, gid: user }).status, 0);
    const leftovers = createTestLeftovers(t, [], { keyrings: createKeyrings(keyctl) });
    leftovers.releaseUser(owner(user));
    await leftovers.givenBack(user);
    assert.equal(has(user, "@u", "one"), false);
    runAs(user, standIn, "add", "user", "two", "2", "@u");
  },
);

test("a keyring that nothing can clear any more keeps its own user, and no other", withKeys, async (t) => {
  const [first, second] = [newUser(), newUser()];
  for (const user of [first, second]) runAs(user, standIn, "add", "user", "one", "1", "@u");
  // The kernel removes it some time later: without rights even root could not.
  runAs(first, standIn, "timeout", "@u", "60");
  runAs(first, standIn, "setperm", "@u", "0");
  const keyrings = createKeyrings(keyctl);
  const refused = Promise.withResolvers<void>();
  const leftovers = createTestLeftovers(t, [], {
    keyrings: {
      ...keyrings,
      clear: (uid) =>
        keyrings.clear(uid).catch((error: unknown) => {
          refused.resolve();
          throw error;
        }),
    },
  });
  for (const user of [first, second]) leftovers.releaseUser(owner(user));
  await leftovers.givenBack(second);
  await refused.promise;
  assert.deepEqual(leftovers.order, [second]);
  assert.equal(has(second, "@u", "one"), false);
});

test("a session keyring of its own is told from that of the user, and from another user's", () => {
  const line = (user: number, name: string): string =>
    `04117847 I--Q---     2 perm 3f030000  ${user} 65534 keyring   ${name}: empty\n`;
  assert.equal(hasSessionKeyring(line(0, "_uid_ses.0") + line(0, "_uid.0"), 0), false);
  assert.equal(hasSessionKeyring(line(0, "_uid.0") + line(0, "_ses"), 0), true);
  assert.equal(hasSessionKeyring(line(1000, "_ses"), 0), false);
});
