/** For tests of what steps leave behind: users without a task, and the delegate's search for what is left of them. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext } from "node:test";
import type { Keyrings } from "../leftovers/keyrings.ts";
import { type Leftovers, createLeftovers } from "../leftovers/leftovers.ts";
import type { StepOwner } from "../isolation/step-user.ts";
import { silentLog } from "./kit.ts";

/** No other process of the machine has them, and no delegate's steps. */
export const A = 0x6e00_0000 + 4 * process.pid;
export const B = A + 1;
/** A step's user that no task has, where a test says so. */
export const UNUSED = A + 2;
export const PATH = "/usr/bin:/bin";
const isRoot = process.getuid?.() === 0;
export const onlyAsRoot = { skip: isRoot ? false : "needs root" };
const hasPython = spawnSync("python3", ["-c", ""], { env: { PATH } }).status === 0;
export const withPython = { skip: isRoot && hasPython ? false : "needs root and python3 in /usr/bin" };

/** A folder that every user can pass through; it goes after the file's tests. */
export function testFolder(): string {
  const place = mkdtempSync(join(tmpdir(), "railhead-leftovers-"));
  after(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

export const owner = (uid: number): StepOwner => ({ uid, gid: uid, ownUser: true });

/** Runs the program as the user. Answers what it has printed. */
export const runAs = (uid: number, program: string, ...args: string[]): string => {
  const { status, stdout, stderr } = spawnSync(program, args, {
    uid,
    gid: uid,
    cwd: "/",
    env: { PATH },
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  return stdout;
};

export type TestLeftovers = Leftovers & {
  readonly givenBack: (uid: number) => Promise<void>;
  /** The users released so far, in order. */
  readonly order: readonly number[];
};

type Hooks = {
  /** Called with each user that has leftovers in a folder. */
  readonly asks?: (uid: number) => void;
  readonly isUnused?: (uid: number) => boolean;
  readonly keep?: (owner: StepOwner) => void;
  readonly keyrings?: Keyrings;
};

export function createTestLeftovers(t: TestContext, folders: readonly string[], hooks: Hooks = {}): TestLeftovers {
  const back = new Map<number, PromiseWithResolvers<void>>();
  const order: number[] = [];
  const of = (uid: number): PromiseWithResolvers<void> => {
    const one = back.get(uid) ?? Promise.withResolvers<void>();
    back.set(uid, one);
    return one;
  };
  // Each moment is a second later, so that no change is too young to be sure of.
  let now = Date.now();
  const made = createLeftovers({
    log: silentLog(),
    timers: {
      now: () => (now += 1_000),
      elapsed: () => (now += 1_000),
      after: (_, run) => {
        const timer = setImmediate(run);
        return () => clearImmediate(timer);
      },
    },
    everyMs: 1,
    user: {
      release: ({ uid }) => {
        order.push(uid);
        of(uid).resolve();
      },
      isUnused: (uid) => {
        hooks.asks?.(uid);
        return hooks.isUnused?.(uid) ?? false;
      },
      isOurs: (uid) => uid === A || uid === B || uid === UNUSED,
      reserve: (kept) => hooks.keep?.(kept),
    },
    folders: () => folders,
    keyrings: hooks.keyrings ?? { users: () => new Set(), clear: () => Promise.resolve() },
  });
  t.after(made.stop);
  return { ...made, givenBack: (uid) => of(uid).promise, order };
}
