import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createPlace, silentLog } from "../../testing/kit.ts";
import { systemTimers, type Timers } from "../../timers.ts";
import { createLauncher } from "./client.ts";
import type { FromLauncher, StepOrder } from "../messages.ts";
import type { Runner } from "./runner.ts";

const KEY = "task.1";
const started: FromLauncher = { kind: "started", key: KEY, pid: 1, startTime: "1" };
const exited = (isComplete: boolean): FromLauncher => ({ kind: "exited", key: KEY, isClean: true, isComplete });
const order: StepOrder = {
  key: KEY,
  folder: "/nonexistent",
  command: [],
  env: {},
  cwd: "/",
  ids: undefined,
  maxStepOutput: 1,
  endsUser: true,
};

/** The sign that the launcher was asked. */
const asked: FromLauncher = { kind: "failed", key: KEY, message: "asked" };

type Answers = Readonly<Partial<Record<"start" | "release" | "kill", readonly FromLauncher[]>>>;

/** Runs a step with a launcher that answers each message with these. `kinds`: of the messages that it has received. */
async function withLauncher(
  answers: Answers,
  check: (runner: Runner, launcher: ReturnType<typeof createLauncher>, kinds: () => readonly string[]) => Promise<void>,
  timers: Timers = systemTimers,
): Promise<void> {
  const place = createPlace();
  const file = join(place.path, "kinds");
  const program = `const answers = ${JSON.stringify(answers)};
process.on("message", ({ kind }) => {
  require("node:fs").appendFileSync(${JSON.stringify(file)}, kind + "\\n");
  for (const message of answers[kind] ?? []) process.send(message);
});`;
  const launcher = createLauncher({
    log: silentLog(),
    timers,
    command: () => ({
      version: "1",
      allocate: () => ({ argv: [process.execPath, "-e", program], release: () => {} }),
    }),
    folder: place.path,
    mkfifo: "mkfifo",
  });
  try {
    await check(launcher.run(order), launcher, () => readFileSync(file, "utf8").trim().split("\n"));
  } finally {
    launcher.detach();
    place.remove();
  }
}

const untilExited = (runner: Runner): Promise<void> =>
  new Promise((resolve) => {
    runner.onChange(() => runner.isClean() && resolve());
  });

test("a step that has left no process and no open output is released without another message", () =>
  withLauncher(
    { start: [started, exited(true)], kill: [{ kind: "killed", id: 1, error: undefined }] },
    async (runner, launcher, kinds) => {
      await untilExited(runner);
      await runner.release();
      await launcher.killUser(1);
      assert.deepEqual(kinds().slice(-2), ["start", "kill"]);
    },
  ));

test("a step whose output is still open is released by the launcher", () =>
  withLauncher(
    { start: [started, exited(false)], release: [asked, { kind: "released", key: KEY }] },
    async (runner) => {
      await untilExited(runner);
      await runner.release();
      assert.equal(runner.failure(), "asked");
    },
  ));

test("a release that meets the end of the step is over with it", () =>
  withLauncher({ start: [started], release: [exited(true), { kind: "released", key: KEY }] }, async (runner) => {
    await runner.started;
    await runner.release();
    assert.equal(runner.isClean(), true);
  }));

/** All time is over at once. */
const noTime: Timers = {
  ...systemTimers,
  after: (_ms, run) => {
    queueMicrotask(run);
    return () => {};
  },
};

test("a step is released without its launcher when that does not answer in time", () =>
  withLauncher(
    { start: [started], release: [asked] },
    async (runner) => {
      await runner.started;
      const received = new Promise<void>((resolve) => {
        runner.onChange(() => runner.failure() === "asked" && resolve());
      });
      await runner.release();
      assert.equal(runner.failure(), undefined);
      await received;
    },
    noTime,
  ));

test("a launcher that does not answer a kill in time gets no more steps: the next one kills and starts them", async (t) => {
  const place = createPlace();
  t.after(place.remove);
  const answer = `if (kind === "kill") process.send({ kind: "killed", id: message.id });
if (kind === "start") process.send({ kind: "started", key: message.order.key, pid: 2, startTime: "2" });`;
  let processes = 0;
  let releases = 0;
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const deadlines: (() => void)[] = [];
  const launcher = createLauncher({
    log: silentLog(),
    timers: {
      ...systemTimers,
      after: (_ms, run) => {
        deadlines.push(run);
        // The time for the first launcher is over at once, and never for the second.
        if (deadlines.length === 1) queueMicrotask(run);
        return () => {};
      },
    },
    command: () => ({
      version: "1",
      allocate: () => {
        processes += 1;
        const program = `process.on("message", (message) => { const { kind } = message; ${processes === 1 ? "" : answer} });`;
        return {
          argv: [process.execPath, "-e", program],
          release: () => {
            releases += 1;
            resolve();
          },
        };
      },
    }),
    folder: place.path,
    mkfifo: "mkfifo",
  });
  t.after(launcher.detach);
  assert.equal(await launcher.killUser(1), true);
  assert.equal(processes, 2);
  // Without a step the first one is not needed any more.
  await ended;
  assert.equal(releases, 1);
  const runner = launcher.run(order);
  await runner.started;
  assert.equal(runner.leader()?.pid, 2);
  assert.equal(processes, 2);
});
