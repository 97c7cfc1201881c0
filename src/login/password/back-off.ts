/**
 * Pauses after failed attempts to sign in. An attacker can cause a pause and no permanent lock, and a browser that has
 * signed in before is not affected by others (docs/api/login.md, "After failed attempts").
 */
import { hash } from "node:crypto";
import { networkOf } from "../../platform/network-of.ts";

export type Tally = { readonly failures: number; readonly blockedUntil: number; readonly lastAt: number };

type Policy = {
  /** The number of failures without a pause, for typing errors. */
  readonly free: number;
  /** The longest pause in milliseconds. */
  readonly mostMs: number;
};

export const POLICIES = {
  /** One person from one address, or from one known browser. */
  pair: { free: 10, mostMs: 15 * 60_000 },
  /** One address, for all persons. */
  address: { free: 30, mostMs: 15 * 60_000 },
  /**
   * One person from anywhere, against guesses from many addresses. The pause is short, since it also delays the person.
   */
  person: { free: 50, mostMs: 60_000 },
} as const satisfies Record<string, Policy>;

export type Subject = { readonly key: string; readonly policy: keyof typeof POLICIES };

/** Failures are deleted after this time in milliseconds without another one. */
export const FAILURE_RETENTION_MS = 60 * 60_000;
const FIRST_PAUSE_MS = 1_000;

/** The tally after one more attempt, which counts as failed until `succeed` is called. */
export function afterAttempt(tally: Tally | undefined, policy: Policy, now: number): Tally {
  const failures = (tally && tally.lastAt + FAILURE_RETENTION_MS > now ? tally.failures : 0) + 1;
  const over = failures - policy.free;
  // 2 ** 40 milliseconds are longer than every pause.
  const pause = over < 1 ? 0 : Math.min(policy.mostMs, FIRST_PAUSE_MS * 2 ** Math.min(over - 1, 30));
  return { failures, blockedUntil: now + pause, lastAt: now };
}

/**
 * The subjects that an attempt counts for. A browser where this person has signed in before counts alone: attempts of
 * others with the person's name, or from the same address, do not delay it.
 */
export function attemptSubjects(attempt: {
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

/** The key of one person from anywhere. */
export const keyOfPerson = (email: string): string => keyOf("person", email.trim().toLowerCase());

/**
 * The subject of a password change. It is separate from sign-in: guesses in an unattended browser do not delay
 * sign-ins.
 */
export const subjectOfChange = (userId: string): Subject => ({ key: keyOf("change", userId), policy: "pair" });

/** The subject of opening invitations from an address. It does not delay sign-ins from there. */
export const subjectOfInvitation = (address: string): Subject => ({
  key: keyOf("invitation", networkOf(address)),
  policy: "address",
});

const keyOf = (kind: string, ...parts: readonly string[]): string =>
  `${kind} ${hash("sha256", JSON.stringify(parts), "base64url")}`;
