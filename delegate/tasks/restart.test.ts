import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { formatHead, readJournal } from "../task-folder/journal.ts";
import { bootId } from "../processes/processes.ts";
import { paths } from "../task-folder/paths.ts";
import {
  assertEnded,
  type DelegateProcess,
  fileHolds,
  folderOf,
  createSignal,
  createPlace,
  createSignalFolder,
  optionsFor,
  printedProcess,
  runtimeFolderOf,
  spawnDelegate,
  TOKEN,
} from "../testing/kit.ts";
import { newTaskId, type PretendServer, startPretendServer } from "../testing/pretend-server.ts";

const { path: signs, remove } = createSignalFolder();
after(remove);

type Scene = {
  readonly server: PretendServer;
  readonly place: ReturnType<typeof createPlace>;
  readonly begin: () => DelegateProcess;
};

/** A server, a work folder, and delegates started one after the other on it. */
async function scene(play: (scene: Scene) => Promise<void>): Promise<void> {
  const place = createPlace();
  const server = await startPretendServer();
  const begun: DelegateProcess[] = [];
  const begin = (): DelegateProcess => {
    const started = spawnDelegate([...optionsFor(server, place), "--token", TOKEN]);
    begun.push(started);
    return started;
  };
  try {
    await play({ server, place, begin });
  } finally {
    for (const { kill } of begun) await kill();
    await server.close();
    // A delegate that was killed leaves it.
    rmSync(runtimeFolderOf(place), { recursive: true });
    place.remove();
  }
}

test("kill -9 in the middle: the rest of the output and the result arrive, the script has run once", () =>
  scene(async ({ server, begin }) => {
    const counter = join(signs, "count");
    const go = join(signs, "go");
    const first = begin();
    await server.welcomed();
    const task = server.run({
      script: `echo run >>"${counter}"; seq 1 1000; until [ -e "${go}" ]; do sleep 0.02; done; seq 1001 2000; X=done; exit_code=5; (exit 5)`,
      outputs: [{ name: "x", variable: "X" }],
    });
    await task.printed("\n1000\n");
    await first.kill();
    const welcome = server.nextWelcome();
    begin();
    await welcome;
    assert.deepEqual(server.hellos.at(-1)?.holds, [{ task: task.task, epoch: 1 }]);
    assert.equal(server.hellos[0]?.identity, server.hellos[1]?.identity);
    writeFileSync(go, "");
    const { outcome, startedAt, endedAt } = await task.finished;
    assert.deepEqual(outcome, { kind: "exited", exitCode: 5, outputs: [{ name: "x", value: "done" }] });
    assert.equal(task.output().toString(), Array.from({ length: 2000 }, (_, n) => `${n + 1}\n`).join(""));
    assert.equal(readFileSync(counter, "utf8"), "run\n");
    assert.ok(startedAt <= endedAt);
  }));

test("a step that ends while no delegate is there is reported by the next one", () =>
  scene(async ({ server, begin }) => {
    const over = join(signs, "over");
    const first = begin();
    await server.welcomed();
    const task = server.run({
      script: `echo pid=$$; sleep 0.1; echo late; X='a\nb'; echo over >"${over}"`,
      outputs: [{ name: "x", variable: "X" }],
    });
    await task.printed("pid=");
    await first.kill();
    await fileHolds(over, "over");
    begin();
    assert.deepEqual((await task.finished).outcome, {
      kind: "exited",
      exitCode: 0,
      outputs: [{ name: "x", value: "a\nb" }],
    });
    assert.match(task.output().toString(), /^pid=\d+\nlate\n$/);
  }));

test("a background process that holds the output does not hang a step that ended without a delegate", () =>
  scene(async ({ server, place, begin }) => {
    const first = begin();
    await server.welcomed();
    const task = server.run({
      script: "(setsid sleep inf & echo left=$!); echo begun; until [ -e go ]; do sleep 0.01; done",
    });
    await task.printed("begun");
    const left = printedProcess(place, task, "left");
    await first.kill();
    createSignal(place, task, "go");
    await fileHolds(paths(folderOf(place, task)).journal, "\nexit 0 ");
    begin();
    assert.equal((await task.finished).outcome.kind, "exited");
    assertEnded(left, "what the step left");
  }));

test("a cancellation that kill -9 interrupted is continued", () =>
  scene(async ({ server, place, begin }) => {
    const first = begin();
    await server.welcomed();
    // It takes two TERMs to end this script, one from each delegate.
    const script =
      "trap 'n=$((n + 1)); echo term $n; [ $n = 2 ] && exit' TERM; echo pid=$$; while :; do sleep 0.01; done";
    const task = server.run({ script });
    await task.printed("pid=");
    const pid = printedProcess(place, task, "pid");
    server.send({ kind: "cancel", task: task.task, epoch: 1 });
    await task.printed("term 1");
    await first.kill();
    begin();
    assert.deepEqual((await task.finished).outcome, { kind: "cancelled", survivors: 0 });
    assertEnded(pid, "the script");
  }));

test("a launcher that ended without a record loses the task, and its remaining processes are terminated", () =>
  scene(async ({ server, place, begin }) => {
    const first = begin();
    await server.welcomed();
    const task = server.run({ script: "(setsid sleep inf & echo left=$!); echo self=$$; sleep inf" });
    await task.printed("self=");
    const begun = ["left", "self"].map((name) => printedProcess(place, task, name));
    const { launcher } = readJournal(folderOf(place, task));
    await first.kill();
    process.kill(launcher?.pid ?? assert.fail("no launcher"), "SIGKILL");
    begin();
    const { outcome } = await task.finished;
    assert.deepEqual(outcome, { kind: "lost", message: "The script's launcher vanished without leaving a status." });
    for (const process of begun) assertEnded(process, "a process of the step");
  }));

test("tasks from before a restart of the machine are lost and say so, one that was never started is given back", () =>
  scene(async ({ server, place, begin }) => {
    const plant = (boot: string, words: string, name = "journal"): string => {
      const task = newTaskId();
      const folder = join(place.path, "tasks", `${task}.1`);
      mkdirSync(folder, { recursive: true });
      const meta = {
        task,
        epoch: 1,
        cookie: "c".repeat(32),
        receivedAt: 5,
        bootId: boot,
        owner: null,
        ending: "search" as const,
        outputs: [],
      };
      writeFileSync(join(folder, name), `${formatHead(meta)}${words}`);
      return task;
    };
    const planted = [
      plant("another-boot", "launcher 1 2\npid 1 2\n"),
      plant(bootId(), "", "prepared"),
      plant("another-boot", "launcher 1 2\npid 1 2\nexit 3\ncopied 0\n"),
    ];
    // Planted tasks are known to the server only when it has sent them.
    const tasks = planted.map((task) => server.run({ script: "exit 99" }, { task, epoch: 1 }));
    const returned = server.next((message) => message.kind === "returned");
    begin();
    assert.deepEqual(await returned, {
      kind: "returned",
      task: planted[1],
      epoch: 1,
      reason: "The delegate was stopped before it could start the script.",
    });
    const ends = await Promise.all([tasks[0], tasks[2]].map((task) => task?.finished ?? assert.fail()));
    assert.deepEqual(
      ends.map(({ outcome }) => (outcome.kind === "lost" ? outcome.message : outcome)),
      ["The machine was restarted while the script was running.", { kind: "exited", exitCode: 3, outputs: [] }],
    );
    // The repeated run was not sent to a live delegate; sending it now starts nothing either.
    const again = server.next((message) => message.kind === "finished" && message.task === planted[0]);
    server.send({
      kind: "run",
      task: planted[0] ?? "",
      epoch: 1,
      work: { kind: "shell", version: 1, script: "exit 99", env: [], outputs: [] },
    });
    const answer = await again;
    assert.ok(answer.kind === "finished" && answer.outcome.kind === "lost");
  }));
