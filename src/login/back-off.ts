/**
 * How failed attempts to sign in are slowed down, never for good: what an attacker can cause is a pause, and a person
 * with a browser that has signed in before does not share it (docs/api/login.md, "After failed attempts").
 */
import { hash } from "node:crypto";
import { isIP } from "node:net";

export type Tally = { readonly failures: number; readonly blockedUntil: number; readonly lastAt: number };

type Policy = {
  /** So many failures cost nothing: people mistype. */
  readonly free: number;
  /** The longest pause. */
  readonly mostMs: number;
};

export const POLICIES = {
  /** One person from one address, or from one known browser. */
  pair: { free: 10, mostMs: 15 * 60_000 },
  /** One address, whomever it tries. */
  address: { free: 30, mostMs: 15 * 60_000 },
  /** One person from anywhere: many addresses guess together. Short, since it holds up the person as well. */
  person: { free: 50, mostMs: 60_000 },
} as const satisfies Record<string, Policy>;

export type Subject = { readonly key: string; readonly policy: keyof typeof POLICIES };

/** Failures that nothing followed for so long are forgotten. */
export const FORGET_MS = 60 * 60_000;
const FIRST_PAUSE_MS = 1_000;

/** The tally after one more attempt, which counts as failed until it has succeeded. */
export function afterAttempt(tally: Tally | undefined, policy: Policy, now: number): Tally {
  const failures = (tally && tally.lastAt + FORGET_MS > now ? tally.failures : 0) + 1;
  const over = failures - policy.free;
  // 2 ** 40 milliseconds are more than any pause.
  const pause = over < 1 ? 0 : Math.min(policy.mostMs, FIRST_PAUSE_MS * 2 ** Math.min(over - 1, 30));
  return { failures, blockedUntil: now + pause, lastAt: now };
}

/**
 * Whom an attempt counts against. A browser that this person has signed in with before stands for itself: whatever
 * others do to the person's name, or from the same address, does not hold it up.
 */
export function subjectsOf(attempt: {
  email: string;
  address: string;
  device: string | undefined;
}): readonly Subject[] {
  const person = attempt.email.trim().toLowerCase();
  const address = networkOf(attempt.address);
  if (attempt.device !== undefined) return [{ key: keyOf("device", person, attempt.device), policy: "pair" }];
  return [
    { key: keyOf("address", address), policy: "address" },
    { key: keyOf("pair", person, address), policy: "pair" },
    { key: keyOfPerson(person), policy: "person" },
  ];
}

/** One person, from anywhere. */
export const keyOfPerson = (email: string): string => keyOf("person", email.trim().toLowerCase());

/** Whoever has found an open browser guesses apart from those who sign in, and holds up none of them. */
export const subjectOfChange = (userId: string): Subject => ({ key: keyOf("change", userId), policy: "pair" });

const keyOf = (kind: string, ...parts: readonly string[]): string =>
  `${kind} ${hash("sha256", JSON.stringify(parts), "base64url")}`;

/** Whoever has one address of version 6 has the whole /64. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
  if (isIP(plain) !== 6) return plain;
  const [head = "", tail] = plain.toLowerCase().split("::");
  const groups = head === "" ? [] : head.split(":");
  const rest = tail === undefined || tail === "" ? [] : tail.split(":");
  const missing = tail === undefined ? 0 : 8 - groups.length - rest.length;
  const all = [...groups, ...Array.from({ length: missing }, () => "0"), ...rest];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
