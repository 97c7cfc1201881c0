/** Changes of the password, the user or the link during a sign-in: the state at its end counts. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import { requestDuringChange } from "../../../test/support/request-during-change.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { ADMIN, setUserPassword, PASSWORD } from "../../../test/support/sessions.ts";
import { createAudit } from "../../audit/index.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import { createSignInUsers } from "../../identity/index.ts";
import { hashPassword } from "../../platform/crypto/passwords.ts";
import type { Tx } from "../../platform/db/db.ts";
import { createAttempts } from "./attempts.ts";
import { changePassword } from "./change-password.ts";
import type { EnqueueHash } from "./hash-queue.ts";
import { resetPassword } from "./reset-password.ts";
import { signIn, type SignInDeps } from "./sign-in.ts";

const NEW = "seven grey herons at dusk";
const LIFETIMES = { idleMs: 3_600_000, mostMs: 3_600_000 };
const VISITOR = {
  facts: { correlationId: "c", remoteAddress: "192.0.2.1", method: "POST", path: "/auth/login" },
  userAgent: undefined,
};

let platform: TestPlatform;
let accountId: Uuid;
before(async () => {
  platform = await startTestPlatform();
  accountId = fromWire(platform.accountId) as Uuid;
});
after(() => platform?.stop());
beforeEach(async () => {
  await setUserPassword(platform);
  await platform.db.query("update users set active = true");
  for (const table of ["sign_in_failures", "sessions"]) await platform.db.query(`delete from ${table}`);
});

/** The dependencies of sign-in. `meanwhile` runs once, after the password was checked. */
function depsWith(meanwhile: () => Promise<unknown>): SignInDeps {
  const { db, clock } = platform;
  const newId = () => randomUUIDv7() as Uuid;
  let isDone = false;
  const enqueueHash: EnqueueHash = async (_hasher, work) => {
    const result = await work();
    if (!isDone) {
      isDone = true;
      await meanwhile();
    }
    return result;
  };
  return {
    ...{ db, clock, newId, enqueueHash, lifetimes: LIFETIMES },
    audit: createAudit({ clock, newId }),
    people: createSignInUsers({ db }),
    attempts: createAttempts({ db, clock }),
    devices: { of: () => undefined, remember: () => "" },
  };
}
const enter = (meanwhile: () => Promise<unknown>, password = PASSWORD) =>
  signIn(depsWith(meanwhile))({ email: ADMIN, password }, {}, VISITOR);
const sessions = () => platform.db.query("select 1 from sessions");
const setPassword = async (tx: Pick<Tx, "query">, password: string): Promise<void> => {
  await tx.query("update users set password_hash = $1 where email = $2", [await hashPassword(password), ADMIN]);
};
const deactivate = (tx: Pick<Tx, "query">) => tx.query("update users set active = false where email = $1", [ADMIN]);
const REFUSED = { code: "login.refused" };

test("a password that is changed or reset during the check opens no session", async () => {
  const deps = depsWith(async () => undefined);
  await assert.rejects(
    enter(() => resetPassword(deps)(accountId, ADMIN, { unlink: false })),
    REFUSED,
  );
  assert.deepEqual(await sessions(), []);
  await setUserPassword(platform);
  await assert.rejects(
    enter(() => setPassword(platform.db, NEW)),
    REFUSED,
  );
  assert.deepEqual(await sessions(), []);
  const [{ refused } = {}] = await platform.db.query<{ refused: number }>(
    "select count(*) as refused from audit_entries where operation = 'session.refuse'",
  );
  assert.equal(refused, 2);
});

test("a user who is deactivated during the password check is not signed in", async () => {
  await assert.rejects(
    enter(() => deactivate(platform.db)),
    REFUSED,
  );
  assert.deepEqual(await sessions(), []);
});

test("sign-in waits for an uncommitted password change, and then uses it", async () => {
  for (const change of [(tx: Tx) => setPassword(tx, NEW), deactivate]) {
    await setUserPassword(platform);
    const entering = requestDuringChange(platform.db, change, () => enter(async () => undefined));
    await assert.rejects(entering, { code: "login.refused" });
    assert.deepEqual(await sessions(), []);
  }
});

test("a password whose hash is renewed meanwhile, for example by another sign-in, is checked again", async () => {
  const { person } = await enter(() => setPassword(platform.db, PASSWORD));
  assert.equal(person.email, ADMIN);
  assert.equal((await sessions()).length, 1);
});

test("a user who is deactivated during a password change gets no session", async () => {
  const live = async () => {
    const person = await createSignInUsers(platform).byEmail(accountId, ADMIN);
    assert.ok(person);
    const session = { method: "PASSWORD" } as const;
    return { accountId, person, session } as never;
  };
  const deps = {
    ...depsWith(() => deactivate(platform.db)),
    sessionGuard: { requireWithOneTimePassword: live },
    notifyCredentialsEnded: () => undefined,
  };
  await assert.rejects(changePassword(deps)({ currentPassword: PASSWORD, newPassword: NEW }, {}, VISITOR), {
    code: "login.wrong_current",
  });
  assert.deepEqual(await sessions(), []);
});

test("a session that ends while the new password is hashed changes nothing and opens no other session", async () => {
  const { opened, person } = await enter(async () => undefined);
  const deps = {
    ...depsWith(() => platform.db.query("delete from sessions")),
    sessionGuard: {
      requireWithOneTimePassword: async () =>
        ({ accountId, person, session: { id: opened.id, method: "PASSWORD" } }) as never,
    },
    notifyCredentialsEnded: () => undefined,
  };
  await assert.rejects(changePassword(deps)({ currentPassword: PASSWORD, newPassword: NEW }, {}, VISITOR), {
    code: "login.no_session",
  });
  assert.deepEqual(await sessions(), []);
  assert.equal((await enter(async () => undefined)).person.email, ADMIN, "the password is what it was");
});
