import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createPlace, silentLog } from "../testing/kit.ts";
import { createLauncher, type Runner } from "./client.ts";
import type { FromLauncher, StepOrder } from "./messages.ts";

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
  maxOutput: 1,
  endsUser: true,
};

/** The sign that the launcher was asked. */
const asked: FromLauncher = { kind: "failed", key: KEY, message: "asked" };

type Answers = Readonly<Partial<Record<"start" | "release" | "kill", readonly FromLauncher[]>>>;

/** Runs a step with a launcher that answers each message with these. `kinds`: of the messages that it has received. */
async function withLauncher(
  answers: Answers,
  check: (runner: Runner, launcher: ReturnType<typeof createLauncher>, kinds: () => readonly string[]) => Promise<void>,
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
    command: () => ({ argv: [process.execPath, "-e", program], version: "1" }),
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

const hasExited = (runner: Runner): Promise<void> =>
  new Promise((resolve) => {
    runner.onChange(() => runner.isClean() && resolve());
  });

test("a step that has left no process and no open output is released without another message", () =>
  withLauncher(
    { start: [started, exited(true)], kill: [{ kind: "killed", id: 1, error: undefined }] },
    async (runner, launcher, kinds) => {
      await hasExited(runner);
      await runner.release();
      await launcher.killUser(1);
      assert.deepEqual(kinds().slice(-2), ["start", "kill"]);
    },
  ));

test("a step whose output is still open is released by the launcher", () =>
  withLauncher(
    { start: [started, exited(false)], release: [asked, { kind: "released", key: KEY }] },
    async (runner) => {
      await hasExited(runner);
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
