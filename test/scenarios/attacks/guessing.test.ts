/** Attack class 29: guessing passwords, and finding out who there is; and class 28's part of it, that nothing tells by its time. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { pretendBrowser } from "../../support/browser.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../support/platform.ts";
import { ADMIN, givePassword, PASSWORD } from "../../support/sessions.ts";

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
  await givePassword(platform);
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
/** All that an answer shows, but the id that each has of its own. */
const shown = ({ status, text, body, headers }: Answer): unknown => ({
  status,
  text: text.replaceAll(body?.correlationId ?? "\0", ""),
  headers: [...headers].filter(([name]) => !["date", "content-length"].includes(name)),
});

test("somebody and nobody are refused alike: with a wrong password, and when there were too many", async () => {
  await platform.addUser("_account_admin");
  const [{ email: withoutPassword } = { email: "" }] = await platform.db.query<{ email: string }>(
    "select email from users where password_hash = ''",
  );
  for (let n = 0; n < 12; n += 1) {
    const [somebody, nobody, keyOnly] = [
      await guess(platform, ADMIN),
      await guess(platform, "nobody@example.com"),
      await guess(platform, withoutPassword),
    ];
    assert.equal(somebody.status, n < 11 ? 401 : 429, somebody.text);
    assert.deepEqual(shown(somebody), shown(nobody));
    assert.deepEqual(shown(somebody), shown(keyOnly));
    // Three share the address: what is compared here is the person.
    await platform.db.query("delete from sign_in_failures where subject like 'address %'");
  }
});

test("the same statements and a hash are the work for somebody and for nobody", async () => {
  const measured = async (email: string): Promise<{ readonly work: readonly string[]; readonly ms: number }> => {
    let ms = Infinity;
    let work: readonly string[] = [];
    for (let n = 0; n < 3; n += 1) {
      statements = [];
      const from = process.cpuUsage();
      assert.equal((await guess(platform, email)).status, 401);
      // Time on the processor, the threads of the hash included: other programs of the machine do not change it.
      const { user, system } = process.cpuUsage(from);
      ms = Math.min(ms, (user + system) / 1_000);
      work = statements;
    }
    return { work, ms };
  };
  const [somebody, nobody] = [await measured(ADMIN), await measured("nobody@example.com")];
  assert.ok(somebody.work.length > 5);
  assert.deepEqual(nobody.work, somebody.work);
  // Without a hash it would be a tenth; how equal the times are is for the benchmark.
  assert.ok(nobody.ms > somebody.ms / 3, `${nobody.ms} ms for nobody, ${somebody.ms} ms for somebody`);
});

test("after ten failures pauses begin and double, over replicas; the right password does not shorten them", async () => {
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

test("a pause is fifteen minutes at most, attempts during it do not prolong it, and after an hour all is forgotten", async () => {
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

test("many at once get no further than one after the other", async () => {
  const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => guess(n % 2 ? platform : replica, ADMIN)));
  const looked = answers.filter(({ status }) => status === 401).length;
  assert.equal(looked, 11, JSON.stringify(answers.map(({ status }) => status)));
});

test("one address that tries many people is slowed down, and a success of its own does not help it", async () => {
  for (let n = 0; n < 31; n += 1) {
    if (n % 8 === 7) assert.equal((await guess(platform, ADMIN, PASSWORD)).status, 200);
    assert.equal((await guess(platform, `person${n}@example.com`)).status, 401, String(n));
  }
  assert.equal((await guess(platform, "another@example.com")).status, 429);
});

test("nobody is locked out by others: a browser that has signed in before gets in while they guess", async () => {
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
  // The cookie of somebody else's browser, a changed one and a made-up one are worth nothing.
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
  // It counts for itself: a stolen one guesses no better.
  for (let n = 0; n < 11; n += 1) assert.equal((await known.signIn(ADMIN, WRONG)).status, 401);
  assert.equal((await known.signIn(ADMIN, PASSWORD)).status, 429);
});

test("guessing the current password in an open browser is slowed down too", async () => {
  const browser = pretendBrowser(platform);
  await browser.signIn(ADMIN, PASSWORD);
  const change = (currentPassword: string) =>
    browser.send("POST", "/auth/password", { currentPassword, newPassword: "seven grey herons at dusk" });
  for (let n = 0; n < 11; n += 1) assert.equal((await change(WRONG)).status, 400);
  assert.equal((await change(PASSWORD)).status, 429);
  assert.equal((await guess(platform, ADMIN, PASSWORD)).status, 200, "signing in is another matter");
});

test("the tallies name no person and no address", async () => {
  await guess(platform, ADMIN);
  const rows = await platform.db.query<{ text: string }>("select f::text as text from sign_in_failures f");
  assert.equal(rows.length, 3);
  assert.ok(rows.every(({ text }) => !/railhead\.local|127\.0/.test(text)));
});
