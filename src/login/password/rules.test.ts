/** Rules for passwords, pauses, addresses and cookies, without a server. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { networkOf } from "../../platform/network-of.ts";
import { afterAttempt, FAILURE_RETENTION_MS, POLICIES, attemptSubjects, type Tally } from "./back-off.ts";
import { createCookies } from "../session/cookies.ts";
import { ownOrigins } from "../session/origin.ts";
import { passwordFault } from "./password-rules.ts";

const PERSON = { email: "maria.lindgren@example.com", name: "Maria Lindgren" };
const fault = (password: string): string | undefined => passwordFault(password, PERSON);

test("accepted passwords are long and not among the first guesses", () => {
  for (const password of [
    "plum-lantern-orbit-42",
    "seven grey herons at dusk",
    "q8#Vt2!mZx7Lp",
    "grüne Äpfel im Oktober",
    "Maria hat drei kleine Katzen",
    "пароль которого никто не знает",
    "my password is a long sentence",
    "x".repeat(3) + "-orbit-" + "y".repeat(180),
  ])
    assert.equal(fault(password), undefined, password);
});

test("refused passwords, each with its reason", () => {
  for (const [password, reason] of [
    ["", "0 characters"],
    ["short-one-1", "11 characters"],
    ["ééééé", "5 characters"],
    ["x-orbit-".repeat(26), "more than 200"],
    ["maria.lindgren@example.com", "your name or e-mail"],
    ["Maria.Lindgren1", "your name or e-mail"],
    ["railhead-2026", "your name or e-mail"],
    ["aaaaaaaaaaaa", "repeats itself"],
    ["abcabcabcabc", "repeats itself"],
    ["123456789012", "repeats itself"],
    ["zyxwvutsrqponm", "repeats itself"],
    ["qwertyuiopasdf", "repeats itself"],
    ["Password1234", "tried first"],
    ["P@ssw0rd!!2026", "tried first"],
    ["passwordpassword", "tried first"],
    ["welcomeadmin123", "tried first"],
    ["CorrectHorseBatteryStaple", "tried first"],
    ["1234567890ab", "tried first"],
  ] as const) {
    assert.match(fault(password) ?? "taken", new RegExp(reason), password);
  }
});

test("a long text of common words is checked quickly, with every ending", () => {
  const started = process.cpuUsage();
  assert.equal(fault(`${"password".repeat(24)}jqv`), undefined);
  // Processor time in microseconds: other programs of the machine do not change it.
  assert.ok(process.cpuUsage(started).user < 1_000_000);
});

test("a pause begins after the free attempts, doubles, is limited, and is forgotten after an hour", () => {
  let tally: Tally | undefined;
  const pauses: number[] = [];
  let now = 1_000_000;
  for (let n = 0; n < 60; n += 1) {
    tally = afterAttempt(tally, POLICIES.pair, now);
    pauses.push(tally.blockedUntil - now);
    now = Math.max(now, tally.blockedUntil);
  }
  assert.deepEqual(pauses.slice(0, 14), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1_000, 2_000, 4_000, 8_000]);
  assert.equal(Math.max(...pauses), 15 * 60_000);
  assert.equal(afterAttempt(tally, POLICIES.pair, now + FAILURE_RETENTION_MS).failures, 1);
  assert.equal(
    afterAttempt({ failures: 4_000, blockedUntil: 0, lastAt: now }, POLICIES.person, now).blockedUntil,
    now + 60_000,
  );
});

test("an IPv6 address counts as its /64 network, an IPv4 address as itself in every notation", () => {
  assert.equal(networkOf("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  assert.equal(networkOf("2001:DB8:1:2::1"), networkOf("2001:0db8:1:2:ffff::9"));
  assert.notEqual(networkOf("2001:db8:1:3::1"), networkOf("2001:db8:1:2::1"));
  assert.equal(networkOf("::1"), "0:0:0:0::/64");
  assert.equal(networkOf("::ffff:192.0.2.7"), "192.0.2.7");
  assert.equal(networkOf("fe80::1%eth0"), "fe80:0:0:0::/64");
  const keys = (address: string, email = "A@example.com") =>
    attemptSubjects({ email, address, device: undefined }).map(({ key }) => key);
  assert.deepEqual(keys("2001:db8::1"), keys("2001:db8::2", " a@EXAMPLE.com "));
});

test("behind https the cookies are bound to the host; over plain http they have other names", () => {
  const secure = createCookies(() => "https://ci.example.com");
  const plain = createCookies(() => "http://127.0.0.1:7070");
  assert.equal(
    secure.write("session", "v", { seconds: 60 }),
    "__Host-railhead_session=v; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure",
  );
  assert.equal(plain.clear("session"), "railhead_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
  assert.equal(secure.read({ cookie: "railhead_session=a" }, "session"), undefined);
  assert.equal(secure.read({ cookie: "x=y; __Host-railhead_session=a ;z" }, "session"), "a");
  assert.equal(secure.read({ cookie: "__Host-railhead_session=a; __Host-railhead_session=b" }, "session"), undefined);
  assert.equal(plain.read({}, "session"), undefined);
});

test("own origins: the public address, and on the loopback address all of its names", () => {
  assert.deepEqual(ownOrigins("https://ci.example.com/railhead"), ["https://ci.example.com"]);
  assert.deepEqual(ownOrigins("http://127.0.0.1:7070"), [
    "http://localhost:7070",
    "http://127.0.0.1:7070",
    "http://[::1]:7070",
  ]);
  assert.deepEqual(ownOrigins(""), []);
});
