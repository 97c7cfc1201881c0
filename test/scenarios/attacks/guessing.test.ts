/** Attack class 29: guessing passwords and finding existing users; and of class 28 the comparison of response times. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { pretendBrowser } from "../../support/clients/browser.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../support/platform.ts";
import { ADMIN, setUserPassword, PASSWORD } from "../../support/sessions.ts";

let platform: TestPlatform;
let replica: TestPlatform;
let statements: string[] = [];
before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) => ({
      ...db,
      query: (text, values) => {
        statements.push(text);
        return db.query(text, values);
      },
      transaction: (work) =>
        db.transaction((tx) =>
          work({
            ...tx,
            query: (text, values) => {
              statements.push(text);
              return tx.query(text, values);
            },
          }),
        ),
    }),
  });
  replica = await platform.replica();
  await setUserPassword(platform);
});
after(() => platform?.stop());
beforeEach(async () => {
  await platform.db.query("delete from sign_in_failures");
  platform.clock.advance(2_000);
});

const WRONG = "not the right one at all";
const guess = (at: TestPlatform, email: string, password = WRONG): Promise<Answer> =>
  pretendBrowser(at).signIn(email, password);
const guessed = async (times: number, email = ADMIN): Promise<readonly number[]> => {
  const statuses: number[] = [];
  for (let n = 0; n < times; n += 1) statuses.push((await guess(n % 2 === 0 ? platform : replica, email)).status);
  return statuses;
};
/** Returns all of a response except its id. */
const shown = ({ status, text, body, headers }: Answer): unknown => ({
  status,
  text: text.replaceAll(body?.correlationId ?? "\0", ""),
  headers: [...headers].filter(([name]) => !["date", "content-length"].includes(name)),
});

test("an existing and an unknown user are refused alike: with a wrong password, and after too many attempts", async () => {
  await platform.addUser("_account_admin");
  const [{ email: withoutPassword } = { email: "" }] = await platform.db.query<{ email: string }>(
    "select email from users where password_hash = ''",
  );
  for (let n = 0; n < 12; n += 1) {
    const [existing, unknown, keyOnly] = [
      await guess(platform, ADMIN),
      await guess(platform, "unknown@example.com"),
      await guess(platform, withoutPassword),
    ];
    assert.equal(existing.status, n < 11 ? 401 : 429, existing.text);
    assert.deepEqual(shown(existing), shown(unknown));
    assert.deepEqual(shown(existing), shown(keyOnly));
    // The three subjects share an address. Only the limits per user are compared here.
    await platform.db.query("delete from sign_in_failures where subject like 'address %'");
  }
});

test("an existing and an unknown user cost the same statements and one hash", async () => {
  const measured = async (email: string): Promise<{ readonly work: readonly string[]; readonly ms: number }> => {
    let ms = Infinity;
    let work: readonly string[] = [];
    for (let n = 0; n < 3; n += 1) {
      statements = [];
      const from = process.cpuUsage();
      assert.equal((await guess(platform, email)).status, 401);
      // Processor time including the threads of the hash. Other programs of the machine do not change it.
      const { user, system } = process.cpuUsage(from);
      ms = Math.min(ms, (user + system) / 1_000);
      work = statements;
    }
    return { work, ms };
  };
  const [existing, unknown] = [await measured(ADMIN), await measured("unknown@example.com")];
  assert.ok(existing.work.length > 5);
  assert.deepEqual(unknown.work, existing.work);
  // Without a hash the time would be a tenth. The benchmark compares the times closely.
  assert.ok(unknown.ms > existing.ms / 3, `${unknown.ms} ms for unknown, ${existing.ms} ms for existing`);
});

test("after ten failures, pauses begin and double, on all replicas; the correct password does not shorten them", async () => {
  assert.deepEqual(await guessed(11), Array(11).fill(401));
  for (const seconds of [1, 2, 4, 8]) {
    for (const at of [platform, replica])
      for (const password of [WRONG, PASSWORD]) {
        const answer = await guess(at, ADMIN, password);
        assert.equal(answer.status, 429, answer.text);
        assert.equal(answer.headers.get("retry-after"), String(seconds));
        assert.equal(answer.body.status, "Error");
      }
    platform.clock.advance(seconds * 1_000);
    assert.equal((await guess(platform, ADMIN)).status, 401);
  }
});

test("a pause is at most fifteen minutes, attempts do not prolong it, and after an hour the failures are forgotten", async () => {
  await guessed(11);
  await platform.db.query("update sign_in_failures set failures = 5000, blocked_until = 0");
  assert.equal((await guess(platform, ADMIN)).status, 401);
  assert.equal((await guess(platform, ADMIN)).headers.get("retry-after"), "900");
  platform.clock.advance(14 * 60_000);
  assert.equal((await guess(replica, ADMIN)).headers.get("retry-after"), "60");
  platform.clock.advance(60_000);
  assert.equal((await guess(platform, ADMIN, PASSWORD)).status, 200);
  await guessed(11);
  platform.clock.advance(60 * 60_000);
  assert.deepEqual(await guessed(11), Array(11).fill(401));
});

test("concurrent attempts get no further than sequential ones", async () => {
  const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => guess(n % 2 ? platform : replica, ADMIN)));
  const looked = answers.filter(({ status }) => status === 401).length;
  assert.equal(looked, 11, JSON.stringify(answers.map(({ status }) => status)));
});

test("an address that tries many users is slowed down, and its own success does not help", async () => {
  for (let n = 0; n < 31; n += 1) {
    if (n % 8 === 7) assert.equal((await guess(platform, ADMIN, PASSWORD)).status, 200);
    assert.equal((await guess(platform, `person${n}@example.com`)).status, 401, String(n));
  }
  assert.equal((await guess(platform, "another@example.com")).status, 429);
});

test("others cannot lock a user out: a browser that has signed in before may sign in while they guess", async () => {
  const known = pretendBrowser(platform);
  assert.equal((await known.signIn(ADMIN, PASSWORD)).status, 200);
  known.forget("railhead_session");
  await guessed(60);
  await platform.db.query("update sign_in_failures set failures = 5000, blocked_until = $1", [
    platform.clock.now() + 900_000,
  ]);
  const stranger = pretendBrowser(platform);
  assert.equal((await stranger.signIn(ADMIN, PASSWORD)).status, 429);
  assert.equal((await known.signIn(ADMIN, PASSWORD)).status, 200);
  // Cookies of other browsers, changed cookies and invented cookies have no effect.
  const cookie = known.cookies()["railhead_device"] ?? "";
  for (const value of [`${cookie.slice(0, -2)}AA`, "x", ""]) {
    const answer = await platform.send("POST", "/auth/login", {
      apiKey: null,
      contentType: "application/json",
      body: JSON.stringify({ email: ADMIN, password: PASSWORD }),
      headers: { cookie: `railhead_device=${value}` },
    });
    assert.equal(answer.status, 429, value);
  }
  // The known browser has its own limit: a stolen cookie does not help to guess.
  for (let n = 0; n < 11; n += 1) assert.equal((await known.signIn(ADMIN, WRONG)).status, 401);
  assert.equal((await known.signIn(ADMIN, PASSWORD)).status, 429);
});

test("guessing the current password in a signed-in browser is slowed down, too", async () => {
  const browser = pretendBrowser(platform);
  await browser.signIn(ADMIN, PASSWORD);
  const change = (currentPassword: string) =>
    browser.send("POST", "/auth/password", { currentPassword, newPassword: "seven grey herons at dusk" });
  for (let n = 0; n < 11; n += 1) assert.equal((await change(WRONG)).status, 400);
  assert.equal((await change(PASSWORD)).status, 429);
  assert.equal((await guess(platform, ADMIN, PASSWORD)).status, 200, "signing in is another matter");
});

test("the counters name no user and no address", async () => {
  await guess(platform, ADMIN);
  const rows = await platform.db.query<{ text: string }>("select f::text as text from sign_in_failures f");
  assert.equal(rows.length, 3);
  assert.ok(rows.every(({ text }) => !/railhead\.local|127\.0/.test(text)));
});
