/** Pauses after failed sign-ins behind a proxy, and the address in the audit trail. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setUserPassword, PASSWORD } from "../../test/support/sessions.ts";
import { pretendBrowser } from "../../test/support/clients/browser.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";

const ADMIN = "admin@railhead.local";
/** More failures than an address, or a person from an address, has without a pause. */
const ATTEMPTS = 44;

let behindProxy: TestPlatform;
let direct: TestPlatform;
before(async () => {
  [behindProxy, direct] = await Promise.all([
    startTestPlatform({ trustedProxies: ["127.0.0.0/8"] }),
    startTestPlatform(),
  ]);
  for (const platform of [behindProxy, direct]) await setUserPassword(platform, ADMIN);
});
after(async () => {
  await behindProxy?.stop();
  await direct?.stop();
});

const from = (forwarded: string) => ({ headers: { "x-forwarded-for": forwarded } });

const signIn = (platform: TestPlatform, forwarded: string, password = PASSWORD): Promise<Answer> =>
  pretendBrowser(platform).send("POST", "/auth/login", { email: ADMIN, password }, from(forwarded));

/** Sends one wrong sign-in per header. Returns the statuses. */
async function fail(platform: TestPlatform, forwarded: (nth: number) => string): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let nth = 0; nth < ATTEMPTS; nth += 1)
    statuses.push((await signIn(platform, forwarded(nth), "not the password")).status);
  return statuses;
}

const newestAddress = async (platform: TestPlatform, operation: string): Promise<unknown> => {
  const [entry] = await platform.db.query<{ address: string }>(
    "select remote_address as address from audit_entries where operation = $1 order by at desc, id desc limit 1",
    [operation],
  );
  return entry?.address;
};

test("44 wrong sign-ins from another address delay neither the known browser nor a third address", async () => {
  const known = pretendBrowser(behindProxy);
  const home = from("198.51.100.7");
  assert.equal((await known.send("POST", "/auth/login", { email: ADMIN, password: PASSWORD }, home)).status, 200);
  const statuses = await fail(behindProxy, () => "203.0.113.66");
  assert.ok(statuses.includes(429));
  assert.equal(await newestAddress(behindProxy, "session.refuse"), "203.0.113.66");
  assert.equal((await signIn(behindProxy, "203.0.113.66")).status, 429);
  // The known browser has its own count, even from the attacker's address, as behind one router.
  const beside = await known.send("POST", "/auth/login", { email: ADMIN, password: PASSWORD }, from("203.0.113.66"));
  assert.equal(beside.status, 200, beside.text);
  // A browser that has never signed in, from another address.
  assert.equal((await signIn(behindProxy, "198.51.100.8")).status, 200);
  assert.equal(await newestAddress(behindProxy, "session.create"), "198.51.100.8");
});

test("an x-forwarded-for entry that the client adds through a trusted proxy is ignored: its own address counts", async () => {
  const statuses = await fail(behindProxy, (nth) => `192.0.2.${nth}, 203.0.113.77`);
  assert.ok(statuses.includes(429), "another first address each time was taken for another client");
  assert.equal(await newestAddress(behindProxy, "session.refuse"), "203.0.113.77");
});

test("the x-forwarded-for header of an untrusted peer is ignored", async () => {
  const statuses = await fail(direct, (nth) => `192.0.2.${nth}`);
  assert.ok(statuses.includes(429), "another header each time was taken for another client");
  assert.equal(await newestAddress(direct, "session.refuse"), "127.0.0.1");
});
